#pragma once
/// __torch_dispatch__: calls that reach a tensor subclass or a mode below autograd are handed to Python.
#include "flambeau/python/object.h"

namespace flambeau::python {

/// Whether the class has a __torch_dispatch__ of its own.
bool has_torch_dispatch(PyTypeObject* type);
/// flambeau.ops.<ns>.<name>.<overload> of an operator (borrowed; made on first use).
PyObject* overload_object(const Operator& op);

/// A per-thread stack of modes, innermost last. One each for __torch_dispatch__ and __torch_function__.
class ModeStack {
 public:
  bool empty() const { return modes_.empty(); }
  size_t size() const { return modes_.size(); }
  PyObject* at(size_t i) const { return modes_[i]; }
  void push(PyObject* mode) { modes_.push_back(Py_NewRef(mode)); }
  /// Gives the caller the reference.
  PyObject* pop() {
    PyObject* mode = modes_.back();
    modes_.pop_back();
    return mode;
  }

 private:
  std::vector<PyObject*> modes_;
};
ModeStack& dispatch_modes();
ModeStack& function_modes();
/// Keeps the thread's dispatch state in step with its stacks.
void note_modes();

/// Takes the innermost mode off for a scope, so that what its handler calls meets the next one.
class WithoutInnermost {
 public:
  explicit WithoutInnermost(ModeStack& stack) : stack_(stack), mode_(stack.pop()) { note_modes(); }
  ~WithoutInnermost() {
    stack_.push(mode_);
    Py_DECREF(mode_);
    note_modes();
  }
  WithoutInnermost(const WithoutInnermost&) = delete;
  PyObject* mode() const { return mode_; }

 private:
  ModeStack& stack_;
  PyObject* mode_;
};

}  // namespace flambeau::python
