#include "flambeau/core/dtype.h"

#include <atomic>

#include "flambeau/core/error.h"

namespace flambeau {
namespace {

// Rank inside a category; promotion across categories follows bool < integral < floating < complex.
int category_rank(DType t) {
  if (is_bool(t)) return 0;
  if (is_integral(t)) return 1;
  if (is_floating(t)) return 2;
  if (is_complex(t)) return 3;
  return -1;
}

DType promote_integral(DType a, DType b) {
  if (a == b) return a;
  const bool ua = is_unsigned(a), ub = is_unsigned(b);
  if (ua == ub) return item_size(a) > item_size(b) ? a : b;
  const DType u = ua ? a : b, s = ua ? b : a;
  FL_CHECK(u == DType::UInt8, "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote ",
           dtype_name(a), " and ", dtype_name(b));
  return s == DType::Int8 ? DType::Int16 : s;
}

DType promote_floating(DType a, DType b) {
  if (a == b) return a;
  FL_CHECK(!is_float8(a) && !is_float8(b), "Promotion for Float8 Types is not supported, attempted to promote ",
           dtype_name(a), " and ", dtype_name(b));
  if (item_size(a) == item_size(b)) return DType::Float32;  // float16 with bfloat16
  return item_size(a) > item_size(b) ? a : b;
}

std::atomic<DType> g_default_dtype{DType::Float32};

}  // namespace

DType promote_types(DType a, DType b) {
  if (a == b) return a;
  const int ra = category_rank(a), rb = category_rank(b);
  FL_CHECK(ra >= 0 && rb >= 0, "promote_types: no promotion between ", dtype_name(a), " and ", dtype_name(b));
  if (ra != rb) {
    const DType high = ra > rb ? a : b, low = ra > rb ? b : a;
    FL_CHECK(!is_float8(low), "Promotion for Float8 Types is not supported, attempted to promote ", dtype_name(a),
             " and ", dtype_name(b));
    if (is_complex(high) && is_floating(low)) return to_complex(promote_floating(to_real(high), low));
    return high;
  }
  switch (ra) {
    case 1: return promote_integral(a, b);
    case 2: return promote_floating(a, b);
    case 3: return to_complex(promote_floating(to_real(a), to_real(b)));
    default: return a;
  }
}

bool can_cast(DType from, DType to) {
  if (is_complex(from) && !is_complex(to)) return false;
  if (is_floating(from) && is_integral(to, true)) return false;
  if (is_integral(from) && is_bool(to)) return false;
  return true;
}

DType default_dtype() { return g_default_dtype.load(std::memory_order_relaxed); }

void set_default_dtype(DType t) {
  FL_CHECK_TYPE(is_floating(t), "only floating-point types are supported as the default type, got ", dtype_name(t));
  g_default_dtype.store(t, std::memory_order_relaxed);
}

const char* layout_name(Layout l) {
  switch (l) {
    case Layout::Strided: return "strided";
    case Layout::Sparse: return "sparse_coo";
    case Layout::SparseCsr: return "sparse_csr";
    case Layout::SparseCsc: return "sparse_csc";
    case Layout::SparseBsr: return "sparse_bsr";
    case Layout::SparseBsc: return "sparse_bsc";
    case Layout::Mkldnn: return "_mkldnn";
    case Layout::Jagged: return "jagged";
  }
  return "unknown";
}

const char* memory_format_name(MemoryFormat m) {
  switch (m) {
    case MemoryFormat::Contiguous: return "contiguous_format";
    case MemoryFormat::Preserve: return "preserve_format";
    case MemoryFormat::ChannelsLast: return "channels_last";
    case MemoryFormat::ChannelsLast3d: return "channels_last_3d";
  }
  return "unknown";
}

}  // namespace flambeau
