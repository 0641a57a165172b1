#include "index/positions.h"

#include <cstring>

#include "iterator/result_strides.h"
#include "pointwise/convert.h"

namespace flambeau {

Tensor long_index(const Tensor& index, const char* op) {
  FL_CHECK(index.dtype() == DType::Int64 || index.dtype() == DType::Int32, "[", op,
           "] expected an index of dtype int32 or int64, got ", dtype_name(index.dtype()));
  return contiguous(index.dtype() == DType::Int64 ? index : converted(index, DType::Int64));
}

std::vector<int64_t> read_indices(const Tensor& index, const char* op, bool int32_allowed) {
  FL_CHECK(int32_allowed || index.dtype() == DType::Int64, op, "(): Expected dtype int64 for index, got ",
           dtype_name(index.dtype()));
  const Tensor t = long_index(index, op);
  std::vector<int64_t> out(static_cast<size_t>(t.numel()));
  if (!out.empty()) std::memcpy(out.data(), t.data(), out.size() * sizeof(int64_t));
  return out;
}

void wrap_indices(std::vector<int64_t>& indices, int64_t size, const char* op) {
  for (int64_t& i : indices) {
    FL_CHECK_INDEX(i >= -size && i < size, op, ": index ", i, " is out of bounds for dimension with size ", size);
    if (i < 0) i += size;
  }
}

void check_indices(const std::vector<int64_t>& indices, int64_t size, int64_t dim, const char* op) {
  for (const int64_t i : indices)
    FL_CHECK(i >= 0 && i < size, op, ": index ", i, " is out of bounds for dimension ", dim, " with size ", size);
}

namespace {

bool is_mask(const Tensor& t) { return t.dtype() == DType::Bool || t.dtype() == DType::UInt8; }

struct Expanded {
  std::vector<Tensor> indices;  // int64, one a dim, undefined where the dim is taken whole
  bool any = false;
};

void append_mask(Expanded& e, const Tensor& self, const Tensor& mask) {
  const int64_t at = static_cast<int64_t>(e.indices.size());
  if (mask.dim() == 0) {  // stands in a dim of size 1 that was made for it
    FL_CHECK_INDEX(at < self.dim() && self.sizes()[at] == 1, "a 0-d mask needs a dimension of size 1 at ", at,
                   ", self has sizes ", self.sizes());
    Tensor rows = nonzero_op(mask);
    const int64_t n = rows.sizes()[0];
    Tensor zeros = empty({n}, {DType::Int64, {}});
    if (n) std::memset(zeros.data(), 0, static_cast<size_t>(n) * 8);
    e.indices.push_back(zeros);
    return;
  }
  FL_CHECK_INDEX(at + mask.dim() <= self.dim(), "too many indices for tensor of dimension ", self.dim());
  for (int64_t d = 0; d < mask.dim(); ++d)
    FL_CHECK_INDEX(mask.sizes()[d] == self.sizes()[at + d], "The shape of the mask ", mask.sizes(), " at index ", d,
                   " does not match the shape of the indexed tensor ", self.sizes(), " at index ", at + d);
  FL_CHECK_NOT_IMPLEMENTED(!mask.is_meta(), "[index] a mask on the meta device has no elements to count; index with ",
                           "positions, or with a mask that holds data");
  const Tensor rows = nonzero_op(mask);
  for (int64_t d = 0; d < mask.dim(); ++d) {
    Tensor column = alias_without_history(rows);
    const int64_t sizes[1] = {rows.sizes()[0]}, strides[1] = {rows.strides()[0]};
    set_geometry(*column.impl(), {sizes, 1}, {strides, 1}, d * rows.strides()[1]);
    e.indices.push_back(column);
  }
}

Expanded expand_indices(const Tensor& self, TensorList indices) {
  Expanded e;
  for (const Tensor& t : indices) {
    if (!t.defined()) {
      e.indices.emplace_back();
      continue;
    }
    FL_CHECK_INDEX(is_integral(t.dtype(), true) && !(is_unsigned(t.dtype()) && t.dtype() != DType::UInt8) &&
                       t.dtype() != DType::Int16 && t.dtype() != DType::Int8,
                   "tensors used as indices must be long, int, byte or bool tensors, got ", dtype_name(t.dtype()));
    e.any = true;
    if (is_mask(t))
      append_mask(e, self, t);
    else
      e.indices.push_back(t);
  }
  FL_CHECK_INDEX(static_cast<int64_t>(e.indices.size()) <= self.dim(), "too many indices for tensor of dimension ",
                 self.dim(), " (got ", e.indices.size(), ")");
  return e;
}

std::vector<int64_t> broadcast_index_shapes(const std::vector<Tensor>& indices) {
  std::vector<int64_t> shape;
  std::string all;
  for (const Tensor& t : indices) {
    if (!t.defined()) continue;
    all += (all.empty() ? "" : ", ") + shape_string(t.sizes());
    std::vector<int64_t> next(std::max(shape.size(), t.sizes().size()), 1);
    for (size_t i = 0; i < next.size(); ++i) {
      const int64_t a = i < shape.size() ? shape[shape.size() - 1 - i] : 1;
      const int64_t b = i < t.sizes().size() ? t.sizes()[t.sizes().size() - 1 - i] : 1;
      if (a != b && a != 1 && b != 1) {
        for (const Tensor& u : indices)
          if (u.defined() && !u.is_same(t)) all += ", " + shape_string(u.sizes());
        FL_CHECK_INDEX(false, "shape mismatch: indexing tensors could not be broadcast together with shapes ", all);
      }
      next[next.size() - 1 - i] = a == 1 ? b : a;
    }
    shape = std::move(next);
  }
  return shape;
}

// Adds the offsets of one index tensor, broadcast to `shape`, to `picked`.
void add_offsets(std::vector<int64_t>& picked, const Tensor& index, IntList shape, int64_t dim, int64_t size,
                 int64_t stride_bytes) {
  Tensor wide = alias_without_history(index.dtype() == DType::Int64 ? index : converted(index, DType::Int64));
  std::vector<int64_t> strides(shape.size());
  for (size_t i = 0; i < shape.size(); ++i) {
    const int64_t own = static_cast<int64_t>(i) - (static_cast<int64_t>(shape.size()) - wide.dim());
    strides[i] = own < 0 || wide.sizes()[own] == 1 ? 0 : wide.strides()[own];
  }
  set_geometry(*wide.impl(), shape, strides, wide.storage_offset());
  const Tensor flat = contiguous(wide);
  const int64_t* values = flat.data_as<int64_t>();
  for (size_t i = 0; i < picked.size(); ++i) {
    int64_t v = values[i];
    FL_CHECK_INDEX(v >= -size && v < size, "index ", v, " is out of bounds for dimension ", dim, " with size ", size);
    picked[i] += (v < 0 ? v + size : v) * stride_bytes;
  }
}

// Byte offsets of all elements of some dims, row-major.
std::vector<int64_t> offsets_of(const Tensor& self, const std::vector<int64_t>& dims) {
  std::vector<int64_t> out{0};
  for (const int64_t d : dims) {
    const int64_t n = self.sizes()[d], step = self.strides()[d] * self.itemsize();
    std::vector<int64_t> next;
    next.reserve(out.size() * static_cast<size_t>(n));
    for (const int64_t o : out)
      for (int64_t i = 0; i < n; ++i) next.push_back(o + i * step);
    out = std::move(next);
  }
  return out;
}

// The order in memory that torch gives the result: of the strides of self, then of the index tensors.
std::vector<int64_t> result_strides(const Tensor& self, const std::vector<Tensor>& indices, IntList shape,
                                    const std::vector<int64_t>& before, const std::vector<int64_t>& after,
                                    IntList sizes) {
  std::vector<std::vector<int64_t>> strides(1, std::vector<int64_t>(sizes.size(), 0));
  for (size_t i = 0; i < before.size(); ++i) strides[0][i] = self.strides()[before[i]];
  for (size_t i = 0; i < after.size(); ++i) strides[0][before.size() + shape.size() + i] = self.strides()[after[i]];
  for (const Tensor& t : indices) {
    if (!t.defined()) continue;
    std::vector<int64_t>& s = strides.emplace_back(sizes.size(), 0);
    const size_t skip = before.size() + shape.size() - t.sizes().size();
    for (size_t i = 0; i < t.sizes().size(); ++i) s[skip + i] = t.sizes()[i] == 1 ? 0 : t.strides()[i];
  }
  return ordered_strides(sizes, strides);
}

bool is_block(const Tensor& self, const std::vector<int64_t>& dims) {
  int64_t expected = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    if (self.sizes()[dims[i]] == 1) continue;
    if (self.strides()[dims[i]] != expected) return false;
    expected *= self.sizes()[dims[i]];
  }
  return true;
}

}  // namespace

IndexPlan plan_index(const Tensor& self, TensorList indices) {
  const Expanded e = expand_indices(self, indices);
  FL_CHECK_INDEX(e.any, "at least one index must be a tensor");
  const std::vector<int64_t> shape = broadcast_index_shapes(e.indices);
  int64_t first = -1, last = -1, count = 0;
  for (size_t d = 0; d < e.indices.size(); ++d)
    if (e.indices[d].defined()) {
      if (first < 0) first = static_cast<int64_t>(d);
      last = static_cast<int64_t>(d);
      ++count;
    }
  const bool adjacent = last - first + 1 == count;
  std::vector<int64_t> before, after;
  IndexPlan plan;
  for (int64_t d = 0; d < self.dim(); ++d) {
    const bool indexed = d < static_cast<int64_t>(e.indices.size()) && e.indices[static_cast<size_t>(d)].defined();
    if (!indexed) (adjacent && d < first ? before : after).push_back(d);
  }
  for (const int64_t d : before) plan.result_sizes.push_back(self.sizes()[d]);
  plan.result_sizes.insert(plan.result_sizes.end(), shape.begin(), shape.end());
  for (const int64_t d : after) plan.result_sizes.push_back(self.sizes()[d]);
  plan.result_strides = result_strides(self, e.indices, shape, before, after, plan.result_sizes);
  const int64_t total = checked_numel(plan.result_sizes, "index");
  const int64_t n = checked_numel(shape, "index");
  if (self.is_meta()) return plan;
  plan.picked.assign(static_cast<size_t>(n), 0);
  if (total == 0 && n != 0) return plan;  // nothing is read: torch does not look at the indices either
  for (size_t d = 0; d < e.indices.size(); ++d)
    if (e.indices[d].defined())
      add_offsets(plan.picked, e.indices[d], shape, static_cast<int64_t>(d), self.sizes()[static_cast<int64_t>(d)],
                  self.strides()[static_cast<int64_t>(d)] * self.itemsize());
  if (total == 0) return plan;
  plan.after_is_block = is_block(self, after);
  plan.before = offsets_of(self, before);
  plan.after = plan.after_is_block ? std::vector<int64_t>{0} : offsets_of(self, after);
  return plan;
}

}  // namespace flambeau
