// x[index tensors], x[index tensors] = v, masks.
#include <cstring>

#include "flambeau/core/parallel.h"
#include "flambeau/core/python_hook.h"
#include "flambeau/core/views.h"
#include "index/element_ops.h"
#include "index/positions.h"
#include "pointwise/convert.h"

namespace flambeau {

namespace {

template <class F> void by_size(int64_t size, F&& f) {
  struct Bytes16 {
    uint64_t a, b;
  };
  switch (size) {
    case 1: return f(uint8_t{});
    case 2: return f(uint16_t{});
    case 4: return f(uint32_t{});
    case 8: return f(uint64_t{});
    default: return f(Bytes16{});
  }
}

// Calls f(row, offset of the row in self) for every (before, picked) pair of rows [b, e).
template <class F> void for_rows(const IndexPlan& p, int64_t b, int64_t e, F&& f) {
  const int64_t n = static_cast<int64_t>(p.picked.size());
  for (int64_t r = b; r < e; ++r) f(r, p.before[static_cast<size_t>(r / n)] + p.picked[static_cast<size_t>(r % n)]);
}

int64_t row_count(const IndexPlan& p) { return static_cast<int64_t>(p.before.size() * p.picked.size()); }
int64_t row_elements(const IndexPlan& p, int64_t numel) { return numel / std::max<int64_t>(row_count(p), 1); }
int64_t row_grain(int64_t row_bytes) { return std::max<int64_t>(1, (1 << 16) / std::max<int64_t>(row_bytes, 8)); }

}  // namespace

Tensor index_op(const Tensor& self, TensorList indices) {
  const IndexPlan p = plan_index(self, indices);
  Tensor out = empty(p.result_sizes, self.options());
  if (self.is_meta() && !p.result_strides.empty())
    return empty_strided(p.result_sizes, p.result_strides, self.options());
  if (out.numel() == 0 || self.is_meta()) return out;
  const char* base = static_cast<const char*>(self.data());
  char* to = static_cast<char*>(out.data());
  const int64_t width = row_elements(p, out.numel()), bytes = width * self.itemsize();
  ReleaseInterpreter long_work(out.numel() > 1 << 16);
  by_size(self.itemsize(), [&](auto element) {
    using E = decltype(element);
    parallel_for(0, row_count(p), row_grain(bytes), [&](int64_t b, int64_t e) {
      if (width == 1) {
        for_rows(p, b, e, [&](int64_t r, int64_t at) {
          reinterpret_cast<E*>(to)[r] = *reinterpret_cast<const E*>(base + at + p.after[0]);
        });
      } else if (p.after_is_block) {
        for_rows(p, b, e,
                 [&](int64_t r, int64_t at) { std::memcpy(to + r * bytes, base + at, static_cast<size_t>(bytes)); });
      } else {
        for_rows(p, b, e, [&](int64_t r, int64_t at) {
          E* row = reinterpret_cast<E*>(to) + r * width;
          for (int64_t i = 0; i < width; ++i)
            row[i] = *reinterpret_cast<const E*>(base + at + p.after[static_cast<size_t>(i)]);
        });
      }
    });
  });
  if (p.result_strides.empty()) return out;
  Tensor ordered = empty_strided(p.result_sizes, p.result_strides, self.options());
  copy_values(ordered, out);
  return ordered;
}

namespace {

// The values broadcast to the shape of the result, row-major; leading dims of size 1 beyond it are dropped.
Tensor values_for(const Tensor& values, IntList shape) {
  FL_CHECK(values.dim() <= static_cast<int64_t>(shape.size()) || values.numel() == 1 || values.sizes()[0] == 1,
           "shape mismatch: value tensor of shape ", values.sizes(),
           " cannot be broadcast to indexing result of shape ", shape);
  Tensor v = values;
  while (v.dim() > static_cast<int64_t>(shape.size()) && v.sizes()[0] == 1) v = select(v, 0, 0);
  bool fits = v.dim() <= static_cast<int64_t>(shape.size());
  for (int64_t i = 0; fits && i < v.dim(); ++i) {
    const int64_t have = v.sizes()[v.dim() - 1 - i];
    fits = have == 1 || have == shape[shape.size() - 1 - static_cast<size_t>(i)];
  }
  FL_CHECK(fits, "shape mismatch: value tensor of shape ", values.sizes(),
           " cannot be broadcast to indexing result of shape ", shape);
  return contiguous(expand(v, shape));
}

void put_rows(const IndexPlan& p, char* base, const char* from, int64_t width, int64_t item) {
  const int64_t bytes = width * item;
  by_size(item, [&](auto element) {
    using E = decltype(element);
    for_rows(p, 0, row_count(p), [&](int64_t r, int64_t at) {
      if (p.after_is_block) {
        if (width == 1)
          *reinterpret_cast<E*>(base + at) = reinterpret_cast<const E*>(from)[r];
        else
          std::memcpy(base + at, from + r * bytes, static_cast<size_t>(bytes));
        return;
      }
      const E* row = reinterpret_cast<const E*>(from) + r * width;
      for (int64_t i = 0; i < width; ++i) *reinterpret_cast<E*>(base + at + p.after[static_cast<size_t>(i)]) = row[i];
    });
  });
}

// In order of the indices whatever the number of threads: columns are shared out, not rows, which may repeat. Columns
// of an expanded tensor (`shared`) may repeat too.
void add_rows(const IndexPlan& p, char* base, const char* from, int64_t width, DType dtype, bool shared) {
  const CombineLoop loop = combine_loop(Combine::Add, dtype);
  FL_CHECK_NOT_IMPLEMENTED(loop, "\"index_put_\" with accumulate is not implemented for '", dtype_name(dtype), "'");
  const int64_t item = item_size(dtype), rows = row_count(p);
  const int64_t columns =
      shared || rows * width < (1 << 15) ? width : std::max<int64_t>(64, (1 << 15) / std::max<int64_t>(rows, 1));
  parallel_for(0, width, columns, [&](int64_t b, int64_t e) {
    for_rows(p, 0, rows, [&](int64_t r, int64_t at) {
      const char* row = from + (r * width + b) * item;
      if (p.after_is_block) return loop(base + at + b * item, item, row, item, e - b);
      for (int64_t i = b; i < e; ++i)
        loop(base + at + p.after[static_cast<size_t>(i)], item, row + (i - b) * item, item, 1);
    });
  });
}

}  // namespace

const Tensor& index_put_op_(const Tensor& self, TensorList indices, const Tensor& values, bool accumulate) {
  FL_CHECK(self.dtype() == values.dtype(), "Index put requires the source and destination dtypes match, got ",
           dtype_name(self.dtype()), " for the destination and ", dtype_name(values.dtype()), " for the source.");
  const IndexPlan p = plan_index(self, indices);
  const Tensor v = values_for(values, p.result_sizes);
  if (v.numel() == 0) return self;
  char* base = static_cast<char*>(self.data());
  const int64_t width = row_elements(p, v.numel());
  ReleaseInterpreter long_work(v.numel() > 1 << 16);
  if (accumulate)
    add_rows(p, base, static_cast<const char*>(v.data()), width, self.dtype(), has_internal_overlap(self));
  else
    put_rows(p, base, static_cast<const char*>(v.data()), width, self.itemsize());
  return self;
}

}  // namespace flambeau
