// uniform_, normal_ and the other distributions that fill a tensor.
#include <algorithm>
#include <cmath>
#include <limits>

#include "flambeau/core/views.h"
#include "index/gather_scatter.h"
#include "iterator/result_strides.h"
#include "random/draw.h"

namespace flambeau {

namespace {

void check_target(const Tensor& t, const char* op) {
  FL_CHECK(
      !has_internal_overlap(t), "[", op,
      "] unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
      "Please clone() the tensor before performing the operation.");
}

double largest(DType t) {
  switch (t) {
    case DType::Float16: return 65504.0;
    case DType::BFloat16: return 3.3895313892515355e38;
    case DType::Float32: return std::numeric_limits<float>::max();
    default: return std::numeric_limits<double>::max();
  }
}

}  // namespace

Tensor in_memory_order(const Tensor& t) {
  const std::vector<int64_t> dense = ordered_strides(t.sizes(), {t.strides().vec()});
  if (dense.empty()) return t;
  std::vector<int64_t> order(static_cast<size_t>(t.dim())), sizes, strides;
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return dense[static_cast<size_t>(a)] > dense[static_cast<size_t>(b)]; });
  for (const int64_t d : order) {
    sizes.push_back(t.sizes()[d]);
    strides.push_back(t.strides()[d]);
  }
  return with_geometry(t, sizes, strides, t.storage_offset());
}

void draw_uniform(const Tensor& t, double from, double to, GeneratorImpl* g) {
  if (t.is_complex()) return draw_uniform(view_as_real(t), from, to, g);
  FL_CHECK_NOT_IMPLEMENTED(t.is_floating_point() && !is_float8(t.dtype()),
                           "\"check_uniform_bounds\" not implemented for '", dtype_name(t.dtype()), "'");
  FL_CHECK(from <= to, "uniform_ expects to return a [from, to) range, but found from=", from, " > to=", to);
  FL_CHECK(std::fabs(from) <= largest(t.dtype()) && std::fabs(to) <= largest(t.dtype()), "[uniform_] bounds ", from,
           " and ", to, " are out of the range of ", dtype_name(t.dtype()));
  FL_CHECK(to - from <= largest(t.dtype()), "uniform_ expects to-from <= std::numeric_limits<", dtype_name(t.dtype()),
           ">::max(), but found to=", to, " and from=", from);
  fill_row_major(t, [&](const Tensor& x) {
    FL_DISPATCH_FLOAT(x.dtype(), "uniform_",
                      random::uniform(generator_or_default(g), x.data_as<scalar_t>(), x.numel(), from, to));
  });
}

void draw_normal(const Tensor& t, double mean, double std, GeneratorImpl* g) {
  FL_CHECK(std >= 0, "normal expects std >= 0.0, but found std ", std);
  if (t.is_complex()) return draw_normal(view_as_real(t), mean, std / std::sqrt(2.0), g);
  FL_CHECK_NOT_IMPLEMENTED(t.is_floating_point() && !is_float8(t.dtype()),
                           "\"normal_kernel_cpu\" not implemented for '", dtype_name(t.dtype()), "'");
  if (t.is_contiguous()) {
    fill_row_major(t, [&](const Tensor& x) {
      FL_DISPATCH_FLOAT(x.dtype(), "normal_",
                        random::normal(generator_or_default(g), x.data_as<scalar_t>(), x.numel(), mean, std));
    });
    return;
  }
  fill_row_major(t, [&](const Tensor& x) {
    FL_DISPATCH_FLOAT(x.dtype(), "normal_",
                      random::normal_serial(generator_or_default(g), x.data_as<scalar_t>(), x.numel(), mean, std));
  });
}

const Tensor& uniform_op_(const Tensor& self, double from, double to, GeneratorImpl* g) {
  check_target(self, "uniform_");
  draw_uniform(self, from, to, g);
  return self;
}
const Tensor& normal_op_(const Tensor& self, double mean, double std, GeneratorImpl* g) {
  check_target(self, "normal_");
  draw_normal(self, mean, std, g);
  return self;
}

// --- integers
// -----------------------------------------------------------------------------------------------------------------

namespace {

struct Range {
  int64_t low, high;
};  // of exactly representable integers

Range range_of(DType t) {
  switch (t) {
    case DType::Bool: return {0, 1};
    case DType::UInt8: return {0, UINT8_MAX};
    case DType::UInt16: return {0, UINT16_MAX};
    case DType::UInt32: return {0, UINT32_MAX};
    case DType::UInt64: return {0, INT64_MAX};
    case DType::Int8: return {INT8_MIN, INT8_MAX};
    case DType::Int16: return {INT16_MIN, INT16_MAX};
    case DType::Int32: return {INT32_MIN, INT32_MAX};
    case DType::Float16: return {-65504, 65504};
    default: return {INT64_MIN, INT64_MAX};
  }
}

int64_t mantissa_limit(DType t) {
  switch (t) {
    case DType::Float16: return 1 << 11;
    case DType::BFloat16: return 1 << 8;
    case DType::Float32: return 1 << 24;
    case DType::Float64: return int64_t{1} << 53;
    default: return INT64_MAX;
  }
}

}  // namespace

void draw_integers(const Tensor& t, int64_t from, int64_t to, GeneratorImpl* g) {
  FL_CHECK(from < to, "random_ expects 'from' to be less than 'to', but got from=", from, " >= to=", to);
  const Range r = range_of(t.dtype());
  FL_CHECK(from >= r.low && from <= r.high, "from is out of bounds for ", dtype_name(t.dtype()), ": ", from);
  FL_CHECK(to - 1 >= r.low && to - 1 <= r.high, "to - 1 is out of bounds for ", dtype_name(t.dtype()), ": ", to - 1);
  fill_row_major(t, [&](const Tensor& x) {
    FL_DISPATCH_ALL(x.dtype(), "random_",
                    random::random_from_to(generator_or_default(g), x.data_as<scalar_t>(), x.numel(), from, to));
  });
}

const Tensor& random_from_(const Tensor& self, int64_t from, std::optional<int64_t> to, GeneratorImpl* g) {
  check_target(self, "random_");
  if (to) {
    draw_integers(self, from, *to, g);
  } else if (from != INT64_MIN) {
    const int64_t top = is_floating(self.dtype()) ? mantissa_limit(self.dtype()) : range_of(self.dtype()).high;
    FL_CHECK(from <= top, "from is out of bounds for ", dtype_name(self.dtype()), ": ", from);
    if (top < INT64_MAX)
      draw_integers(self, from, top + 1, g);
    else
      fill_row_major(
          self, [&](const Tensor& x) {  // the end is 2^63, one past int64: the difference is taken modulo 2^64
            FL_DISPATCH_ALL(
                x.dtype(), "random_",
                random::random_from_to(generator_or_default(g), x.data_as<scalar_t>(), x.numel(), from, INT64_MIN));
          });
  } else {
    fill_row_major(self, [&](const Tensor& x) {
      FL_DISPATCH_ALL(x.dtype(), "random_",
                      random::random_full_range(generator_or_default(g), x.data_as<scalar_t>(), x.numel()));
    });
  }
  return self;
}
const Tensor& random_to_(const Tensor& self, int64_t to, GeneratorImpl* g) { return random_from_(self, 0, to, g); }
const Tensor& random_any_(const Tensor& self, GeneratorImpl* g) {
  check_target(self, "random_");
  fill_row_major(self, [&](const Tensor& x) {
    FL_DISPATCH_ALL(x.dtype(), "random_",
                    random::random_any(generator_or_default(g), x.data_as<scalar_t>(), x.numel()));
  });
  return self;
}

// --- the other distributions
// ----------------------------------------------------------------------------------------------------

const Tensor& exponential_op_(const Tensor& self, double lambd, GeneratorImpl* g) {
  check_target(self, "exponential_");
  FL_CHECK(lambd > 0, "exponential_ expects lambda > 0.0, but found lambda=", lambd);
  fill_row_major(self, [&](const Tensor& x) {
    FL_DISPATCH_FLOAT(x.dtype(), "exponential_",
                      random::exponential(generator_or_default(g), x.data_as<scalar_t>(), x.numel(), lambd));
  });
  return self;
}
const Tensor& cauchy_op_(const Tensor& self, double median, double sigma, GeneratorImpl* g) {
  check_target(self, "cauchy_");
  FL_CHECK(sigma > 0, "cauchy_ expects sigma > 0.0, but found sigma=", sigma);
  fill_row_major(self, [&](const Tensor& x) {
    FL_DISPATCH_FLOAT(x.dtype(), "cauchy_",
                      random::cauchy(generator_or_default(g), x.data_as<scalar_t>(), x.numel(), median, sigma));
  });
  return self;
}
const Tensor& log_normal_op_(const Tensor& self, double mean, double std, GeneratorImpl* g) {
  check_target(self, "log_normal_");
  FL_CHECK(std > 0, "log_normal_ expects std > 0.0, but found std=", std);
  fill_row_major(self, [&](const Tensor& x) {
    FL_DISPATCH_FLOAT(x.dtype(), "log_normal_",
                      random::log_normal(generator_or_default(g), x.data_as<scalar_t>(), x.numel(), mean, std));
  });
  return self;
}
const Tensor& geometric_op_(const Tensor& self, double p, GeneratorImpl* g) {
  check_target(self, "geometric_");
  FL_CHECK(p > 0 && p < 1, "geometric_ expects p to be in (0, 1), but got p=", p);
  fill_row_major(self, [&](const Tensor& x) {
    FL_DISPATCH_ALL(x.dtype(), "geometric_",
                    random::geometric(generator_or_default(g), x.data_as<scalar_t>(), x.numel(), p));
  });
  return self;
}

void draw_bernoulli(const Tensor& t, double p, GeneratorImpl* g) {
  FL_CHECK(p >= 0 && p <= 1, "bernoulli_ expects p to be in [0, 1], but got p=", p);
  fill_row_major(t, [&](const Tensor& x) {
    FL_DISPATCH_ALL(x.dtype(), "bernoulli_",
                    random::bernoulli(generator_or_default(g), x.data_as<scalar_t>(), x.numel(), p));
  });
}

const Tensor& bernoulli_float_(const Tensor& self, double p, GeneratorImpl* g) {
  check_target(self, "bernoulli_");
  draw_bernoulli(self, p, g);
  return self;
}

namespace {

template <class T> void bernoulli_into(const Tensor& out, const Tensor& p, GeneratorImpl* g) {
  FL_DISPATCH_FLOAT(
      p.dtype(), "bernoulli_tensor_cpu_p_",
      random::bernoulli_each(generator_or_default(g), out.data_as<T>(), p.data_as<scalar_t>(), out.numel()));
}

void check_probabilities(const Tensor& p) {
  FL_CHECK_NOT_IMPLEMENTED(p.is_floating_point() && !is_float8(p.dtype()),
                           "\"bernoulli_tensor_cpu_p_\" not implemented for '", dtype_name(p.dtype()), "'");
  const auto scan = [&]<class T>(const T* v) {
    for (int64_t i = 0; i < p.numel(); ++i)
      FL_CHECK(v[i] >= T(0.0f) && v[i] <= T(1.0f),
               "Expected p_in >= 0 && p_in <= 1 to be true: probabilities must be in [0, 1], got ",
               static_cast<double>(v[i]));
  };
  FL_DISPATCH_FLOAT(p.dtype(), "bernoulli", scan(p.data_as<scalar_t>()));
}

}  // namespace

const Tensor& bernoulli_tensor_(const Tensor& self, const Tensor& p_, GeneratorImpl* g) {
  check_target(self, "bernoulli_");
  const std::vector<int64_t> dense =
      ordered_strides(self.sizes(), {self.strides().vec()});  // p in the order in which self is filled
  Tensor p = contiguous(expand(p_, self.sizes()));
  if (!dense.empty()) {
    const Tensor ordered = empty_strided(self.sizes(), dense, p.options());
    copy_values(ordered, p);
    p = in_memory_order(ordered);
  }
  check_probabilities(p);
  fill_row_major(self,
                 [&](const Tensor& x) { FL_DISPATCH_ALL(x.dtype(), "bernoulli_", bernoulli_into<scalar_t>(x, p, g)); });
  return self;
}

}  // namespace flambeau
