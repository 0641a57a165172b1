#include "creation.h"
#include "python_kernel.h"
#include "tensor_type.h"

namespace flambeau {
void register_core_operators();
}

namespace flambeau::python {

void init_torch_function(PyObject* module);
void init_library(PyObject* module);
void init_schema_object(PyObject* module);
void init_python_dispatch(PyObject* module);
void init_settings(PyObject* module);
void init_promotion(PyObject* module);
void init_describe(PyObject* module);

/// Fills flambeau._C. Called once, by the module's init function.
FL_API int fill_core_module(PyObject* module) {
  return guarded_int([&] {
    init_types(module);
    init_storage(module);
    init_op_function(module);
    init_tensor_type(module);
    init_torch_function(module);
    init_python_dispatch(module);
    init_creation(module);
    init_dlpack(module);
    init_library(module);
    init_schema_object(module);
    init_settings(module);
    init_promotion(module);
    init_describe(module);
    install_python_kernels();
    register_core_operators();
    return 0;
  });
}

}  // namespace flambeau::python
