// Binary search in sorted sequences, counting.
#include <cmath>
#include <cstring>

#include "creation/formats.h"
#include "flambeau/core/kernel.h"
#include "flambeau/core/parallel.h"
#include "index/positions.h"
#include "pointwise/convert.h"

namespace flambeau {

namespace {

bool searchable(DType t) {
  return !is_bool(t) && !is_complex(t) && !is_float8(t) && (is_integral(t) || is_floating(t));
}

// Integers are compared as integers, everything else as float64: exact for every floating dtype.
Tensor as_keys(const Tensor& t, bool floating) {
  return contiguous(converted(t, floating ? DType::Float64 : DType::Int64));
}

template <class T> int64_t lower_bound(const T* keys, const int64_t* order, int64_t n, T value, bool right) {
  int64_t low = 0, high = n;
  while (low < high) {
    const int64_t mid = low + (high - low) / 2;
    const T key = keys[order ? order[mid] : mid];
    if (right ? !(key > value) : !(key >= value))
      low = mid + 1;  // NaN is above everything
    else
      high = mid;
  }
  return low;
}

template <class T>
void search_rows(const Tensor& keys, const Tensor& values, const int64_t* order, int64_t rows, int64_t* out,
                 bool right) {
  const int64_t n = keys.dim() ? keys.sizes().back() : 1, count = values.numel(), per_row = rows ? count / rows : 0;
  const T *k = keys.data_as<T>(), *v = values.data_as<T>();
  parallel_for(0, count, 1 << 12, [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i) {
      const int64_t row = rows == 1 ? 0 : i / per_row;
      out[i] = lower_bound(k + row * n, order ? order + row * n : nullptr, n, v[i], right);
    }
  });
}

Tensor search(const Tensor& sorted, const Tensor& values, bool int32, bool right, const Tensor& sorter) {
  Tensor out = empty(values.sizes(), {DType::Int64, values.device()});
  if (values.numel()) {
    const bool floating = is_floating(sorted.dtype()) || is_floating(values.dtype());
    const Tensor keys = as_keys(sorted, floating), wanted = as_keys(values, floating);
    const Tensor order = sorter.defined() ? contiguous(sorter) : Tensor();
    const int64_t n = keys.sizes().back(), rows = keys.dim() == 1 ? 1 : keys.numel() / std::max<int64_t>(n, 1);
    const int64_t* o = order.defined() ? order.data_as<int64_t>() : nullptr;
    if (n == 0)
      fill_zero(out);
    else if (floating)
      search_rows<double>(keys, wanted, o, rows, out.data_as<int64_t>(), right);
    else
      search_rows<int64_t>(keys, wanted, o, rows, out.data_as<int64_t>(), right);
  }
  return int32 ? converted(out, DType::Int32) : out;
}

void check_sorter(const Tensor& sorted, const Tensor& sorter) {
  if (!sorter.defined()) return;
  FL_CHECK(sorter.sizes() == sorted.sizes(),
           "torch.searchsorted(): boundary and sorter must have the same size, but got boundary tensor ",
           sorted.sizes(), " and got sorter tensor ", sorter.sizes());
  FL_CHECK(sorter.dtype() == DType::Int64, "torch.searchsorted(): sorter must be a tensor of long dtype but got dtype ",
           dtype_name(sorter.dtype()));
  for (const int64_t i : read_indices(sorter, "searchsorted"))
    FL_CHECK(i >= 0 && i < sorted.sizes().back(), "torch.searchsorted(): sorter index out of range: ", i);
}

void check_search(const char* op, const Tensor& sorted, const Tensor& values) {
  FL_CHECK(
      sorted.dim() != 0 && (sorted.dim() == 1 || values.dim() != 0), "torch.", op,
      "(): input value can be a scalar only when boundaries tensor dimension is 1, but we got boundaries tensor dim(",
      sorted.dim(), ") and input value's dim(", values.dim(), ")");
  bool match = sorted.dim() == 1 || sorted.dim() == values.dim();
  for (int64_t d = 0; match && sorted.dim() > 1 && d + 1 < sorted.dim(); ++d)
    match = sorted.sizes()[d] == values.sizes()[d];
  FL_CHECK(match, "torch.", op,
           "(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries tensor and input "
           "value tensor must match, but we got boundaries tensor ",
           sorted.sizes(), " and input value tensor ", values.sizes());
  FL_CHECK_NOT_IMPLEMENTED(searchable(sorted.dtype()) && searchable(values.dtype()), "\"", op,
                           "_cpu\" not implemented for '", dtype_name(sorted.dtype()), "' and '",
                           dtype_name(values.dtype()), "'");
}

}  // namespace

Tensor searchsorted_op(const Tensor& sorted, const Tensor& self, bool int32, bool right,
                       std::optional<std::string_view> side, const Tensor& sorter) {
  FL_CHECK(!side || *side == "left" || *side == "right",
           "torch.searchsorted(): side can only be 'left' or 'right' but got ", side.value_or(""));
  FL_CHECK(!side || !right || *side == "right",
           "torch.searchsorted(): side and right can't be set to opposites, got side of left while right was True");
  check_search("searchsorted", sorted, self);
  check_sorter(sorted, sorter);
  return search(sorted, self, int32, right || (side && *side == "right"), sorter);
}
Tensor searchsorted_scalar(const Tensor& sorted, const Scalar& self, bool int32, bool right,
                           std::optional<std::string_view> side, const Tensor& sorter) {
  return searchsorted_op(sorted, scalar_tensor(self, {self.is_integral() ? DType::Int64 : DType::Float64, {}}), int32,
                         right, side, sorter);
}
Tensor bucketize_op(const Tensor& self, const Tensor& boundaries, bool int32, bool right) {
  FL_CHECK(boundaries.dim() == 1, "bucketize: boundaries tensor must be 1 dimension, but got dim(", boundaries.dim(),
           ")");
  check_search("bucketize", boundaries, self);
  return search(boundaries, self, int32, right, Tensor());
}
Tensor bucketize_scalar(const Scalar& self, const Tensor& boundaries, bool int32, bool right) {
  return bucketize_op(scalar_tensor(self, {self.is_integral() ? DType::Int64 : DType::Float64, {}}), boundaries, int32,
                      right);
}

// --- counting
// ---------------------------------------------------------------------------------------------------------------

Tensor bincount_op(const Tensor& self, const Tensor& weights, int64_t minlength) {
  FL_CHECK(minlength >= 0, "minlength should be >= 0, got ", minlength);
  FL_CHECK_NOT_IMPLEMENTED(is_integral(self.dtype()), "\"bincount_cpu\" not implemented for '",
                           dtype_name(self.dtype()), "'");
  const bool weighted = weights.defined();
  if (self.dim() == 1 && self.numel() == 0) {
    const int64_t size[1] = {minlength};
    Tensor out = empty({size, 1}, {DType::Int64, {}});
    fill_zero(out);
    return out;
  }
  FL_CHECK(self.dim() == 1, "bincount only supports 1-d non-negative integral inputs, got ", self.dim(),
           " dimensions.");
  FL_CHECK(!weighted || (weights.dim() == 1 && weights.numel() == self.numel()),
           "weights should be 1-d and have the same length as input");
  const Tensor values = contiguous(converted(self, DType::Int64));
  const int64_t* v = values.data_as<int64_t>();
  int64_t bins = minlength;
  for (int64_t i = 0; i < values.numel(); ++i) {
    FL_CHECK(v[i] >= 0, "bincount only supports 1-d non-negative integral inputs, got ", v[i], ".");
    FL_CHECK(v[i] < INT64_MAX, "[bincount] value ", v[i], " is too large");
    bins = std::max(bins, v[i] + 1);
  }
  const int64_t size[1] = {bins};
  Tensor out = empty({size, 1}, {!weighted                           ? DType::Int64
                                 : weights.dtype() == DType::Float32 ? DType::Float32
                                                                     : DType::Float64,
                                 {}});
  fill_zero(out);
  const auto add = [&]<class T>(T* to, const T* w) {
    for (int64_t i = 0; i < values.numel(); ++i) to[v[i]] += w ? w[i] : T(1);
  };
  if (!weighted)
    add(out.data_as<int64_t>(), static_cast<const int64_t*>(nullptr));
  else {
    const Tensor w = contiguous(weights.dtype() == out.dtype() ? weights : converted(weights, out.dtype()));
    if (out.dtype() == DType::Float32)
      add(out.data_as<float>(), w.data_as<float>());
    else
      add(out.data_as<double>(), w.data_as<double>());
  }
  return out;
}

Tensor histc_op(const Tensor& self, int64_t bins, const Scalar& min, const Scalar& max) {
  FL_CHECK_NOT_IMPLEMENTED(is_floating(self.dtype()) && !is_float8(self.dtype()),
                           "\"histogram_cpu\" not implemented for '", dtype_name(self.dtype()), "'");
  FL_CHECK(bins > 0, "torch.histc(): bins must be > 0, but got ", bins);
  double low = min.to_double(), high = max.to_double();
  const Tensor values = contiguous(converted(self, DType::Float64));
  const double* v = values.data_as<double>();
  const int64_t n = values.numel();
  if (low == high && n > 0) {
    low = high = v[0];
    for (int64_t i = 0; i < n; ++i) {
      low = v[i] < low || std::isnan(v[i]) ? v[i] : low;
      high = v[i] > high || std::isnan(v[i]) ? v[i] : high;
    }
  }
  FL_CHECK(std::isfinite(low) && std::isfinite(high), "torch.histc: range of [", low, ", ", high, "] is not finite");
  FL_CHECK(low <= high, "torch.histc: max must be larger than min, got ", low, " and ", high);
  if (low == high) {
    low -= 1;
    high += 1;
  }
  const int64_t size[1] = {bins};
  Tensor counts = empty({size, 1}, {DType::Float64, {}});
  fill_zero(counts);
  double* c = counts.data_as<double>();
  const bool single = self.dtype() == DType::Float32;
  for (int64_t i = 0; i < n; ++i) {
    if (!(v[i] >= low && v[i] <= high)) continue;
    const double at =
        single ? static_cast<double>((static_cast<float>(v[i]) - static_cast<float>(low)) * static_cast<float>(bins) /
                                     (static_cast<float>(high) - static_cast<float>(low)))
               : (v[i] - low) * static_cast<double>(bins) / (high - low);
    c[std::min(static_cast<int64_t>(at), bins - 1)] += 1;
  }
  return converted(counts, self.dtype());
}

}  // namespace flambeau
