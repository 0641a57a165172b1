#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace flambeau::python {
__attribute__((visibility("default"))) int fill_core_module(PyObject* module);
}

PyMODINIT_FUNC PyInit__C() {
  static PyModuleDef def = {PyModuleDef_HEAD_INIT,
                            "flambeau._C",
                            "Native half of flambeau.",
                            -1,
                            nullptr,
                            nullptr,
                            nullptr,
                            nullptr,
                            nullptr};
  PyObject* module = PyModule_Create(&def);
  if (module && flambeau::python::fill_core_module(module) < 0) {
    Py_DECREF(module);
    return nullptr;
  }
  return module;
}
