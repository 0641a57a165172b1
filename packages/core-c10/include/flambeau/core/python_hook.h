#pragma once
/// What the Python-free half of core asks of the bindings. Null until they are loaded.
#include "flambeau/core/export.h"

namespace flambeau {

struct PythonHooks {
  /// Drops a Python object that a dying tensor kept alive. Takes the interpreter lock.
  void (*release_object)(void* object) = nullptr;
  /// Raises a Python warning; throws PythonError when the filters turn it into an exception.
  void (*warn)(const char* message) = nullptr;
  /// Gives up the interpreter lock when this thread holds it; `resume` takes what `suspend` returned.
  void* (*suspend)() = nullptr;
  void (*resume)(void* state) = nullptr;
};
FL_API extern PythonHooks python_hooks;

/// Lets other Python threads run during long native work. Giving the lock up costs ~80 ns, so only kernels that expect
/// to run for more than ~30 us ask for it.
class ReleaseInterpreter {
 public:
  explicit ReleaseInterpreter(bool when) : state_(when && python_hooks.suspend ? python_hooks.suspend() : nullptr) {}
  ~ReleaseInterpreter() {
    if (state_) python_hooks.resume(state_);
  }
  ReleaseInterpreter(const ReleaseInterpreter&) = delete;
  ReleaseInterpreter& operator=(const ReleaseInterpreter&) = delete;

 private:
  void* state_;
};

}  // namespace flambeau
