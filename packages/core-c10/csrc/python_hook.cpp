#include "flambeau/core/python_hook.h"

namespace flambeau {
PythonHooks python_hooks;
}
