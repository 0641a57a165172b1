// Compiled once per instruction set.
#include "pointwise/block_memory.h"

#include <cstring>

#include "flambeau/core/half.h"
#include "pointwise/stream_copy.h"

namespace flambeau {
inline namespace FL_ISA {
namespace pw {
namespace {

template <typename T> void gather_as(char* dst, const char* src, int64_t stride, int64_t n) {
  for (int64_t i = 0; i < n; ++i) std::memcpy(dst + i * static_cast<int64_t>(sizeof(T)), src + i * stride, sizeof(T));
}

template <typename T> void scatter_as(char* dst, int64_t stride, const char* src, int64_t n) {
  for (int64_t i = 0; i < n; ++i) std::memcpy(dst + i * stride, src + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
}

struct Bytes16 {
  uint64_t a, b;
};

void gather_plain(char* dst, const char* src, int64_t stride, int64_t n, int size) {
  if (stride == size) {
    std::memcpy(dst, src, static_cast<size_t>(n * size));
    return;
  }
  switch (size) {
    case 1: return gather_as<uint8_t>(dst, src, stride, n);
    case 2: return gather_as<uint16_t>(dst, src, stride, n);
    case 4: return gather_as<uint32_t>(dst, src, stride, n);
    case 8: return gather_as<uint64_t>(dst, src, stride, n);
    default: return gather_as<Bytes16>(dst, src, stride, n);
  }
}

void scatter_plain(char* dst, int64_t stride, const char* src, int64_t n, int size) {
  if (stride == size) {
    std::memcpy(dst, src, static_cast<size_t>(n * size));
    return;
  }
  switch (size) {
    case 1: return scatter_as<uint8_t>(dst, stride, src, n);
    case 2: return scatter_as<uint16_t>(dst, stride, src, n);
    case 4: return scatter_as<uint32_t>(dst, stride, src, n);
    case 8: return scatter_as<uint64_t>(dst, stride, src, n);
    default: return scatter_as<Bytes16>(dst, stride, src, n);
  }
}

void widen(float* dst, const char* src, int64_t stride, int64_t n, Form form) {
  alignas(kBlockAlign) uint16_t packed[kMaxBlock];
  const auto* half = reinterpret_cast<const uint16_t*>(src);
  if (stride != 2) {
    gather_as<uint16_t>(reinterpret_cast<char*>(packed), src, stride, n);
    half = packed;
  }
  if (form == Form::kBFloat16) {
    for (int64_t i = 0; i < n; ++i) dst[i] = half_detail::bfloat16_to_float(half[i]);
    return;
  }
  int64_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8) {
    const __m128i h = _mm_loadu_si128(reinterpret_cast<const __m128i*>(half + i));
    _mm256_storeu_ps(dst + i, _mm256_cvtph_ps(h));
  }
#endif
  for (; i < n; ++i) dst[i] = half_detail::half_to_float_portable(half[i]);
}

void narrow(uint16_t* dst, const float* src, int64_t n, Form form) {
  if (form == Form::kBFloat16) {
    for (int64_t i = 0; i < n; ++i) dst[i] = half_detail::bfloat16_from_float(src[i]);
    return;
  }
  int64_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8) {
    const __m128i h = _mm256_cvtps_ph(_mm256_loadu_ps(src + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(dst + i), h);
  }
#endif
  for (; i < n; ++i) dst[i] = half_detail::half_from_float_portable(src[i]);
}

}  // namespace

void load_block(char* buffer, const char* src, int64_t stride, int64_t n, Lane lane) {
  if (lane.form == Form::kPlain) return gather_plain(buffer, src, stride, n, lane.size);
  widen(reinterpret_cast<float*>(buffer), src, stride, n, lane.form);
}

// Copies `buffer` to where the output lies; `streamed` outputs are contiguous.
void store_block(char* dst, int64_t stride, const char* buffer, int64_t n, Lane lane, bool streamed) {
  alignas(kBlockAlign) uint16_t packed[kMaxBlock];
  if (lane.form != Form::kPlain) {
    const auto* values = reinterpret_cast<const float*>(buffer);
    if (stride == 2 && !streamed) return narrow(reinterpret_cast<uint16_t*>(dst), values, n, lane.form);
    narrow(packed, values, n, lane.form);
    buffer = reinterpret_cast<const char*>(packed);
  }
  if (streamed) return stream_copy(dst, buffer, n * lane.size);
  scatter_plain(dst, stride, buffer, n, lane.size);
}

}  // namespace pw
}  // namespace FL_ISA
}  // namespace flambeau
