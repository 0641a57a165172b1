#pragma once
/// The one calling convention: a frame of 16-byte values.
///
/// Note [Frames]
/// Every operator, native or Python, in every layer is called as `kernel(op, keys, args, results)` on arrays of Value.
/// Arguments are borrowed from the caller; results are owned by it. One convention means no adapter per signature,
/// a boxed fallback for free, and an ABI that is a C struct.
#include <cstdint>
#include <string_view>
#include <tuple>
#include <vector>

#include "flambeau/core/tensor.h"

namespace flambeau {

class GeneratorImpl;

enum class Tag : uint8_t {
  None,
  Tensor,
  Int,
  Double,
  Bool,
  Complex,  ///< `complex` points at two doubles
  IntList,
  DoubleList,
  BoolList,
  ScalarList,  ///< `values` points at Values
  TensorList,  ///< `tensors` points at `size` Tensors, some perhaps undefined
  String,      ///< `chars`, `size` bytes, not terminated
  DType,
  Layout,
  MemoryFormat,
  Device,
  Generator,
  Object,        ///< PyObject*
  TensorVector,  ///< result only: owned std::vector<Tensor>*
};

struct Value {
  union {
    TensorImpl* tensor;
    int64_t i;
    double d;
    bool b;
    const double* complex;
    const int64_t* ints;
    const double* doubles;
    const bool* bools;
    const Value* values;
    const Tensor* tensors;
    const char* chars;
    Device device;
    GeneratorImpl* generator;
    void* object;
    std::vector<Tensor>* tensor_vector;
  };
  Tag tag;
  uint32_t size;

  Value() : i(0), tag(Tag::None), size(0) {}
  Value(const Tensor& t) : tensor(t.impl()), tag(t.defined() ? Tag::Tensor : Tag::None), size(0) {}
  Value(int64_t v) : i(v), tag(Tag::Int), size(0) {}
  Value(int v) : Value(int64_t{v}) {}
  Value(double v) : d(v), tag(Tag::Double), size(0) {}
  Value(bool v) : i(0), tag(Tag::Bool), size(0) { b = v; }
  Value(DType t) : i(static_cast<int64_t>(t)), tag(Tag::DType), size(0) {}
  Value(Layout l) : i(static_cast<int64_t>(l)), tag(Tag::Layout), size(0) {}
  Value(MemoryFormat m) : i(static_cast<int64_t>(m)), tag(Tag::MemoryFormat), size(0) {}
  Value(Device dev) : i(0), tag(Tag::Device), size(0) { device = dev; }
  Value(IntList l) : ints(l.data()), tag(Tag::IntList), size(static_cast<uint32_t>(l.size())) {}
  Value(std::span<const double> l) : doubles(l.data()), tag(Tag::DoubleList), size(static_cast<uint32_t>(l.size())) {}
  Value(TensorList l) : tensors(l.data()), tag(Tag::TensorList), size(static_cast<uint32_t>(l.size())) {}
  Value(std::string_view s) : chars(s.data()), tag(Tag::String), size(static_cast<uint32_t>(s.size())) {}
  Value(GeneratorImpl* g) : generator(g), tag(g ? Tag::Generator : Tag::None), size(0) {}
  Value(std::nullopt_t) : Value() {}
  template <class T> Value(const std::optional<T>& v) : Value() {
    if (v) *this = Value(*v);
  }

  bool is_none() const { return tag == Tag::None; }
  /// The tensor field seen as a handle, no reference counted. None gives an undefined tensor.
  const Tensor& as_tensor() const {
    static_assert(sizeof(Tensor) == sizeof(TensorImpl*));
    return reinterpret_cast<const Tensor&>(tensor);
  }
};
static_assert(sizeof(Value) == 16);

/// Scalars need up to 24 bytes, so a complex one is kept beside the frame.
struct ScalarValue {
  double parts[2];
  Value value;
  explicit ScalarValue(const Scalar& s) {
    switch (s.kind()) {
      case Scalar::Kind::Bool: value = Value(s.to_bool()); break;
      case Scalar::Kind::Int: value = Value(s.to_int()); break;
      case Scalar::Kind::Double: value = Value(s.real()); break;
      case Scalar::Kind::Complex:
        parts[0] = s.real();
        parts[1] = s.imag();
        value.complex = parts;
        value.tag = Tag::Complex;
    }
  }
};

FL_API const char* tag_name(Tag t);
FL_API Scalar to_scalar(const Value& v);

/// Releases what a result owns.
FL_API void release_result(Value& v);

// --- reading arguments as C++ types ---------------------------------------------------------------------------------

template <class T> struct Arg;
template <> struct Arg<const Value&> {
  static const Value& get(const Value& v) { return v; }
};
template <> struct Arg<const Tensor&> {
  static const Tensor& get(const Value& v) { return v.as_tensor(); }
};
template <> struct Arg<int64_t> {
  static int64_t get(const Value& v) { return v.i; }
};
template <> struct Arg<double> {
  static double get(const Value& v) { return v.tag == Tag::Double ? v.d : static_cast<double>(v.i); }
};
template <> struct Arg<bool> {
  static bool get(const Value& v) { return v.b; }
};
template <> struct Arg<const Scalar&> {
  static Scalar get(const Value& v) { return to_scalar(v); }
};
template <> struct Arg<Scalar> {
  static Scalar get(const Value& v) { return to_scalar(v); }
};
template <> struct Arg<IntList> {
  static IntList get(const Value& v) { return {v.ints, v.size}; }
};
template <> struct Arg<std::span<const double>> {
  static std::span<const double> get(const Value& v) { return {v.doubles, v.size}; }
};
template <> struct Arg<TensorList> {
  static TensorList get(const Value& v) { return {v.tensors, v.size}; }
};
template <> struct Arg<std::string_view> {
  static std::string_view get(const Value& v) { return {v.chars, v.size}; }
};
template <> struct Arg<DType> {
  static DType get(const Value& v) { return static_cast<DType>(v.i); }
};
template <> struct Arg<Layout> {
  static Layout get(const Value& v) { return static_cast<Layout>(v.i); }
};
template <> struct Arg<MemoryFormat> {
  static MemoryFormat get(const Value& v) { return static_cast<MemoryFormat>(v.i); }
};
template <> struct Arg<Device> {
  static Device get(const Value& v) { return v.device; }
};
template <> struct Arg<GeneratorImpl*> {
  static GeneratorImpl* get(const Value& v) { return v.is_none() ? nullptr : v.generator; }
};
template <class T> struct Arg<std::optional<T>> {
  static std::optional<T> get(const Value& v) { return v.is_none() ? std::nullopt : std::optional<T>(Arg<T>::get(v)); }
};

// --- writing results ------------------------------------------------------------------------------------------------

inline void set_result(Value* r, Tensor&& t) {
  r->tensor = t.release();
  r->tag = r->tensor ? Tag::Tensor : Tag::None;
}
inline void set_result(Value* r, std::vector<Tensor>&& v) {
  r->tensor_vector = new std::vector<Tensor>(std::move(v));
  r->tag = Tag::TensorVector;
}
inline void set_result(Value* r, bool v) { *r = Value(v); }
inline void set_result(Value* r, int64_t v) { *r = Value(v); }
inline void set_result(Value* r, double v) { *r = Value(v); }
inline void set_result(Value* r, DType v) { *r = Value(v); }
FL_API void set_result(Value* r, const Scalar& v);
template <class... Ts> void set_result(Value* r, std::tuple<Ts...>&& t) {
  std::apply([&](auto&... x) { (set_result(r++, std::move(x)), ...); }, t);
}

template <class T> struct Result;
template <> struct Result<Tensor> {
  static Tensor take(Value* r) { return r->tag == Tag::None ? Tensor() : Tensor::steal(r->tensor); }
  static constexpr int count = 1;
};
template <> struct Result<bool> {
  static bool take(Value* r) { return r->b; }
  static constexpr int count = 1;
};
template <> struct Result<int64_t> {
  static int64_t take(Value* r) { return r->i; }
  static constexpr int count = 1;
};
template <> struct Result<double> {
  static double take(Value* r) { return r->d; }
  static constexpr int count = 1;
};
template <> struct Result<DType> {
  static DType take(Value* r) { return static_cast<DType>(r->i); }
  static constexpr int count = 1;
};
template <> struct Result<Scalar> {
  static Scalar take(Value* r) {
    Scalar s = to_scalar(*r);
    release_result(*r);
    return s;
  }
  static constexpr int count = 1;
};
template <> struct Result<std::vector<Tensor>> {
  static std::vector<Tensor> take(Value* r) {
    std::vector<Tensor> v = std::move(*r->tensor_vector);
    release_result(*r);
    return v;
  }
  static constexpr int count = 1;
};
template <> struct Result<void> {
  static void take(Value*) {}
  static constexpr int count = 0;
};
template <class... Ts> struct Result<std::tuple<Ts...>> {
  static constexpr int count = sizeof...(Ts);
  static std::tuple<Ts...> take(Value* r) { return std::tuple<Ts...>{Result<Ts>::take(r++)...}; }
};

}  // namespace flambeau
