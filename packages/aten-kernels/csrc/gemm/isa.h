// Vectors of one instruction set, for sources that are compiled once per level (FL_ISA = v2, v3, v4; other
// architectures build one, called v2).
// Everything lives in a namespace of that name: the linker must never mix two builds of one template.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#ifndef FL_ISA
#define FL_ISA v2
#endif
#define FL_INLINE inline __attribute__((always_inline))

namespace flambeau::gemm::FL_ISA {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
constexpr int kRegisters = 32;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
constexpr int kRegisters = 16;
#else
constexpr int kVectorBytes = 16;
constexpr int kRegisters = 16;
#endif

template <size_t kBytes> struct IntOf {
  using type = int32_t;
};
template <> struct IntOf<8> {
  using type = int64_t;
};

template <class T> struct VecOf {
  typedef T type __attribute__((vector_size(kVectorBytes)));
  typedef typename IntOf<sizeof(T)>::type mask __attribute__((vector_size(kVectorBytes)));
  typedef T loose __attribute__((vector_size(kVectorBytes), aligned(alignof(T)), may_alias));
};
template <class T> using Vec = typename VecOf<T>::type;
template <class T> constexpr int kLanes = kVectorBytes / sizeof(T);

template <class T> FL_INLINE constexpr T smaller(T a, T b) { return a < b ? a : b; }

template <class T> FL_INLINE Vec<T> load(const T* p) { return *reinterpret_cast<const typename VecOf<T>::loose*>(p); }
template <class T> FL_INLINE void store(T* p, Vec<T> v) { *reinterpret_cast<typename VecOf<T>::loose*>(p) = v; }
// By shuffle: the bits may be no float at all (see kernels_bf16_isa.cpp).
template <class T> FL_INLINE Vec<T> splat(T x) {
  const Vec<T> first = {x};
  return __builtin_shuffle(first, typename VecOf<T>::mask{});
}

// a * b + c, fused where the instruction exists: these sources are built with -ffp-contract=off.
#if defined(__AVX512F__)
FL_INLINE Vec<float> fma(Vec<float> a, Vec<float> b, Vec<float> c) { return (Vec<float>)_mm512_fmadd_ps(a, b, c); }
FL_INLINE Vec<double> fma(Vec<double> a, Vec<double> b, Vec<double> c) { return (Vec<double>)_mm512_fmadd_pd(a, b, c); }
#elif defined(__FMA__)
FL_INLINE Vec<float> fma(Vec<float> a, Vec<float> b, Vec<float> c) { return (Vec<float>)_mm256_fmadd_ps(a, b, c); }
FL_INLINE Vec<double> fma(Vec<double> a, Vec<double> b, Vec<double> c) { return (Vec<double>)_mm256_fmadd_pd(a, b, c); }
#else
template <class V> FL_INLINE V fma(V a, V b, V c) { return a * b + c; }
#endif
#if defined(__FMA__)
FL_INLINE float fma1(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
FL_INLINE double fma1(double a, double b, double c) { return __builtin_fma(a, b, c); }
#else
template <class T> FL_INLINE T fma1(T a, T b, T c) { return a * b + c; }
#endif

// What the products accumulate with.
#if defined(FL_BF16_PAIRS)
FL_INLINE Vec<float> multiply_add(Vec<float> a, Vec<float> b, Vec<float> c) {
  return (Vec<float>)_mm512_dpbf16_ps((__m512)c, (__m512bh)a, (__m512bh)b);
}
#else
template <class V> FL_INLINE V multiply_add(V a, V b, V c) { return fma(a, b, c); }
#endif

// The first n lanes of a vector, 0 <= n <= kLanes.
template <class T> struct Head {
  int n;
#if defined(__AVX512F__)
  uint32_t bits;
  explicit FL_INLINE Head(int64_t count) : n(int(count)), bits((1u << int(count)) - 1u) {}
#else
  explicit FL_INLINE Head(int64_t count) : n(int(count)) {}
#endif
};

#if defined(__AVX512F__)
FL_INLINE Vec<float> load(const float* p, Head<float> h) {
  return (Vec<float>)_mm512_maskz_loadu_ps(static_cast<__mmask16>(h.bits), p);
}
FL_INLINE Vec<double> load(const double* p, Head<double> h) {
  return (Vec<double>)_mm512_maskz_loadu_pd(static_cast<__mmask8>(h.bits), p);
}
FL_INLINE void store(float* p, Vec<float> v, Head<float> h) {
  _mm512_mask_storeu_ps(p, static_cast<__mmask16>(h.bits), v);
}
FL_INLINE void store(double* p, Vec<double> v, Head<double> h) {
  _mm512_mask_storeu_pd(p, static_cast<__mmask8>(h.bits), v);
}
#else
template <class T> FL_INLINE Vec<T> load(const T* p, Head<T> h) {
  if (h.n == kLanes<T>) return load(p);
  alignas(kVectorBytes) T part[kLanes<T>] = {};
  for (int i = 0; i < h.n; i++) part[i] = p[i];
  return load(part);
}
template <class T> FL_INLINE void store(T* p, Vec<T> v, Head<T> h) {
  if (h.n == kLanes<T>) return store(p, v);
  for (int i = 0; i < h.n; i++) p[i] = v[i];
}
#endif

// Lanes [low, high) of the vector at p, zeros elsewhere; memory outside of them is not touched.
#if defined(__AVX512F__)
FL_INLINE Vec<float> load_range(const float* p, int low, int high) {
  return (Vec<float>)_mm512_maskz_loadu_ps(static_cast<__mmask16>(((1u << high) - 1u) & ~((1u << low) - 1u)), p);
}
FL_INLINE Vec<double> load_range(const double* p, int low, int high) {
  return (Vec<double>)_mm512_maskz_loadu_pd(static_cast<__mmask8>(((1u << high) - 1u) & ~((1u << low) - 1u)), p);
}
#else
template <class T> FL_INLINE Vec<T> load_range(const T* p, int low, int high) {
  if (low == 0 && high == kLanes<T>) return load(p);
  alignas(kVectorBytes) T part[kLanes<T>] = {};
  for (int i = low; i < high; i++) part[i] = p[i];
  return load(part);
}
#endif

FL_INLINE void prefetch(const void* p) { __builtin_prefetch(p, 0, 3); }

// a0 b0 a1 b1 ...: the low and the high half of it.
template <class T, int... I> struct Interleave {
  static constexpr int kWidth = sizeof...(I);
  static FL_INLINE Vec<T> low(Vec<T> a, Vec<T> b) {
    return __builtin_shufflevector(a, b, (I / 2 + (I % 2) * kWidth)...);
  }
  static FL_INLINE Vec<T> high(Vec<T> a, Vec<T> b) {
    return __builtin_shufflevector(a, b, (I / 2 + kWidth / 2 + (I % 2) * kWidth)...);
  }
};
// a0 a2 ... b0 b2 ...
template <class T, int... I> struct TakeEven {
  static FL_INLINE Vec<T> of(Vec<T> a, Vec<T> b) { return __builtin_shufflevector(a, b, 2 * I...); }
};
template <template <class, int...> class Shuffle, class T, int N, int... I>
struct WithLanes : WithLanes<Shuffle, T, N - 1, N - 1, I...> {};
template <template <class, int...> class Shuffle, class T, int... I> struct WithLanes<Shuffle, T, 0, I...> {
  using type = Shuffle<T, I...>;
};
template <class T> using Zip = typename WithLanes<Interleave, T, kLanes<T>>::type;
template <class T> using Evens = typename WithLanes<TakeEven, T, kLanes<T>>::type;

// Square transpose in log2(lanes) perfect shuffles.
template <class T> FL_INLINE void transpose(Vec<T> (&r)[kLanes<T>]) {
  constexpr int W = kLanes<T>;
#pragma GCC unroll 8
  for (int step = 1; step < W; step *= 2) {
    Vec<T> t[W];
#pragma GCC unroll 16
    for (int i = 0; i < W / 2; i++) {
      t[2 * i] = Zip<T>::low(r[i], r[i + W / 2]);
      t[2 * i + 1] = Zip<T>::high(r[i], r[i + W / 2]);
    }
#pragma GCC unroll 16
    for (int i = 0; i < W; i++) r[i] = t[i];
  }
}

// Lane i of the result is the sum over the lanes of r[i]. The order of additions is the same for every i.
template <class T> FL_INLINE Vec<T> sum_each(Vec<T> (&r)[kLanes<T>]) {
  constexpr int W = kLanes<T>;
#pragma GCC unroll 8
  for (int count = W; count > 1; count /= 2) {
#pragma GCC unroll 16
    for (int i = 0; i < count / 2; i++) {
      const Vec<T> low = Zip<T>::low(r[i], r[i + count / 2]);
      const Vec<T> high = Zip<T>::high(r[i], r[i + count / 2]);
      r[i] = low + high;
    }
  }
  return r[0];
}

}  // namespace flambeau::gemm::FL_ISA
