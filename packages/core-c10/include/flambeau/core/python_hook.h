#pragma once
/// What the Python-free half of core asks of the bindings. Null until they are loaded.
#include "flambeau/core/export.h"

namespace flambeau {

struct PythonHooks {
  /// Drops a Python object that a dying tensor kept alive. Takes the interpreter lock.
  void (*release_object)(void* object) = nullptr;
  /// Raises a Python warning; throws PythonError when the filters turn it into an exception.
  void (*warn)(const char* message) = nullptr;
};
FL_API extern PythonHooks python_hooks;

}  // namespace flambeau
