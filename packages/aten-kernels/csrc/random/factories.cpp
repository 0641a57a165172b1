// rand, randn, randint, randperm, their *_like forms, and samples of given distributions.
#include "flambeau/core/views.h"
#include "flambeau/ops/add.h"
#include "flambeau/ops/mul.h"
#include "random/draw.h"

namespace flambeau {

using OptType = std::optional<DType>;
using OptLayout = std::optional<Layout>;
using OptDevice = std::optional<Device>;
using OptBool = std::optional<bool>;
using OptFormat = std::optional<MemoryFormat>;

Tensor rand_op(IntList size, GeneratorImpl* g, OptType dtype, OptLayout layout, OptDevice device, OptBool) {
  Tensor t = empty(size, factory_options(dtype, layout, device));
  draw_uniform(t, 0, 1, g);
  return t;
}
Tensor randn_op(IntList size, GeneratorImpl* g, OptType dtype, OptLayout layout, OptDevice device, OptBool) {
  Tensor t = empty(size, factory_options(dtype, layout, device));
  draw_normal(t, 0, 1, g);
  return t;
}
Tensor randint_low(int64_t low, int64_t high, IntList size, GeneratorImpl* g, OptType dtype, OptLayout layout,
                   OptDevice device, OptBool) {
  Tensor t = empty(size, factory_options(dtype, layout, device, DType::Int64));
  draw_integers(t, low, high, g);
  return t;
}
Tensor randint_op(int64_t high, IntList size, GeneratorImpl* g, OptType dtype, OptLayout layout, OptDevice device,
                  OptBool pin) {
  return randint_low(0, high, size, g, dtype, layout, device, pin);
}

Tensor randperm_op(int64_t n, GeneratorImpl* g, OptType dtype, OptLayout layout, OptDevice device, OptBool) {
  FL_CHECK(n >= 0, "n must be non-negative, got ", n);
  const TensorOptions o = factory_options(dtype, layout, device, DType::Int64);
  FL_CHECK_NOT_IMPLEMENTED(o.dtype != DType::Bool && (is_integral(o.dtype) || is_floating(o.dtype)),
                           "\"randperm\" not implemented for '", dtype_name(o.dtype), "'");
  if (n > 0) scalar_tensor(Scalar(n), {o.dtype, {}});  // the dtype must hold n
  const int64_t exact = o.dtype == DType::Float16    ? 2049
                        : o.dtype == DType::BFloat16 ? 257
                        : o.dtype == DType::Float32  ? (1 << 24) + 1
                                                     : INT64_MAX;
  FL_CHECK(n <= exact, "n is too large for result tensor type ", dtype_name(o.dtype), ": ", n);
  const int64_t size[1] = {n};
  Tensor t = empty({size, 1}, o);
  if (!t.storage().data || n == 0) return t;
  const auto draw = [&](const Tensor& x) {
    switch (x.dtype()) {
#define FL_CASE(name, T) \
  case DType::name: random::randperm(generator_or_default(g), x.data_as<T>(), n); return;
      FL_CASE(UInt8, uint8_t)
      FL_CASE(Int8, int8_t)
      FL_CASE(Int16, int16_t)
      FL_CASE(Int32, int32_t)
      FL_CASE(Int64, int64_t)
      FL_CASE(Float16, Half)
      FL_CASE(BFloat16, BFloat16)
      FL_CASE(Float32, float)
      FL_CASE(Float64, double)
#undef FL_CASE
      default: FL_CHECK_NOT_IMPLEMENTED(false, "\"randperm\" not implemented for '", dtype_name(x.dtype()), "'");
    }
  };
  draw(t);
  return t;
}

namespace {
Tensor like(const Tensor& self, OptType dtype, OptLayout layout, OptDevice device, OptFormat format, const char* op) {
  return empty_in_format(self, like_options(self, dtype, layout, device), format.value_or(MemoryFormat::Preserve), op);
}
}  // namespace

Tensor rand_like_op(const Tensor& self, GeneratorImpl* g, OptType dtype, OptLayout layout, OptDevice device, OptBool,
                    OptFormat format) {
  Tensor t = like(self, dtype, layout, device, format, "rand_like");
  draw_uniform(t, 0, 1, g);
  return t;
}
Tensor randn_like_op(const Tensor& self, GeneratorImpl* g, OptType dtype, OptLayout layout, OptDevice device, OptBool,
                     OptFormat format) {
  Tensor t = like(self, dtype, layout, device, format, "randn_like");
  draw_normal(t, 0, 1, g);
  return t;
}
Tensor randint_like_low(const Tensor& self, int64_t low, int64_t high, GeneratorImpl* g, OptType dtype,
                        OptLayout layout, OptDevice device, OptBool, OptFormat format) {
  Tensor t = like(self, dtype, layout, device, format, "randint_like");
  draw_integers(t, low, high, g);
  return t;
}
Tensor randint_like_op(const Tensor& self, int64_t high, GeneratorImpl* g, OptType dtype, OptLayout layout,
                       OptDevice device, OptBool pin, OptFormat format) {
  return randint_like_low(self, 0, high, g, dtype, layout, device, pin, format);
}

// --- samples
// --------------------------------------------------------------------------------------------------------------------

const Tensor& bernoulli_tensor_(const Tensor& self, const Tensor& p, GeneratorImpl* g);

Tensor bernoulli_op(const Tensor& self, GeneratorImpl* g) {
  Tensor out = empty(self.sizes(), self.options());
  if (out.storage().data) bernoulli_tensor_(out, self, g);
  return out;
}
Tensor bernoulli_p(const Tensor& self, double p, GeneratorImpl* g) {
  Tensor out = empty(self.sizes(), self.options());
  draw_bernoulli(out, p, g);
  return out;
}

Tensor multinomial_op(const Tensor& self, int64_t num_samples, bool replacement, GeneratorImpl* g) {
  FL_CHECK(self.dim() == 1 || self.dim() == 2, "prob_dist must be 1 or 2 dim, got ", self.dim());
  FL_CHECK(self.is_floating_point() && !is_float8(self.dtype()),
           "multinomial only supports floating-point dtypes for input, got: ", dtype_name(self.dtype()));
  FL_CHECK(num_samples > 0, "cannot sample n_sample <= 0 samples, got ", num_samples);
  const int64_t categories = self.sizes().back(), rows = self.dim() == 1 ? 1 : self.sizes()[0];
  FL_CHECK(replacement || num_samples <= categories,
           "cannot sample n_sample > prob_dist.size(-1) samples without replacement: ", num_samples, " > ", categories);
  FL_CHECK(categories <= int64_t{1} << 24, "number of categories cannot exceed 2^24, got ", categories);
  std::vector<int64_t> sizes = self.sizes().vec();
  sizes.back() = num_samples;
  Tensor out = empty(sizes, {DType::Int64, self.device()});
  if (out.numel() == 0) return out;
  FL_CHECK(categories > 0, "[multinomial] cannot sample from no categories");
  const Tensor weights = contiguous(self);
  const auto draw = [&] {
    FL_DISPATCH_FLOAT(weights.dtype(), "multinomial",
                      random::multinomial(generator_or_default(g), out.data_as<int64_t>(), weights.data_as<scalar_t>(),
                                          rows, categories, num_samples, replacement));
  };
  draw();
  return out;
}

Tensor normal_float_float(double mean, double std, IntList size, GeneratorImpl* g, OptType dtype, OptLayout layout,
                          OptDevice device, OptBool) {
  Tensor t = empty(size, factory_options(dtype, layout, device));
  draw_normal(t, mean, std, g);
  return t;
}

namespace {

void check_spread(const Tensor& std) {
  FL_CHECK(!std.is_complex(), "normal expects standard deviation to be non-complex");
  const Tensor wide = contiguous(converted(std, DType::Float64));
  for (int64_t i = 0; i < wide.numel(); ++i)
    FL_CHECK(wide.data_as<double>()[i] >= 0, "normal expects all elements of std >= 0.0, got ",
             wide.data_as<double>()[i]);
}

}  // namespace

Tensor normal_tensor_float(const Tensor& mean, double std, GeneratorImpl* g) {
  Tensor out = empty(mean.sizes(), mean.options());
  draw_normal(out, 0, std, g);
  GradMode no_grad(false);
  return ops::add_(out, mean);
}
Tensor normal_float_tensor(double mean, const Tensor& std, GeneratorImpl* g) {
  check_spread(std);
  Tensor out = empty(std.sizes(), std.options());
  draw_normal(out, 0, 1, g);
  GradMode no_grad(false);
  ops::mul_(out, std);
  return ops::add_(out, scalar_tensor(Scalar(mean), {out.dtype(), {}}));
}
Tensor normal_tensor_tensor(const Tensor& mean, const Tensor& std, GeneratorImpl* g) {
  check_spread(std);
  const std::vector<int64_t> shape = broadcast_shapes(mean.sizes(), std.sizes(), "normal");
  Tensor out = empty(shape, {promote_types(mean.dtype(), std.dtype()), mean.device()});
  draw_normal(out, 0, 1, g);
  GradMode no_grad(false);
  ops::mul_(out, std);
  return ops::add_(out, mean);
}

}  // namespace flambeau
