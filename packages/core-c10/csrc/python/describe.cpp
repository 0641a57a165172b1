// What signatures and docstrings are made of: an operator's parsed schema and the facts of its record, as Python
// objects.
#include "op_function.h"

namespace flambeau::python {

namespace {

// "Tensor(a!)[]? " -> "Tensor"
std::string base_of(const std::string& type_text) {
  const size_t end = type_text.find_first_of("([? ");
  return type_text.substr(0, end);
}

PyObject* describe_argument(const SchemaArg& a, bool takes_numbers) {
  Owned value(checked(a.has_default ? wrap_argument(a.default_value) : Py_NewRef(Py_Ellipsis)));
  return checked(Py_BuildValue("(ssNNNiNNO)", a.name.c_str(), base_of(a.type_text).c_str(), PyBool_FromLong(a.list),
                               PyBool_FromLong(a.optional), PyBool_FromLong(a.optional_items), a.fixed_length,
                               PyBool_FromLong(a.kwarg_only), PyBool_FromLong(takes_numbers), value.get()));
}

PyObject* describe_facts(const Operator& op) {
  const Operator& record = op.functional ? *op.functional : op;
  const auto truth = [](bool value) { return PyBool_FromLong(value); };
  return checked(Py_BuildValue(
      "{sNsNsNsNsNsNsN}", "view", truth(record.flags & kView), "writes",
      truth(op.variant == Variant::InPlace || (op.flags & kMutates)), "derived", truth(op.functional != nullptr),
      "differentiable", truth(!(record.flags & kNotDifferentiable)), "inplace", truth(op.inplace != nullptr), "out",
      truth(op.out != nullptr), "requires_grad", truth(signature_of(op).takes_requires_grad)));
}

constexpr std::pair<const char*, uint16_t> kPlaces[] = {{"function", kFunction}, {"method", kMethod},
                                                        {"nn", kNNModule},       {"linalg", kLinalg},
                                                        {"special", kSpecial},   {"fft", kFft}};

}  // namespace

PyObject* describe_overload(const Operator& op) {
  const Schema& schema = op.schema();
  Owned arguments(checked(PyTuple_New(static_cast<Py_ssize_t>(schema.args.size()))));
  for (size_t i = 0; i < schema.args.size(); ++i)
    PyTuple_SET_ITEM(arguments.get(), static_cast<Py_ssize_t>(i),
                     describe_argument(schema.args[i], i < 8 && (op.number_args >> i) & 1));
  const std::string text = op.ns + "::" + op.schema_text;
  const std::string& doc = op.doc.empty() && op.functional ? op.functional->doc : op.doc;
  return checked(Py_BuildValue("(sONss)", text.c_str(), arguments.get(), describe_facts(op), doc.c_str(),
                               op.functional ? "" : op.python.c_str()));
}

void init_describe(PyObject* module) {
  Owned places(checked(PyDict_New()));
  for (auto [name, bit] : kPlaces) {
    Owned value(checked(PyLong_FromLong(bit)));
    checked(PyDict_SetItemString(places.get(), name, value.get()));
  }
  checked(PyModule_AddObjectRef(module, "_OP_FLAGS", places.get()));
  checked(PyModule_AddIntConstant(module, "_CORE_ABI", FLAMBEAU_CORE_ABI));
}

}  // namespace flambeau::python
