#include "saved_hooks.h"

#include "extras.h"
#include "garbage.h"

namespace flambeau::autograd {

namespace {

thread_local std::vector<std::pair<PyObject*, PyObject*>> t_hooks;  // (pack, unpack), owned

struct Packed {
  PyObject* value;
  PyObject* unpack;
  Packed() { ++python::python_objects_in_graphs; }
  ~Packed() {
    --python::python_objects_in_graphs;
    if (!Py_IsInitialized()) return;
    python::AcquireGil gil;
    Py_XDECREF(value);
    Py_XDECREF(unpack);
  }
};

}  // namespace

bool saved_hooks_active() { return !t_hooks.empty(); }

void push_saved_hooks(PyObject* pack, PyObject* unpack) { t_hooks.emplace_back(Py_NewRef(pack), Py_NewRef(unpack)); }
void pop_saved_hooks() {
  FL_CHECK(!t_hooks.empty(), "[saved_tensors_hooks] left more often than entered");
  Py_DECREF(t_hooks.back().first);
  Py_DECREF(t_hooks.back().second);
  t_hooks.pop_back();
}

std::shared_ptr<void> pack_saved(const Tensor& t) {
  python::AcquireGil gil;
  auto hooks = std::move(t_hooks);  // operators inside the hook are not packed again
  t_hooks.clear();
  struct Restore {
    std::vector<std::pair<PyObject*, PyObject*>>& h;
    ~Restore() { t_hooks = std::move(h); }
  } restore{hooks};
  auto packed = std::make_shared<Packed>();
  packed->unpack = Py_NewRef(hooks.back().second);
  packed->value = nullptr;
  python::Owned arg(python::wrap(t));
  const uint32_t version = t.version();
  packed->value = python::checked(PyObject_CallOneArg(hooks.back().first, arg.get()));
  FL_CHECK(
      t.version() == version,
      "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook can not be "
      "modified by in-place operations as this can lead to unexpected side-effects.");
  return packed;
}

void reach_packed(void* p, Reach& r) {
  auto* packed = static_cast<Packed*>(p);
  r.object(packed->value);
  r.object(packed->unpack);
}

Tensor unpack_saved(void* p) {
  python::AcquireGil gil;
  auto* packed = static_cast<Packed*>(p);
  python::Owned result(python::checked(PyObject_CallOneArg(packed->unpack, packed->value)));
  FL_CHECK_TYPE(python::is_tensor(result.get()),
                "Output of saved tensor unpack_hook expected to be a Tensor but got result of type ",
                Py_TYPE(result.get())->tp_name);
  return python::tensor_of(result.get());
}

}  // namespace flambeau::autograd
