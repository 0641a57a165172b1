#include "flambeau/core/value.h"

namespace flambeau {

const char* tag_name(Tag t) {
  static constexpr const char* kNames[] = {"None",     "Tensor",    "int",        "float",   "bool",
                                           "complex",  "int[]",     "float[]",    "bool[]",  "Scalar[]",
                                           "Tensor[]", "str",       "ScalarType", "Layout",  "MemoryFormat",
                                           "Device",   "Generator", "object",     "Tensor[]"};
  return kNames[static_cast<int>(t)];
}

Scalar to_scalar(const Value& v) {
  switch (v.tag) {
    case Tag::Int: return Scalar(v.i);
    case Tag::Double: return Scalar(v.d);
    case Tag::Bool: return Scalar(v.b);
    case Tag::Complex: return Scalar(v.complex[0], v.complex[1]);
    case Tag::Tensor: return item(v.as_tensor());
    default: FL_CHECK_TYPE(false, "expected a number, got ", tag_name(v.tag));
  }
}

void set_result(Value* r, const Scalar& s) {
  switch (s.kind()) {
    case Scalar::Kind::Bool: *r = Value(s.to_bool()); return;
    case Scalar::Kind::Int: *r = Value(s.to_int()); return;
    case Scalar::Kind::Double: *r = Value(s.real()); return;
    case Scalar::Kind::Complex: r->complex = new double[2]{s.real(), s.imag()}; r->tag = Tag::Complex;
  }
}

void release_result(Value& v) {
  switch (v.tag) {
    case Tag::Tensor: Tensor::steal(v.tensor); break;
    case Tag::TensorVector: delete v.tensor_vector; break;
    case Tag::Complex: delete[] v.complex; break;
    default: break;
  }
  v.tag = Tag::None;
}

}  // namespace flambeau
