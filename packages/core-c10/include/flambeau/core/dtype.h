#pragma once
/// Element types. The numbering is the one torch uses on disk and over DLPack-free interfaces, so that
/// files and pickles interchange; gaps are never reused.
#include <cstdint>

#include "flambeau/core/export.h"

namespace flambeau {

// FL_FORALL_DTYPES(_)  _(Enumerator, number, python name, size in bytes, category)
// Categories: B bool, U unsigned, I signed, F floating, C complex, Q quantised, S storage only.
#define FL_FORALL_DTYPES(_)                         \
  _(UInt8, 0, "uint8", 1, 'U')                      \
  _(Int8, 1, "int8", 1, 'I')                        \
  _(Int16, 2, "int16", 2, 'I')                      \
  _(Int32, 3, "int32", 4, 'I')                      \
  _(Int64, 4, "int64", 8, 'I')                      \
  _(Float16, 5, "float16", 2, 'F')                  \
  _(Float32, 6, "float32", 4, 'F')                  \
  _(Float64, 7, "float64", 8, 'F')                  \
  _(Complex32, 8, "complex32", 4, 'C')              \
  _(Complex64, 9, "complex64", 8, 'C')              \
  _(Complex128, 10, "complex128", 16, 'C')          \
  _(Bool, 11, "bool", 1, 'B')                       \
  _(QInt8, 12, "qint8", 1, 'Q')                     \
  _(QUInt8, 13, "quint8", 1, 'Q')                   \
  _(QInt32, 14, "qint32", 4, 'Q')                   \
  _(BFloat16, 15, "bfloat16", 2, 'F')               \
  _(QUInt4x2, 16, "quint4x2", 1, 'Q')               \
  _(QUInt2x4, 17, "quint2x4", 1, 'Q')               \
  _(Bits1x8, 18, "bits1x8", 1, 'S')                 \
  _(Bits2x4, 19, "bits2x4", 1, 'S')                 \
  _(Bits4x2, 20, "bits4x2", 1, 'S')                 \
  _(Bits8, 21, "bits8", 1, 'S')                     \
  _(Bits16, 22, "bits16", 2, 'S')                   \
  _(Float8_e5m2, 23, "float8_e5m2", 1, 'F')         \
  _(Float8_e4m3fn, 24, "float8_e4m3fn", 1, 'F')     \
  _(Float8_e5m2fnuz, 25, "float8_e5m2fnuz", 1, 'F') \
  _(Float8_e4m3fnuz, 26, "float8_e4m3fnuz", 1, 'F') \
  _(UInt16, 27, "uint16", 2, 'U')                   \
  _(UInt32, 28, "uint32", 4, 'U')                   \
  _(UInt64, 29, "uint64", 8, 'U')                   \
  _(UInt1, 30, "uint1", 1, 'S')                     \
  _(UInt2, 31, "uint2", 1, 'S')                     \
  _(UInt3, 32, "uint3", 1, 'S')                     \
  _(UInt4, 33, "uint4", 1, 'S')                     \
  _(UInt5, 34, "uint5", 1, 'S')                     \
  _(UInt6, 35, "uint6", 1, 'S')                     \
  _(UInt7, 36, "uint7", 1, 'S')                     \
  _(Int1, 37, "int1", 1, 'S')                       \
  _(Int2, 38, "int2", 1, 'S')                       \
  _(Int3, 39, "int3", 1, 'S')                       \
  _(Int4, 40, "int4", 1, 'S')                       \
  _(Int5, 41, "int5", 1, 'S')                       \
  _(Int6, 42, "int6", 1, 'S')                       \
  _(Int7, 43, "int7", 1, 'S')                       \
  _(Float8_e8m0fnu, 44, "float8_e8m0fnu", 1, 'F')   \
  _(Float4_e2m1fn_x2, 45, "float4_e2m1fn_x2", 1, 'F')

enum class DType : int8_t {
#define FL_ENUM(name, number, py, size, cat) name = number,
  FL_FORALL_DTYPES(FL_ENUM)
#undef FL_ENUM
      Undefined = -1,
};

inline constexpr int kNumDTypes = 46;

namespace detail {
inline constexpr uint8_t kItemSize[kNumDTypes] = {
#define FL_SIZE(name, number, py, size, cat) size,
    FL_FORALL_DTYPES(FL_SIZE)
#undef FL_SIZE
};
inline constexpr char kCategory[kNumDTypes] = {
#define FL_CAT(name, number, py, size, cat) cat,
    FL_FORALL_DTYPES(FL_CAT)
#undef FL_CAT
};
inline constexpr const char* kName[kNumDTypes] = {
#define FL_NAME(name, number, py, size, cat) py,
    FL_FORALL_DTYPES(FL_NAME)
#undef FL_NAME
};
}  // namespace detail

constexpr int64_t item_size(DType t) { return detail::kItemSize[static_cast<int>(t)]; }
constexpr const char* dtype_name(DType t) {
  return t == DType::Undefined ? "undefined" : detail::kName[static_cast<int>(t)];
}
constexpr bool is_floating(DType t) { return detail::kCategory[static_cast<int>(t)] == 'F'; }
constexpr bool is_complex(DType t) { return detail::kCategory[static_cast<int>(t)] == 'C'; }
constexpr bool is_bool(DType t) { return t == DType::Bool; }
constexpr bool is_unsigned(DType t) { return detail::kCategory[static_cast<int>(t)] == 'U'; }
/// Integers, bool excluded unless asked for.
constexpr bool is_integral(DType t, bool include_bool = false) {
  char c = detail::kCategory[static_cast<int>(t)];
  return c == 'U' || c == 'I' || (include_bool && c == 'B');
}
constexpr bool is_float8(DType t) { return is_floating(t) && item_size(t) == 1; }
constexpr bool is_signed(DType t) { return !(is_bool(t) || is_unsigned(t)); }
constexpr DType to_real(DType t) {
  switch (t) {
    case DType::Complex32: return DType::Float16;
    case DType::Complex64: return DType::Float32;
    case DType::Complex128: return DType::Float64;
    default: return t;
  }
}
constexpr DType to_complex(DType t) {
  switch (t) {
    case DType::Float16:
    case DType::Complex32: return DType::Complex32;
    case DType::Float64:
    case DType::Complex128: return DType::Complex128;
    default: return DType::Complex64;
  }
}

/// Smallest type both convert to without leaving their category (torch.promote_types).
/// Throws TypeError for pairs that torch refuses (float8 with others, quantised, bit types).
FL_API DType promote_types(DType a, DType b);
/// Whether a result of type `from` may be stored into `to` (torch.can_cast).
FL_API bool can_cast(DType from, DType to);

/// torch.get_default_dtype: what Python floats become. Process wide.
FL_API DType default_dtype();
FL_API void set_default_dtype(DType t);

enum class Layout : int8_t {
  Strided = 0,
  Sparse = 1,
  SparseCsr = 2,
  Mkldnn = 3,
  SparseCsc = 4,
  SparseBsr = 5,
  SparseBsc = 6,
  Jagged = 7
};
enum class MemoryFormat : int8_t { Contiguous = 0, Preserve = 1, ChannelsLast = 2, ChannelsLast3d = 3 };
FL_API const char* layout_name(Layout l);
FL_API const char* memory_format_name(MemoryFormat m);

}  // namespace flambeau
