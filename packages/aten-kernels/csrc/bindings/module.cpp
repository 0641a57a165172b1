#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "flambeau/core/operator.h"
#include "flambeau/python/object.h"
#include "pointwise/run_pointwise.h"

namespace flambeau {
void register_aten_operators();
void masked_fill_inplace(const Operator& op, KeySet keys, const Value* args, Value* results);

namespace {

// Pointwise operators can write in place and into out= directly.
void install_variants(Operator& op) {
  if (op.ns == "aten" && op.has_kernel(Key::CPU) && op.kernel_at(static_cast<int>(Key::CPU)) == &run_pointwise)
    install_pointwise_variants(op);
}

}  // namespace
}  // namespace flambeau

PyMODINIT_FUNC PyInit__C() {
  static PyModuleDef def = {PyModuleDef_HEAD_INIT,
                            "flambeau.aten._C",
                            "Operators and CPU kernels.",
                            -1,
                            nullptr,
                            nullptr,
                            nullptr,
                            nullptr,
                            nullptr};
  PyObject* module = PyModule_Create(&def);
  if (!module) return nullptr;
  const int status = flambeau::python::guarded_int([] {
    flambeau::register_aten_operators();
    for (const std::string& name : flambeau::operator_names("aten"))
      for (flambeau::Operator* op : flambeau::overloads("aten", name)) flambeau::install_variants(*op);
    flambeau::get_operator("aten", "masked_fill.Scalar")
        .inplace->set_kernel(flambeau::Key::CPU, &flambeau::masked_fill_inplace);
    return 0;
  });
  if (status < 0) {
    Py_DECREF(module);
    return nullptr;
  }
  return module;
}
