// Copies that go past the caches, for results too large to be found there again.
#pragma once

#include <cstdint>
#include <cstring>

#include "math/isa.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace flambeau {
inline namespace FL_ISA {
namespace pw {

#if defined(__AVX512F__)
inline constexpr int64_t kStreamBytes = 64;
FL_VM void stream_line(char* dst, const char* src) {
  _mm512_stream_si512(reinterpret_cast<__m512i*>(dst), _mm512_loadu_si512(src));
}
#elif defined(__AVX__)
inline constexpr int64_t kStreamBytes = 32;
FL_VM void stream_line(char* dst, const char* src) {
  _mm256_stream_si256(reinterpret_cast<__m256i*>(dst), _mm256_loadu_si256(reinterpret_cast<const __m256i*>(src)));
}
#elif defined(__SSE2__)
inline constexpr int64_t kStreamBytes = 16;
FL_VM void stream_line(char* dst, const char* src) {
  _mm_stream_si128(reinterpret_cast<__m128i*>(dst), _mm_loadu_si128(reinterpret_cast<const __m128i*>(src)));
}
#else
inline constexpr int64_t kStreamBytes = 16;
FL_VM void stream_line(char* dst, const char* src) { std::memcpy(dst, src, 16); }
#endif

FL_VM void stream_copy(char* dst, const char* src, int64_t bytes) {
  auto head = static_cast<int64_t>(-reinterpret_cast<uintptr_t>(dst) & static_cast<uintptr_t>(kStreamBytes - 1));
  head = head < bytes ? head : bytes;
  std::memcpy(dst, src, static_cast<size_t>(head));
  int64_t i = head;
  for (; i + kStreamBytes <= bytes; i += kStreamBytes) stream_line(dst + i, src + i);
  std::memcpy(dst + i, src + i, static_cast<size_t>(bytes - i));
}

// Streaming stores are not ordered with others: call this before another thread may read the result.
FL_VM void stream_fence() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

}  // namespace pw
}  // namespace FL_ISA
}  // namespace flambeau
