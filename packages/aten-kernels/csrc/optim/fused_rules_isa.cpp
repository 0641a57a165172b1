// Compiled once per instruction set. The arithmetic is that of the rules in flambeau.optim, operation by operation, so
// that both give the same numbers to rounding; loops are plain and without branches, for the compiler to vectorise.
#include "optim/fused_rules.h"

#include <cstring>

// Options are looked at in every element, by selects: a copy of each loop for each option is not worth its size.
#pragma GCC optimize("no-unswitch-loops")
// The arrays of a row are different tensors, so no check for overlap is needed either.
#define FL_NO_OVERLAP _Pragma("GCC ivdep")

namespace flambeau::optim::FL_ISA {
namespace {

float root(float x) { return __builtin_sqrtf(x); }
double root(double x) { return __builtin_sqrt(x); }

// torch's lerp: from the end that is nearer, so that a weight of one gives the end exactly.
template <class T> inline T blend(T a, T b, T weight) {
  return weight < T(0.5) ? a + weight * (b - a) : b - (b - a) * (T(1) - weight);
}

// Without decay the parameter is left out, not multiplied by zero: it may be infinite.
template <class T> inline T descent(T grad, T param, T sign, T decay) {
  return sign * grad + (decay == T(0) ? T(0) : decay * param);
}

template <class T, bool kDecoupled, bool kAmsgrad>
void adam_loop(const Row& row, const Options& o, int64_t begin, int64_t end) {
  T* __restrict p = static_cast<T*>(row.param);
  const T* __restrict g = static_cast<const T*>(row.grad);
  T* __restrict m = static_cast<T*>(row.state[0]);
  T* __restrict v = static_cast<T*>(row.state[1]);
  T* __restrict largest = static_cast<T*>(row.state[2]);
  const T sign = o.maximize ? T(-1) : T(1);
  const T decay = kDecoupled ? T(0) : static_cast<T>(o.weight_decay);
  const T keep = static_cast<T>(1 - o.lr * o.weight_decay);
  const T w1 = static_cast<T>(1 - o.beta1), b2 = static_cast<T>(o.beta2), w2 = static_cast<T>(1 - o.beta2);
  const T correction = static_cast<T>(__builtin_sqrt(1 - __builtin_pow(o.beta2, row.step)));
  const T rate = static_cast<T>(-o.lr / (1 - __builtin_pow(o.beta1, row.step)));
  const T eps = static_cast<T>(o.eps);
  FL_NO_OVERLAP
  for (int64_t i = begin; i < end; ++i) {
    const T x = kDecoupled ? p[i] * keep : p[i];
    const T grad = kDecoupled ? sign * g[i] : descent(g[i], x, sign, decay);
    const T mean = blend(m[i], grad, w1);
    const T square = v[i] * b2 + w2 * (grad * grad);
    m[i] = mean;
    v[i] = square;
    T used = square;
    if constexpr (kAmsgrad) {
      const T old = largest[i];
      // As maximum: a NaN on either side stays.
      used = old != old || old > square ? old : square;
      largest[i] = used;
    }
    p[i] = x + rate * (mean / (root(used) / correction + eps));
  }
}

template <class T> void adam(const Row& row, const Options& o, int64_t begin, int64_t end) {
  if (o.decoupled) {
    return o.amsgrad ? adam_loop<T, true, true>(row, o, begin, end) : adam_loop<T, true, false>(row, o, begin, end);
  }
  return o.amsgrad ? adam_loop<T, false, true>(row, o, begin, end) : adam_loop<T, false, false>(row, o, begin, end);
}

template <class T> void sgd_plain(const Row& row, const Options& o, int64_t begin, int64_t end) {
  T* __restrict p = static_cast<T*>(row.param);
  const T* __restrict g = static_cast<const T*>(row.grad);
  const T sign = o.maximize ? T(-1) : T(1);
  const T decay = static_cast<T>(o.weight_decay), rate = static_cast<T>(-o.lr);
  FL_NO_OVERLAP
  for (int64_t i = begin; i < end; ++i) p[i] = p[i] + rate * descent(g[i], p[i], sign, decay);
}

template <class T, bool kNesterov> void sgd_loop(const Row& row, const Options& o, int64_t begin, int64_t end) {
  T* __restrict p = static_cast<T*>(row.param);
  const T* __restrict g = static_cast<const T*>(row.grad);
  T* __restrict buffer = static_cast<T*>(row.state[0]);
  const T sign = o.maximize ? T(-1) : T(1);
  const T decay = static_cast<T>(o.weight_decay), rate = static_cast<T>(-o.lr);
  const T momentum = static_cast<T>(o.momentum), fresh = o.first ? T(1) : static_cast<T>(1 - o.dampening);
  // The first buffer is the gradient itself.
  if (o.first) std::memset(buffer + begin, 0, static_cast<size_t>(end - begin) * sizeof(T));
  FL_NO_OVERLAP
  for (int64_t i = begin; i < end; ++i) {
    const T grad = descent(g[i], p[i], sign, decay);
    const T next = buffer[i] * momentum + fresh * grad;
    buffer[i] = next;
    p[i] = p[i] + rate * (kNesterov ? grad + momentum * next : next);
  }
}

template <class T> void sgd(const Row& row, const Options& o, int64_t begin, int64_t end) {
  if (row.state[0] == nullptr) return sgd_plain<T>(row, o, begin, end);
  return o.nesterov ? sgd_loop<T, true>(row, o, begin, end) : sgd_loop<T, false>(row, o, begin, end);
}

template <class T> void adagrad(const Row& row, const Options& o, int64_t begin, int64_t end) {
  T* __restrict p = static_cast<T*>(row.param);
  const T* __restrict g = static_cast<const T*>(row.grad);
  T* __restrict sum = static_cast<T*>(row.state[0]);
  const T sign = o.maximize ? T(-1) : T(1);
  const T decay = static_cast<T>(o.weight_decay), eps = static_cast<T>(o.eps);
  const T rate = static_cast<T>(-o.lr / (1 + (row.step - 1) * o.lr_decay));
  FL_NO_OVERLAP
  for (int64_t i = begin; i < end; ++i) {
    const T grad = descent(g[i], p[i], sign, decay);
    const T total = sum[i] + grad * grad;
    sum[i] = total;
    p[i] = p[i] + rate * (grad / (root(total) + eps));
  }
}

template <class T, bool kCentered, bool kMomentum>
void rmsprop_loop(const Row& row, const Options& o, int64_t begin, int64_t end) {
  T* __restrict p = static_cast<T*>(row.param);
  const T* __restrict g = static_cast<const T*>(row.grad);
  T* __restrict squares = static_cast<T*>(row.state[0]);
  T* __restrict means = static_cast<T*>(row.state[1]);
  T* __restrict buffer = static_cast<T*>(row.state[2]);
  const T sign = o.maximize ? T(-1) : T(1);
  const T decay = static_cast<T>(o.weight_decay), eps = static_cast<T>(o.eps), rate = static_cast<T>(-o.lr);
  const T alpha = static_cast<T>(o.alpha), rest = static_cast<T>(1 - o.alpha), momentum = static_cast<T>(o.momentum);
  FL_NO_OVERLAP
  for (int64_t i = begin; i < end; ++i) {
    const T grad = descent(g[i], p[i], sign, decay);
    const T square = squares[i] * alpha + rest * (grad * grad);
    squares[i] = square;
    T under_root = square;
    if constexpr (kCentered) {
      const T mean = blend(means[i], grad, rest);
      means[i] = mean;
      under_root = square - mean * mean;
    }
    const T step = grad / (root(under_root) + eps);
    if constexpr (kMomentum) {
      const T next = buffer[i] * momentum + step;
      buffer[i] = next;
      p[i] = p[i] + rate * next;
    } else {
      p[i] = p[i] + rate * step;
    }
  }
}

template <class T> void rmsprop(const Row& row, const Options& o, int64_t begin, int64_t end) {
  if (o.centered) {
    return o.momentum > 0 ? rmsprop_loop<T, true, true>(row, o, begin, end)
                          : rmsprop_loop<T, true, false>(row, o, begin, end);
  }
  return o.momentum > 0 ? rmsprop_loop<T, false, true>(row, o, begin, end)
                        : rmsprop_loop<T, false, false>(row, o, begin, end);
}

template <class T> void divide(void* x, double by, int64_t n) {
  T* p = static_cast<T*>(x);
  const T d = static_cast<T>(by);
  for (int64_t i = 0; i < n; ++i) p[i] = p[i] / d;
}

template <class T> void add(void* x, double value, int64_t n) {
  T* p = static_cast<T*>(x);
  const T d = static_cast<T>(value);
  for (int64_t i = 0; i < n; ++i) p[i] = p[i] + d;
}

}  // namespace

extern const RuleTable rules_f32;
extern const RuleTable rules_f64;
const RuleTable rules_f32 = {adam<float>, sgd<float>, adagrad<float>, rmsprop<float>, divide<float>, add<float>};
const RuleTable rules_f64 = {adam<double>, sgd<double>, adagrad<double>, rmsprop<double>, divide<double>, add<double>};

}  // namespace flambeau::optim::FL_ISA
