#include "index/element_ops.h"

namespace flambeau {

namespace {

// Half types compute in float and round once an element, as torch's do.
template <class T> struct Wide {
  using type = T;
};
template <> struct Wide<Half> {
  using type = float;
};
template <> struct Wide<BFloat16> {
  using type = float;
};

template <class T> struct Unsigned {
  using type = T;
};  // so that integer overflow wraps
template <> struct Unsigned<int32_t> {
  using type = uint32_t;
};
template <> struct Unsigned<int64_t> {
  using type = uint64_t;
};
template <> struct Unsigned<int16_t> {
  using type = uint32_t;
};
template <> struct Unsigned<uint16_t> {
  using type = uint32_t;
};

template <Combine op, class T> inline T combined(T a, T b) {
  if constexpr (std::is_same_v<T, bool>) {
    return op == Combine::Add || op == Combine::Max ? (a || b) : (a && b);
  } else if constexpr (op == Combine::Add) {
    using U = typename Unsigned<typename Wide<T>::type>::type;
    return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
  } else if constexpr (op == Combine::Multiply) {
    using U = typename Unsigned<typename Wide<T>::type>::type;
    return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
  } else {
    const typename Wide<T>::type x = a, y = b;
    if (x != x) return a;
    if (y != y) return b;
    if constexpr (op == Combine::Max)
      return x < y ? b : a;
    else
      return y < x ? b : a;
  }
}

template <Combine op, class T> void run(char* self, int64_t ss, const char* source, int64_t cs, int64_t n) {
  if (ss == sizeof(T) && cs == sizeof(T)) {
    T* a = reinterpret_cast<T*>(self);
    const T* b = reinterpret_cast<const T*>(source);
    for (int64_t i = 0; i < n; ++i) a[i] = combined<op, T>(a[i], b[i]);
    return;
  }
  for (int64_t i = 0; i < n; ++i, self += ss, source += cs) {
    T& a = *reinterpret_cast<T*>(self);
    a = combined<op, T>(a, *reinterpret_cast<const T*>(source));
  }
}

template <Combine op, class T>
void run_indexed(char* self, int64_t ss, const char* index, int64_t is, int64_t step, const char* source, int64_t cs,
                 int64_t n) {
  if (is == 0) return run<op, T>(self + *reinterpret_cast<const int64_t*>(index) * step, ss, source, cs, n);
  for (int64_t i = 0; i < n; ++i, self += ss, index += is, source += cs) {
    T& a = *reinterpret_cast<T*>(self + *reinterpret_cast<const int64_t*>(index) * step);
    a = combined<op, T>(a, *reinterpret_cast<const T*>(source));
  }
}

struct Loops {
  CombineLoop plain;
  CombineIndexedLoop indexed;
};

template <Combine op> Loops loops_of(DType dtype) {
#define FL_CASE(name, T) \
  case DType::name: return {&run<op, T>, &run_indexed<op, T>};
  switch (dtype) {
    FL_CASE(UInt8, uint8_t)
    FL_CASE(Int8, int8_t)
    FL_CASE(Int16, int16_t)
    FL_CASE(Int32, int32_t)
    FL_CASE(Int64, int64_t)
    FL_CASE(UInt16, uint16_t)
    FL_CASE(UInt32, uint32_t)
    FL_CASE(UInt64, uint64_t)
    FL_CASE(Bool, bool)
    FL_CASE(Float16, Half)
    FL_CASE(BFloat16, BFloat16)
    FL_CASE(Float32, float)
    FL_CASE(Float64, double)
    default: break;
  }
  if constexpr (op == Combine::Add || op == Combine::Multiply) {
    switch (dtype) {
      FL_CASE(Complex64, Complex<float>)
      FL_CASE(Complex128, Complex<double>)
      default: break;
    }
  }
#undef FL_CASE
  return {nullptr, nullptr};
}

Loops find(Combine op, DType dtype) {
  switch (op) {
    case Combine::Add: return loops_of<Combine::Add>(dtype);
    case Combine::Multiply: return loops_of<Combine::Multiply>(dtype);
    case Combine::Max: return loops_of<Combine::Max>(dtype);
    default: return loops_of<Combine::Min>(dtype);
  }
}

}  // namespace

CombineLoop combine_loop(Combine op, DType dtype) { return find(op, dtype).plain; }
CombineIndexedLoop combine_indexed_loop(Combine op, DType dtype) { return find(op, dtype).indexed; }

}  // namespace flambeau
