#include "pointwise/convert_loops.h"

#include <cstring>

#include "flambeau/core/complex.h"
#include "flambeau/core/float8.h"
#include "flambeau/core/half.h"
#include "math/convert.h"

namespace flambeau {
namespace {

template <class To, class From> void convert_run(char* const* p, const int64_t* s, int64_t n) {
  char *d = p[0], *q = p[1];
  if (s[0] == sizeof(To) && s[1] == sizeof(From)) {
    To* __restrict out = reinterpret_cast<To*>(d);
    const From* __restrict in = reinterpret_cast<const From*>(q);
    for (int64_t i = 0; i < n; ++i) out[i] = vm::convert<To>(in[i]);
    return;
  }
  for (int64_t i = 0; i < n; ++i, d += s[0], q += s[1])
    *reinterpret_cast<To*>(d) = vm::convert<To>(*reinterpret_cast<const From*>(q));
}

template <class From> ConvertLoop to_type(DType to) {
  switch (to) {
    case DType::Bool: return convert_run<bool, From>;
    case DType::UInt8: return convert_run<uint8_t, From>;
    case DType::Int8: return convert_run<int8_t, From>;
    case DType::Int16: return convert_run<int16_t, From>;
    case DType::Int32: return convert_run<int32_t, From>;
    case DType::Int64: return convert_run<int64_t, From>;
    case DType::UInt16: return convert_run<uint16_t, From>;
    case DType::UInt32: return convert_run<uint32_t, From>;
    case DType::UInt64: return convert_run<uint64_t, From>;
    case DType::Float16: return convert_run<Half, From>;
    case DType::BFloat16: return convert_run<BFloat16, From>;
    case DType::Float32: return convert_run<float, From>;
    case DType::Float64: return convert_run<double, From>;
    case DType::Complex64: return convert_run<Complex<float>, From>;
    case DType::Complex128: return convert_run<Complex<double>, From>;
    default: return nullptr;
  }
}

ConvertLoop plain_loop(DType from, DType to) {
  switch (from) {
    case DType::Bool: return to_type<bool>(to);
    case DType::UInt8: return to_type<uint8_t>(to);
    case DType::Int8: return to_type<int8_t>(to);
    case DType::Int16: return to_type<int16_t>(to);
    case DType::Int32: return to_type<int32_t>(to);
    case DType::Int64: return to_type<int64_t>(to);
    case DType::UInt16: return to_type<uint16_t>(to);
    case DType::UInt32: return to_type<uint32_t>(to);
    case DType::UInt64: return to_type<uint64_t>(to);
    case DType::Float16: return to_type<Half>(to);
    case DType::BFloat16: return to_type<BFloat16>(to);
    case DType::Float32: return to_type<float>(to);
    case DType::Float64: return to_type<double>(to);
    case DType::Complex64: return to_type<Complex<float>>(to);
    case DType::Complex128: return to_type<Complex<double>>(to);
    default: return nullptr;
  }
}

// 8-bit floats and complex32 are for storage: they pass through float32 and complex64, a block at a time.
template <DType Kind, bool FromFloat8, DType Other> void float8_run(char* const* p, const int64_t* s, int64_t n) {
  float block[256];
  const ConvertLoop other = plain_loop(FromFloat8 ? DType::Float32 : Other, FromFloat8 ? Other : DType::Float32);
  for (int64_t at = 0; at < n; at += 256) {
    const int64_t m = n - at < 256 ? n - at : 256;
    char *d = p[0] + at * s[0], *q = p[1] + at * s[1];
    if constexpr (FromFloat8) {
      for (int64_t i = 0; i < m; ++i) block[i] = float8_to_float(*reinterpret_cast<uint8_t*>(q + i * s[1]), Kind);
      char* ptrs[2] = {d, reinterpret_cast<char*>(block)};
      const int64_t strides[2] = {s[0], 4};
      other(ptrs, strides, m);
    } else {
      char* ptrs[2] = {reinterpret_cast<char*>(block), q};
      const int64_t strides[2] = {4, s[1]};
      other(ptrs, strides, m);
      for (int64_t i = 0; i < m; ++i) *reinterpret_cast<uint8_t*>(d + i * s[0]) = float8_from_float(block[i], Kind);
    }
  }
}

template <DType Kind, bool FromFloat8> ConvertLoop float8_loop(DType other) {
  switch (other) {
#define FL_CASE(T) \
  case DType::T: return float8_run<Kind, FromFloat8, DType::T>;
    FL_CASE(Bool)
    FL_CASE(UInt8)
    FL_CASE(Int8)
    FL_CASE(Int16)
    FL_CASE(Int32)
    FL_CASE(Int64)
    FL_CASE(Float16)
    FL_CASE(BFloat16)
    FL_CASE(Float32)
    FL_CASE(Float64)
#undef FL_CASE
    default: return nullptr;
  }
}

template <bool FromFloat8> ConvertLoop float8_kind(DType kind, DType other) {
  switch (kind) {
    case DType::Float8_e5m2: return float8_loop<DType::Float8_e5m2, FromFloat8>(other);
    case DType::Float8_e4m3fn: return float8_loop<DType::Float8_e4m3fn, FromFloat8>(other);
    case DType::Float8_e5m2fnuz: return float8_loop<DType::Float8_e5m2fnuz, FromFloat8>(other);
    case DType::Float8_e4m3fnuz: return float8_loop<DType::Float8_e4m3fnuz, FromFloat8>(other);
    case DType::Float8_e8m0fnu: return float8_loop<DType::Float8_e8m0fnu, FromFloat8>(other);
    default: return nullptr;
  }
}

void complex32_to_64(char* const* p, const int64_t* s, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const Half* h = reinterpret_cast<const Half*>(p[1] + i * s[1]);
    float* f = reinterpret_cast<float*>(p[0] + i * s[0]);
    f[0] = h[0];
    f[1] = h[1];
  }
}
void complex64_to_32(char* const* p, const int64_t* s, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const float* f = reinterpret_cast<const float*>(p[1] + i * s[1]);
    Half* h = reinterpret_cast<Half*>(p[0] + i * s[0]);
    h[0] = Half(f[0]);
    h[1] = Half(f[1]);
  }
}

template <DType Other, bool FromC32> void complex32_run(char* const* p, const int64_t* s, int64_t n) {
  Complex<float> block[128];
  for (int64_t at = 0; at < n; at += 128) {
    const int64_t m = n - at < 128 ? n - at : 128;
    char* mid[2];
    int64_t ms[2];
    char* const d = p[0] + at * s[0];
    char* const q = p[1] + at * s[1];
    mid[0] = reinterpret_cast<char*>(block), mid[1] = q, ms[0] = 8, ms[1] = s[1];
    (FromC32 ? ConvertLoop(complex32_to_64) : plain_loop(Other, DType::Complex64))(mid, ms, m);
    mid[0] = d, mid[1] = reinterpret_cast<char*>(block), ms[0] = s[0], ms[1] = 8;
    (FromC32 ? plain_loop(DType::Complex64, Other) : ConvertLoop(complex64_to_32))(mid, ms, m);
  }
}

template <bool FromC32> ConvertLoop complex32_loop(DType other) {
  if (other == DType::Complex64) return FromC32 ? ConvertLoop(complex32_to_64) : ConvertLoop(complex64_to_32);
  switch (other) {
#define FL_CASE(T) \
  case DType::T: return complex32_run<DType::T, FromC32>;
    FL_CASE(Bool)
    FL_CASE(UInt8)
    FL_CASE(Int8)
    FL_CASE(Int16)
    FL_CASE(Int32)
    FL_CASE(Int64)
    FL_CASE(Float16)
    FL_CASE(BFloat16)
    FL_CASE(Float32)
    FL_CASE(Float64)
    FL_CASE(Complex128)
#undef FL_CASE
    default: return nullptr;
  }
}

void copy_complex64(char* const* p, const int64_t* s, int64_t n) {
  for (int64_t i = 0; i < n; ++i) std::memcpy(p[0] + i * s[0], p[1] + i * s[1], 8);
}

}  // namespace

ConvertLoop convert_loop(DType from, DType to) {
  if (from == to && from == DType::Complex64) return copy_complex64;
  if (from == DType::Complex32) return complex32_loop<true>(to);
  if (to == DType::Complex32) return complex32_loop<false>(from);
  if (is_floating(from) && item_size(from) == 1) return float8_kind<true>(from, to);
  if (is_floating(to) && item_size(to) == 1) return float8_kind<false>(to, from);
  return plain_loop(from, to);
}

}  // namespace flambeau
