// Look-ups in a table of vectors, their gradient, and rows kept within a norm.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "nn/compute.h"

namespace flambeau {

using namespace nn;

namespace {

void check_index_dtype(const char* op, const Tensor& indices) {
  FL_CHECK(indices.dtype() == DType::Int64 || indices.dtype() == DType::Int32, "[", op,
           "] Expected tensor for argument indices to have one of the following scalar types: Long, Int; but got ",
           dtype_name(indices.dtype()));
}

void check_range(const int64_t* at, int64_t count, int64_t rows) {
  for (int64_t i = 0; i < count; ++i)
    FL_CHECK_INDEX(at[i] >= 0 && at[i] < rows, "index out of range in self: index ", at[i], " at position ", i,
                   ", the table has ", rows, " rows");
}

}  // namespace

TensorSpec embedding_shape(const Tensor& weight, const Tensor& indices, int64_t, bool, bool) {
  FL_CHECK_SHAPE(weight.dim() == 2, "'weight' must be 2-D, got sizes ", weight.sizes());
  check_index_dtype("embedding", indices);
  std::vector<int64_t> sizes = indices.sizes().vec();
  sizes.push_back(weight.sizes()[1]);
  checked_numel(sizes, "embedding");
  return {std::move(sizes), weight.dtype(), {}};
}

void embedding_cpu(const Tensor& weight, const Tensor& indices, int64_t, bool, bool, const Tensor& out) {
  const Tensor at = prepared(indices, DType::Int64), table = contiguous(weight);
  check_range(at.data_as<int64_t>(), at.numel(), weight.sizes()[0]);
  if (out.numel() == 0) return;
  const Output y(out, out.dtype());
  const int64_t bytes = weight.sizes()[1] * weight.itemsize();
  char* to = static_cast<char*>(y.tensor().data());
  const char* from = static_cast<const char*>(table.data());
  for_rows(at.numel(), bytes / 4, [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i)
      std::memcpy(to + i * bytes, from + at.data_as<int64_t>()[i] * bytes, static_cast<size_t>(bytes));
  });
  y.finish();
}

TensorSpec embedding_backward_shape(const Tensor& grad_output, const Tensor& indices, int64_t num_weights, int64_t,
                                    bool) {
  const char* op = "embedding_dense_backward";
  compute_dtype(op, grad_output.dtype());
  std::vector<int64_t> sizes{num_weights, grad_output.sizes().back()};
  checked_numel(sizes, op);
  return {std::move(sizes), grad_output.dtype(), {}};
}

void embedding_backward_cpu(const Tensor& grad_output, const Tensor& indices, int64_t num_weights, int64_t padding_idx,
                            bool scale_grad_by_freq, const Tensor& out) {
  const char* op = "embedding_dense_backward";
  if (out.numel() == 0) return;
  const DType d = compute_dtype(op, grad_output.dtype());
  const Tensor at = prepared(indices, DType::Int64), g = prepared(grad_output, d);
  const int64_t *index = at.data_as<int64_t>(), count = at.numel(), width = out.sizes()[1];
  for (int64_t i = 0; i < count; ++i)
    FL_CHECK_INDEX((index[i] >= 0 && index[i] < num_weights) || index[i] == padding_idx, "[", op, "] index ", index[i],
                   " is out of range for ", num_weights, " rows");
  std::vector<int64_t> frequency;
  if (scale_grad_by_freq) {
    frequency.assign(static_cast<size_t>(num_weights), 0);
    for (int64_t i = 0; i < count; ++i)
      if (index[i] != padding_idx) ++frequency[static_cast<size_t>(index[i])];
  }
  const Output gw(out, d);
  by_compute(d, [&](auto zero) {
    using T = decltype(zero);
    T* to = gw.data<T>();
    const T* from = g.data_as<T>();
    // A task owns a range of rows and reads all indices, so that additions keep their order.
    const int64_t ranges = count * width > (1 << 16) ? 16 : 1, step = (num_weights + ranges - 1) / ranges;
    ReleaseInterpreter long_work(count * width > (1 << 16));
    parallel_for(0, ranges, 1, [&](int64_t b, int64_t e) {
      const int64_t first = std::min(b * step, num_weights), last = std::min(e * step, num_weights);
      std::fill(to + first * width, to + last * width, T(0));
      for (int64_t i = 0; i < count; ++i) {
        if (index[i] < first || index[i] >= last || index[i] == padding_idx) continue;
        const T scale = scale_grad_by_freq ? T(1) / static_cast<T>(frequency[static_cast<size_t>(index[i])]) : T(1);
        T* row = to + index[i] * width;
        for (int64_t j = 0; j < width; ++j) row[j] += from[i * width + j] * scale;
      }
    });
  });
  gw.finish();
}

const Tensor& embedding_renorm(const Tensor& self, const Tensor& indices, double max_norm, double norm_type) {
  FL_CHECK_SHAPE(self.dim() == 2, "[embedding_renorm_] self must be 2-D, got sizes ", self.sizes());
  check_index_dtype("embedding_renorm_", indices);
  const DType d = compute_dtype("embedding_renorm_", self.dtype());
  const Tensor at = prepared(indices, DType::Int64);
  check_range(at.data_as<int64_t>(), at.numel(), self.sizes()[0]);
  std::vector<int64_t> rows(at.data_as<int64_t>(), at.data_as<int64_t>() + at.numel());
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  const Output table(self, d);
  if (!table.tensor().is_same(self)) copy_values(table.tensor(), self);
  const int64_t width = self.sizes()[1];
  by_compute(d, [&](auto zero) {
    using T = decltype(zero);
    for (const int64_t r : rows) {
      T* row = table.data<T>() + r * width;
      double norm = 0;
      for (int64_t j = 0; j < width; ++j) {
        const double v = std::abs(static_cast<double>(row[j]));
        norm = std::isinf(norm_type) ? std::max(norm, v)
                                     : norm + (norm_type == 2   ? v * v
                                               : norm_type == 1 ? v
                                                                : std::pow(v, norm_type));
      }
      if (!std::isinf(norm_type))
        norm = norm_type == 2 ? std::sqrt(norm) : norm_type == 1 ? norm : std::pow(norm, 1 / norm_type);
      if (norm <= max_norm) continue;
      const T scale = static_cast<T>(max_norm / (norm + 1e-7));
      for (int64_t j = 0; j < width; ++j) row[j] *= scale;
    }
  });
  table.finish();
  return self;
}

}  // namespace flambeau
