// Single elements of any dtype, converted as `.item()` and `fill_` do.
#include <cmath>
#include <cstring>

#include "flambeau/core/complex.h"
#include "flambeau/core/float8.h"
#include "flambeau/core/half.h"
#include "flambeau/core/operator.h"
#include "flambeau/core/tensor.h"

namespace flambeau {
namespace {

template <class T> T load_as(const void* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <class T> void store_as(void* p, T v) { std::memcpy(p, &v, sizeof v); }

// Integers out of range of the target are an error, as are fractions that do not fit at all (torch's fill_ rule).
template <class T> T checked_int(const Scalar& s, DType dtype) {
  if (s.is_integral()) {
    const int64_t v = s.to_int();
    const bool fits =
        std::is_unsigned_v<T>
            ? (v >= -static_cast<int64_t>(sizeof(T) < 8 ? static_cast<int64_t>(static_cast<T>(-1)) : INT64_MAX) &&
               (sizeof(T) == 8 || v <= static_cast<int64_t>(static_cast<T>(-1))))
            : static_cast<int64_t>(static_cast<T>(v)) == v;
    FL_CHECK(fits, "value cannot be converted to type ", dtype_name(dtype), " without overflow: ", v);
    return static_cast<T>(v);
  }
  const double d = s.to_double();
  const double low = std::is_unsigned_v<T> ? -static_cast<double>(static_cast<T>(-1))
                                           : static_cast<double>(std::numeric_limits<T>::lowest());
  FL_CHECK(d >= low && d <= static_cast<double>(std::numeric_limits<T>::max()), "value cannot be converted to type ",
           dtype_name(dtype), " without overflow: ", d);
  return static_cast<T>(static_cast<int64_t>(d));
}

float checked_float(const Scalar& s, DType dtype, double limit) {
  const double d = s.to_double();
  FL_CHECK(std::isinf(d) || std::isnan(d) || std::fabs(d) <= limit, "value cannot be converted to type ",
           dtype_name(dtype), " without overflow: ", d);
  return static_cast<float>(d);
}

}  // namespace

Scalar load_scalar(const void* p, DType dtype) {
  switch (dtype) {
    case DType::UInt8: return Scalar(int64_t{load_as<uint8_t>(p)});
    case DType::Int8: return Scalar(int64_t{load_as<int8_t>(p)});
    case DType::Int16: return Scalar(int64_t{load_as<int16_t>(p)});
    case DType::Int32: return Scalar(int64_t{load_as<int32_t>(p)});
    case DType::Int64: return Scalar(load_as<int64_t>(p));
    case DType::UInt16: return Scalar(int64_t{load_as<uint16_t>(p)});
    case DType::UInt32: return Scalar(int64_t{load_as<uint32_t>(p)});
    case DType::UInt64: return Scalar(static_cast<int64_t>(load_as<uint64_t>(p)));
    case DType::Float16: return Scalar(static_cast<double>(static_cast<float>(load_as<Half>(p))));
    case DType::BFloat16: return Scalar(static_cast<double>(static_cast<float>(load_as<BFloat16>(p))));
    case DType::Float32: return Scalar(static_cast<double>(load_as<float>(p)));
    case DType::Float64: return Scalar(load_as<double>(p));
    case DType::Bool: return Scalar(load_as<uint8_t>(p) != 0);
    case DType::Complex32: {
      const Half* h = static_cast<const Half*>(p);
      return Scalar(static_cast<float>(h[0]), static_cast<float>(h[1]));
    }
    case DType::Complex64: {
      auto c = load_as<Complex<float>>(p);
      return Scalar(c.re, c.im);
    }
    case DType::Complex128: {
      auto c = load_as<Complex<double>>(p);
      return Scalar(c.re, c.im);
    }
    case DType::Float8_e5m2:
    case DType::Float8_e4m3fn:
    case DType::Float8_e5m2fnuz:
    case DType::Float8_e4m3fnuz:
    case DType::Float8_e8m0fnu: return Scalar(static_cast<double>(float8_to_float(load_as<uint8_t>(p), dtype)));
    default: FL_CHECK_NOT_IMPLEMENTED(false, "[item] not implemented for dtype ", dtype_name(dtype));
  }
}

void store_scalar(void* p, DType dtype, const Scalar& s) {
  switch (dtype) {
    case DType::UInt8: return store_as(p, checked_int<uint8_t>(s, dtype));
    case DType::Int8: return store_as(p, checked_int<int8_t>(s, dtype));
    case DType::Int16: return store_as(p, checked_int<int16_t>(s, dtype));
    case DType::Int32: return store_as(p, checked_int<int32_t>(s, dtype));
    case DType::Int64: return store_as(p, s.is_integral() ? s.to_int() : checked_int<int64_t>(s, dtype));
    case DType::UInt16: return store_as(p, checked_int<uint16_t>(s, dtype));
    case DType::UInt32: return store_as(p, checked_int<uint32_t>(s, dtype));
    case DType::UInt64:
      return store_as(p, s.is_integral() ? static_cast<uint64_t>(s.to_int()) : static_cast<uint64_t>(s.to_double()));
    case DType::Float16: return store_as(p, Half(checked_float(s, dtype, 65504.0)));
    case DType::BFloat16: return store_as(p, BFloat16(checked_float(s, dtype, 3.3895313892515355e38)));
    case DType::Float32: return store_as(p, checked_float(s, dtype, 3.4028234663852886e38));
    case DType::Float64: return store_as(p, s.to_double());
    case DType::Bool: return store_as(p, static_cast<uint8_t>(s.to_bool()));
    case DType::Complex32: {
      Half h[2] = {Half(static_cast<float>(s.real())), Half(static_cast<float>(s.imag()))};
      std::memcpy(p, h, 4);
      return;
    }
    case DType::Complex64: {
      float c[2] = {static_cast<float>(s.real()), static_cast<float>(s.imag())};
      std::memcpy(p, c, 8);
      return;
    }
    case DType::Complex128: {
      double c[2] = {s.real(), s.imag()};
      std::memcpy(p, c, 16);
      return;
    }
    case DType::Float8_e5m2:
    case DType::Float8_e4m3fn:
    case DType::Float8_e5m2fnuz:
    case DType::Float8_e4m3fnuz:
    case DType::Float8_e8m0fnu: return store_as(p, float8_from_float(static_cast<float>(s.to_double()), dtype));
    default: FL_CHECK_NOT_IMPLEMENTED(false, "[fill_] not implemented for dtype ", dtype_name(dtype));
  }
}

// Modes and classes that handle operators see it; nobody else pays for a call.
Scalar item(const Tensor& t) {
  const DispatchState& s = dispatch_state();
  if (FL_UNLIKELY(((t.keys() | s.include) & ~s.exclude) & (key_bit(Key::Python) | key_bit(Key::PythonMode)))) {
    static const Operator& op = get_operator("aten", "_local_scalar_dense");
    if (!t.is_wrapped_number()) return call<Scalar>(op, t);
  }
  return read_scalar(t);
}

Scalar read_scalar(const Tensor& t) {
  FL_CHECK(t.numel() == 1, "a Tensor with ", t.numel(), " elements cannot be converted to Scalar");
  FL_CHECK(t.storage().data, "Tensor.item() cannot be called on ", device_type_name(t.device().type),
           " tensors: they have no data");
  check_storage(t, "item");
  return load_scalar(t.data(), t.dtype());
}

}  // namespace flambeau
