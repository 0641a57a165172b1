#pragma once
/// Python arguments into a frame, driven by the operator's schema.
#include <deque>
#include <string>
#include <vector>

#include "flambeau/core/schema.h"
#include "flambeau/python/object.h"

namespace flambeau::python {

inline constexpr int kMaxArgs = static_cast<int>(kMaxArguments);

/// An operator as the parser sees it: interned names and the facts that speed up common calls.
struct Signature {
  const Operator* op;
  const Schema* schema;
  PyObject* names[kMaxArgs];
  Value defaults[kMaxArgs];
  uint8_t num_args;  ///< of the functional form; out arguments of an out variant included
  uint8_t num_positional;
  uint8_t leading_tensors;    ///< how many arguments from the first are plain Tensor
  uint8_t required;           ///< arguments without default
  PyObject* python_callable;  ///< decomposition in Python, imported on first call
  PyObject* overload_object;  ///< flambeau.ops.<ns>.<name>.<overload>, for __torch_dispatch__
  PyObject* keyword_names;    ///< tuple of the keyword-only names, for calling Python kernels
  bool takes_requires_grad;   ///< a factory: dtype and device are arguments, no tensor is
};
FL_API const Signature& signature_of(const Operator& op);

/// What the values of a frame point into. Made only when something needs it.
struct Arena {
  std::deque<std::vector<int64_t>> ints;
  std::deque<std::vector<double>> doubles;
  std::deque<std::vector<Tensor>> tensors;
  std::deque<std::vector<Value>> values;
  std::deque<std::vector<char>> bytes;
  std::vector<Owned> objects;
};

/// A frame under construction. The values are not initialised: parse_call fills as many as the operator has.
class Frame {
 public:
  Frame() {}
  ~Frame();
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  union {
    Value values[kMaxArgs];
  };
  PyObject* overloaded[8];  ///< arguments whose class has its own __torch_function__, in call order (borrowed)
  int num_overloaded = 0;
  int num_numbers = 0;         ///< Python numbers that stand for tensors
  PyObject* out = nullptr;     ///< object passed as out= (borrowed)
  bool requires_grad = false;  ///< passed to a factory

  Arena& arena() { return arena_ ? *arena_ : *(arena_ = new Arena); }
  int64_t* new_ints(size_t n);
  void keep(Tensor t);
  void reset();

 private:
  int64_t small_ints_[16];
  size_t used_ints_ = 0;
  Tensor kept_[4];
  int num_kept_ = 0;
  Arena* arena_ = nullptr;
};

/// Tries to read a call by the signature. False when it does not fit; `why`, when given, says what did not.
/// Throws PythonError if a conversion raised.
FL_API bool parse_call(const Signature& sig, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames, Frame& frame,
                       bool is_method, std::string* why);

/// Whether the class of `o` takes calls over through __torch_function__.
FL_API bool has_torch_function(PyObject* o);
/// Calls the overloads in order of subclass before class; `func` is what the user called.
FL_API PyObject* call_torch_function(PyObject* func, PyObject* const* overloaded, int n, PyObject* const* args,
                                     Py_ssize_t nargs, PyObject* kwnames);

}  // namespace flambeau::python
