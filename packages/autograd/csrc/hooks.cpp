#include "hooks.h"

#include "extras.h"
#include "flambeau/ops/add.h"
#include "formula.h"
#include "formula_functions.h"
#include "python_node.h"

namespace flambeau::autograd {

using python::checked;
using python::Owned;

Tensor sum_of(const Tensor& a, const Tensor& b) { return ops::add(a, b); }

namespace {

// Values of {id: hook} in order, kept alive while they run: a hook may remove itself.
std::vector<Owned> hooks_of(PyObject* dict) {
  std::vector<Owned> list;
  if (!dict) return list;
  Py_ssize_t at = 0;
  PyObject *key, *value;
  while (PyDict_Next(dict, &at, &key, &value)) list.push_back(Owned::borrow(value));
  return list;
}

std::string name_of(PyObject* hook) {
  Owned name(PyObject_GetAttrString(hook, "__name__"));
  const char* text = name && PyUnicode_Check(name.get()) ? PyUnicode_AsUTF8(name.get()) : nullptr;
  if (text) return text;
  PyErr_Clear();
  return "<unknown>";
}

std::string full_type_name(const Tensor& t) {
  return t.is_cpu() ? tensor_type_name(t) : concat(tensor_type_name(t), " on ", device_type_name(t.device().type));
}

// What a hook gives in place of `old`: the same dtype, device and sizes, or None where there was none.
Tensor replacement(const Tensor& old, PyObject* given, PyObject* hook) {
  FL_CHECK_TYPE(given == Py_None || python::is_tensor(given), "expected Variable, but hook returned '",
                Py_TYPE(given)->tp_name, "'");
  if (given == Py_None) return Tensor();
  const Tensor& now = python::tensor_of(given);
  FL_CHECK(old.defined(), "can't replace a None gradient with a non-None value");
  FL_CHECK(old.dtype() == now.dtype() && old.device().type == now.device().type, "hook '", name_of(hook),
           "' has changed the type of value (was ", full_type_name(old), " got ", full_type_name(now), ")");
  FL_CHECK(old.sizes() == now.sizes(), "hook '", name_of(hook), "' has changed the size of value (was ", old.sizes(),
           " got ", now.sizes(), ")");
  return now;
}

Tensor run_chain(PyObject* dict, Tensor grad) {
  for (Owned& hook : hooks_of(dict)) {
    Owned arg(python::wrap(grad));
    Owned result(checked(PyObject_CallOneArg(hook.get(), arg.get())));
    if (result.get() != Py_None) grad = replacement(grad, result.get(), hook.get());
  }
  return grad;
}

PyObject* as_tuple(const Tensor* t, size_t n) {
  Owned tuple(checked(PyTuple_New(static_cast<Py_ssize_t>(n))));
  for (size_t i = 0; i < n; ++i) PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), python::wrap(t[i]));
  return tuple.release();
}

// A hook's result, None or a tuple of as many as there were, takes their place.
void replace(PyObject* result, Tensor* t, size_t n, PyObject* hook) {
  if (result == Py_None) return;
  FL_CHECK_TYPE(PyTuple_Check(result), "expected tuple, but hook returned '", Py_TYPE(result)->tp_name, "'");
  const auto count = static_cast<size_t>(PyTuple_GET_SIZE(result));
  FL_CHECK(count == n, "hook '", name_of(hook), "' has returned an incorrect number of values (got ", count,
           ", but expected ", n, ")");
  for (size_t i = 0; i < n; ++i) t[i] = replacement(t[i], PyTuple_GET_ITEM(result, static_cast<Py_ssize_t>(i)), hook);
}

struct WithGil {
  PyGILState_STATE s = PyGILState_Ensure();
  ~WithGil() { PyGILState_Release(s); }
};

}  // namespace

void run_tensor_hooks(Node& n, Few<Tensor, 1>& grads) {
  if (n.is_accumulator()) {
    PyObject* dict = leaf_hooks(n);
    if (!dict || !grads[0].defined()) return;
    WithGil gil;
    grads[0] = run_chain(dict, grads[0]);
    return;
  }
  if (n.extras->tensor_hooks.empty() && n.extras->retain.empty()) return;
  WithGil gil;
  for (TensorHooks& h : n.extras->tensor_hooks)
    if (grads[h.output].defined()) grads[h.output] = run_chain(h.dict.get(), grads[h.output]);
  for (auto& [output, meta] : n.extras->retain) {
    if (!grads[output].defined()) continue;
    meta->grad = meta->grad.defined() ? sum_of(meta->grad, grads[output]) : grads[output];
  }
}

void run_pre_hooks(Node& n, Tensor* grads, size_t count) {
  if (!n.extras->pre_hooks) return;
  WithGil gil;
  for (Owned& hook : hooks_of(n.extras->pre_hooks.get())) {
    Owned arg(as_tuple(grads, count));
    Owned result(checked(PyObject_CallOneArg(hook.get(), arg.get())));
    replace(result.get(), grads, count, hook.get());
  }
}

void run_post_hooks(Node& n, Tensor* results, const Tensor* grads, size_t count) {
  if (!n.extras->post_hooks) return;
  WithGil gil;
  const size_t num_results = n.is_accumulator() ? 0 : n.next.size();
  for (Owned& hook : hooks_of(n.extras->post_hooks.get())) {
    Owned in(as_tuple(results, num_results)), out(as_tuple(grads, count));
    Owned result(checked(PyObject_CallFunctionObjArgs(hook.get(), in.get(), out.get(), nullptr)));
    replace(result.get(), results, num_results, hook.get());
  }
}

void note_creation(Node& n) {
  WithGil gil;
  Owned traceback(PyImport_ImportModule("traceback"));
  Owned stack(traceback ? PyObject_CallMethod(traceback.get(), "format_stack", nullptr) : nullptr);
  if (stack)
    extras_of(n).creation = std::move(stack);
  else
    PyErr_Clear();
}

void report_anomaly(Node& n) {
  if (!dispatch_state().anomaly_mode || !n.extras || !n.extras->creation) return;
  WithGil gil;
  PyObject *type, *value, *tb;
  PyErr_Fetch(&type, &value, &tb);
  Owned empty(PyUnicode_FromString(""));
  Owned text(PyUnicode_Join(empty.get(), n.extras->creation.get()));
  if (text)
    PyErr_WarnFormat(PyExc_UserWarning, 1, "Error detected in %s. Traceback of forward call that caused the error:\n%U",
                     n.name(), text.get());
  PyErr_Restore(type, value, tb);
}

bool& anomaly_checks_nan() {
  thread_local bool on = true;
  return on;
}

void check_for_nan(Node& n, const Tensor* results) {
  if (!anomaly_checks_nan()) return;
  for (size_t i = 0; i < n.next.size() && !n.is_accumulator(); ++i) {
    if (!results[i].defined() || !has_nan(results[i])) continue;
    report_anomaly(n);
    FL_CHECK(false, "Function '", n.name(), "' returned nan values in its ", i, "th output.");
  }
}

void run_post_accumulate_hooks(const Tensor& leaf) {
  Meta* m = meta_of(leaf);
  if (!m->post_hooks) return;
  WithGil gil;
  for (Owned& hook : hooks_of(static_cast<PyObject*>(m->post_hooks))) {
    Owned arg(python::wrap(leaf));
    Owned result(checked(PyObject_CallOneArg(hook.get(), arg.get())));
    FL_CHECK_TYPE(result.get() == Py_None || python::is_tensor(result.get()), "expected Variable, but hook returned '",
                  Py_TYPE(result.get())->tp_name, "'");
  }
}

}  // namespace flambeau::autograd
