// sort, topk, k-th values, medians, modes.
#include <algorithm>
#include <numeric>
#include <tuple>
#include <vector>

#include "sort/lanes.h"

namespace flambeau {

namespace {

using Pair = std::tuple<Tensor, Tensor>;

// Order of the elements of a lane, stable.
template <class T> void order_of(const T* x, int64_t* index, int64_t n, bool descending) {
  std::iota(index, index + n, int64_t{0});
  if (descending)
    std::stable_sort(index, index + n, [x](int64_t a, int64_t b) { return descends(x[a], x[b]); });
  else
    std::stable_sort(index, index + n, [x](int64_t a, int64_t b) { return ascends(x[a], x[b]); });
}

Pair sort_lanes(const char* op, const Tensor& self, int64_t dim, bool descending) {
  FL_CHECK(!self.is_complex(), "Sort currently does not support complex dtypes on CPU");
  dim = wrap_dim(dim, self.dim());
  const Tensor in = lanes_of(self, dim);
  const int64_t n = in.sizes().back(), count = n ? in.numel() / n : 0;
  Tensor values = empty(in.sizes(), in.options()), indices = empty(in.sizes(), {DType::Int64, in.device()});
  with_type(op, in.dtype(), [&]<class T>() {
    const T* x = in.data_as<T>();
    T* v = values.data_as<T>();
    int64_t* where = indices.data_as<int64_t>();
    for_each_lane(count, n * 8, [&](int64_t lane) {
      const T* row = x + lane * n;
      order_of(row, where + lane * n, n, descending);
      for (int64_t k = 0; k < n; ++k) v[lane * n + k] = row[where[lane * n + k]];
    });
  });
  return {laid_out_like(from_lanes(values, self, dim), self), laid_out_like(from_lanes(indices, self, dim), self)};
}

// Sizes with the lane's length replaced, lanes last.
std::vector<int64_t> with_last(const Tensor& t, int64_t n) {
  std::vector<int64_t> s = t.sizes().vec();
  s.back() = n;
  return s;
}

Tensor drop_or_keep(const Tensor& t, const Tensor& self, int64_t dim, bool keepdim) {
  if (self.dim() == 0) return select(t, 0, 0);
  Tensor moved = contiguous(transpose(t, dim, self.dim() - 1));
  return keepdim ? moved : squeeze_dim(moved, dim);
}

// Picks one index of every lane: pick(row, n) -> index.
template <class Pick> Pair pick_one(const char* op, const Tensor& self, int64_t dim, bool keepdim, Pick pick) {
  const Tensor in = lanes_of(self, dim);
  const int64_t n = in.sizes().back(), count = n ? in.numel() / n : 0;
  FL_CHECK_INDEX(
      n > 0 || in.numel() > 0 ||
          [&] {
            int64_t outer = 1;
            for (size_t i = 0; i + 1 < in.sizes().size(); ++i) outer *= in.sizes()[i];
            return outer == 0;
          }(),
      op, "(): Expected reduction dim ", dim, " to have non-zero size.");
  Tensor values = empty(with_last(in, 1), in.options()), indices = empty(with_last(in, 1), {DType::Int64, in.device()});
  with_type(op, in.dtype(), [&]<class T>() {
    const T* x = in.data_as<T>();
    for_each_lane(count, n * 4, [&](int64_t lane) {
      const int64_t at = pick(x + lane * n, n);
      values.data_as<T>()[lane] = x[lane * n + at];
      indices.data_as<int64_t>()[lane] = at;
    });
  });
  return {drop_or_keep(values, self, dim, keepdim), drop_or_keep(indices, self, dim, keepdim)};
}

// Index of the element that would be k-th in ascending order.
template <class T> int64_t kth(const T* x, int64_t n, int64_t k) {
  std::vector<int64_t> index(static_cast<size_t>(n));
  std::iota(index.begin(), index.end(), int64_t{0});
  std::nth_element(index.begin(), index.begin() + k, index.end(),
                   [x](int64_t a, int64_t b) { return ascends(x[a], x[b]) || (!ascends(x[b], x[a]) && a < b); });
  return index[static_cast<size_t>(k)];
}

// The lower middle; a NaN, the first one, wins unless it is to be ignored.
template <class T> int64_t median_index(const T* x, int64_t n, bool ignore_nan) {
  int64_t nans = 0, first = -1;
  for (int64_t i = n; i-- > 0;)
    if (is_nan(x[i])) {
      ++nans;
      first = i;
    }
  if (nans && !ignore_nan) return first;
  const int64_t m = n - nans;
  return kth(x, n, m == 0 ? 0 : (m - 1) / 2);
}

template <class T> int64_t mode_index(const T* x, int64_t n) {
  std::vector<int64_t> index(static_cast<size_t>(n));
  order_of(x, index.data(), n, false);
  int64_t best = index.back(), best_run = 0;
  for (int64_t i = 0; i < n;) {
    int64_t j = i;
    while (j < n && ordered(x[index[static_cast<size_t>(j)]]) == ordered(x[index[static_cast<size_t>(i)]])) ++j;
    if (j == i) j = i + 1;
    if (j - i > best_run) {
      best_run = j - i;
      best = index[static_cast<size_t>(j - 1)];
    }
    i = j;
  }
  return best;
}

Tensor median_of(const char* op, const Tensor& self, bool ignore_nan) {
  const int64_t n = self.numel();
  if (n == 0) {
    FL_CHECK(self.is_floating_point(), op, "(): input is empty");
    return scalar_tensor(Scalar(static_cast<double>(NAN)), self.options());
  }
  const Tensor flat = view(contiguous(self), {n});
  return std::get<0>(
      pick_one(op, flat, 0, false, [&](const auto* x, int64_t m) { return median_index(x, m, ignore_nan); }));
}

}  // namespace

Pair sort_stable(const Tensor& self, std::optional<bool>, int64_t dim, bool descending) {
  return sort_lanes("sort", self, dim, descending);
}
Pair sort_plain(const Tensor& self, int64_t dim, bool descending) { return sort_lanes("sort", self, dim, descending); }

Pair topk_cpu(const Tensor& self, int64_t k, int64_t dim, bool largest, bool) {
  FL_CHECK(!self.is_complex(), "topk does not support complex dtypes on CPU");
  dim = wrap_dim(dim, self.dim());
  const int64_t n = self.dim() ? self.sizes()[static_cast<size_t>(dim)] : 1;
  FL_CHECK(k >= 0 && k <= n, "selected index k out of range: k is ", k, ", the dimension has ", n, " elements");
  const Tensor in = lanes_of(self, dim);
  const int64_t count = n ? in.numel() / n : 0;
  Tensor values = empty(with_last(in, k), in.options()), indices = empty(with_last(in, k), {DType::Int64, in.device()});
  with_type("topk", in.dtype(), [&]<class T>() {
    const T* x = in.data_as<T>();
    for_each_lane(count, n * 4, [&](int64_t lane) {
      const T* row = x + lane * n;
      std::vector<int64_t> index(static_cast<size_t>(n));
      std::iota(index.begin(), index.end(), int64_t{0});
      const auto before = [&](int64_t a, int64_t b) {
        const bool ab = largest ? descends(row[a], row[b]) : ascends(row[a], row[b]);
        if (ab) return true;
        return !(largest ? descends(row[b], row[a]) : ascends(row[b], row[a])) && a < b;
      };
      std::partial_sort(index.begin(), index.begin() + k, index.end(), before);
      for (int64_t i = 0; i < k; ++i) {
        values.data_as<T>()[lane * k + i] = row[index[static_cast<size_t>(i)]];
        indices.data_as<int64_t>()[lane * k + i] = index[static_cast<size_t>(i)];
      }
    });
  });
  return {from_lanes(values, self, dim), from_lanes(indices, self, dim)};
}

Pair kthvalue_cpu(const Tensor& self, int64_t k, int64_t dim, bool keepdim) {
  dim = wrap_dim(dim, self.dim());
  const int64_t n = self.dim() ? self.sizes()[static_cast<size_t>(dim)] : 1;
  FL_CHECK_INDEX(n > 0 || self.numel() > 0, "kthvalue(): Expected reduction dim ", dim, " to have non-zero size.");
  FL_CHECK(k >= 1 && k <= n, "kthvalue(): selected number k out of range for dimension ", dim, ": k is ", k,
           ", allowed are 1 to ", n);
  return pick_one("kthvalue", self, dim, keepdim, [&](const auto* x, int64_t m) { return kth(x, m, k - 1); });
}

Tensor median_all(const Tensor& self) { return median_of("median", self, false); }
Tensor nanmedian_all(const Tensor& self) { return median_of("nanmedian", self, true); }
Pair median_dim(const Tensor& self, int64_t dim, bool keepdim) {
  return pick_one("median", self, wrap_dim(dim, self.dim()), keepdim,
                  [](const auto* x, int64_t n) { return median_index(x, n, false); });
}
Pair nanmedian_dim(const Tensor& self, int64_t dim, bool keepdim) {
  return pick_one("nanmedian", self, wrap_dim(dim, self.dim()), keepdim,
                  [](const auto* x, int64_t n) { return median_index(x, n, true); });
}
Pair mode_cpu(const Tensor& self, int64_t dim, bool keepdim) {
  return pick_one("mode", self, wrap_dim(dim, self.dim()), keepdim,
                  [](const auto* x, int64_t n) { return mode_index(x, n); });
}

// --- distinct elements
// ---------------------------------------------------------------------------------------------------

namespace {

template <class T> std::tuple<Tensor, Tensor, Tensor> distinct(const Tensor& in, bool sort) {
  const T* x = in.data_as<T>();
  const int64_t n = in.numel();
  std::vector<int64_t> index(static_cast<size_t>(n));
  if (sort)
    order_of(x, index.data(), n, false);
  else
    std::iota(index.begin(), index.end(), int64_t{0});
  Tensor inverse = empty(in.sizes(), {DType::Int64, in.device()});
  std::vector<T> values;
  std::vector<int64_t> counts;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t at = index[static_cast<size_t>(i)];
    if (values.empty() || !(ordered(values.back()) == ordered(x[at]))) {
      values.push_back(x[at]);
      counts.push_back(0);
    }
    ++counts.back();
    inverse.data_as<int64_t>()[at] = static_cast<int64_t>(values.size()) - 1;
  }
  const int64_t m = static_cast<int64_t>(values.size());
  Tensor out = empty({m}, in.options()), count = empty({m}, {DType::Int64, in.device()});
  std::copy(values.begin(), values.end(), out.data_as<T>());
  std::copy(counts.begin(), counts.end(), count.data_as<int64_t>());
  return {out, inverse, count};
}

std::tuple<Tensor, Tensor, Tensor> distinct_any(const char* op, const Tensor& self, bool sort) {
  std::tuple<Tensor, Tensor, Tensor> r;
  const Tensor in = contiguous(self);
  with_type(op, in.dtype(), [&]<class T>() { r = distinct<T>(in, sort); });
  return r;
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> unique2_cpu(const Tensor& self, bool, bool, bool) {
  return distinct_any("unique", self, true);
}
std::tuple<Tensor, Tensor, Tensor> unique_consecutive_flat(const Tensor& self) {
  return distinct_any("unique_consecutive", self, false);
}

}  // namespace flambeau
