// One operator over lists of tensors.
#include <cmath>

#include "flambeau/ops/add.h"
#include "flambeau/ops/clamp_max.h"
#include "flambeau/ops/clamp_min.h"
#include "flambeau/ops/mul.h"
#include "nn/compute.h"

namespace flambeau {

namespace {

void check_lengths(const char* op, TensorList a, TensorList b) {
  FL_CHECK(a.size() == b.size(), "[", op, "] Tensor lists must have the same number of tensors, got ", a.size(),
           " and ", b.size());
}

template <class F> std::vector<Tensor> collect(TensorList self, F&& f) {
  std::vector<Tensor> out;
  out.reserve(self.size());
  for (size_t i = 0; i < self.size(); ++i) out.push_back(f(i));
  return out;
}

}  // namespace

void foreach_add_list_(TensorList self, TensorList other, const Scalar& alpha) {
  check_lengths("_foreach_add_", self, other);
  for (size_t i = 0; i < self.size(); ++i) ops::add_(self[i], other[i], alpha);
}
std::vector<Tensor> foreach_add_scalar(TensorList self, const Scalar& scalar) {
  return collect(self, [&](size_t i) { return ops::add(self[i], wrapped_number(scalar), Scalar(1)); });
}
std::vector<Tensor> foreach_add_list(TensorList self, TensorList other, const Scalar& alpha) {
  check_lengths("_foreach_add", self, other);
  return collect(self, [&](size_t i) { return ops::add(self[i], other[i], alpha); });
}
void foreach_mul_scalar_(TensorList self, const Scalar& scalar) {
  for (const Tensor& t : self) ops::mul_(t, wrapped_number(scalar));
}
void foreach_mul_tensor_(TensorList self, const Tensor& other) {
  for (const Tensor& t : self) ops::mul_(t, other);
}
void foreach_mul_list_(TensorList self, TensorList other) {
  check_lengths("_foreach_mul_", self, other);
  for (size_t i = 0; i < self.size(); ++i) ops::mul_(self[i], other[i]);
}
std::vector<Tensor> foreach_mul_scalar(TensorList self, const Scalar& scalar) {
  return collect(self, [&](size_t i) { return ops::mul(self[i], wrapped_number(scalar)); });
}
std::vector<Tensor> foreach_mul_tensor(TensorList self, const Tensor& other) {
  return collect(self, [&](size_t i) { return ops::mul(self[i], other); });
}
void foreach_clamp_min_(TensorList self, const Scalar& scalar) {
  for (const Tensor& t : self) ops::clamp_min_(t, scalar);
}
void foreach_clamp_max_(TensorList self, const Scalar& scalar) {
  for (const Tensor& t : self) ops::clamp_max_(t, scalar);
}

std::vector<Tensor> foreach_norm(TensorList self, const Scalar& ord, std::optional<DType> dtype) {
  const double p = ord.to_double();
  return collect(self, [&](size_t i) {
    const Tensor& t = self[i];
    const DType d = nn::compute_dtype("_foreach_norm", dtype.value_or(t.dtype()));
    const Tensor x = nn::prepared(t, d);
    double total = 0;
    nn::by_compute(d, [&](auto zero) {
      using T = decltype(zero);
      const int64_t grain = 1 << 15, step = chunk_size(0, x.numel(), grain);
      std::vector<double> parts(static_cast<size_t>(num_chunks(0, x.numel(), grain)), 0.0);
      parallel_for(0, x.numel(), grain, [&](int64_t b, int64_t e) {
        for (int64_t at = b; at < e; at += step) {
          double sum = 0;
          for (int64_t k = at; k < std::min(at + step, e); ++k) {
            const double v = std::abs(static_cast<double>(x.data_as<T>()[k]));
            if (std::isinf(p))
              sum = v > sum || v != v ? v : sum;
            else
              sum += p == 2 ? v * v : p == 1 ? v : std::pow(v, p);
          }
          parts[static_cast<size_t>(at / step)] = sum;
        }
      });
      for (const double v : parts) total = std::isinf(p) ? (v > total || v != v ? v : total) : total + v;
    });
    if (!std::isinf(p)) total = p == 2 ? std::sqrt(total) : p == 1 ? total : std::pow(total, 1 / p);
    return scalar_tensor(Scalar(total), {dtype.value_or(t.dtype()), t.device()});
  });
}

}  // namespace flambeau
