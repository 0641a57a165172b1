#include "flambeau/core/operator.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "flambeau/core/kernel.h"

namespace flambeau {
namespace {

struct Registry {
  std::mutex mutex;
  std::unordered_map<std::string, std::unique_ptr<Operator>> by_key;  // "aten::add.Tensor"
  std::unordered_map<std::string, std::vector<Operator*>> by_name;    // "aten::add"
  std::map<std::string, std::vector<std::string>> names;              // "aten" -> names in order of definition
  std::vector<void (*)(Operator&)> callbacks;
  std::vector<Operator*> all;
};

Registry& registry() {
  static Registry* r = new Registry;  // never destroyed: kernels may run while the process exits
  return *r;
}

std::string_view name_part(std::string_view schema) { return schema.substr(0, schema.find('(')); }

Kernel variant_kernel(Variant v) {
  return v == Variant::InPlace ? &inplace_through_functional : &out_through_functional;
}

std::string replace_name(std::string_view schema, const std::string& name) {
  return name + std::string(schema.substr(schema.find('(')));
}

// "add.Tensor(Tensor self, ...) -> Tensor" becomes "add_.Tensor(Tensor(a!) self, ...) -> Tensor(a!)"
std::string inplace_schema(std::string_view schema, const std::string& base, const std::string& overload) {
  std::string s = replace_name(schema, base + "_" + (overload.empty() ? "" : "." + overload));
  const size_t first = s.find("(Tensor ");
  if (first != std::string::npos) s.replace(first, 8, "(Tensor(a!) ");
  s.resize(s.rfind("->"));
  return s + "-> Tensor(a!)";
}

bool gives_list(const Schema& s) { return s.returns.size() == 1 && s.returns[0].list; }

// adds one keyword output a result, named as the results are, or "out"
std::string out_schema(std::string_view schema, const std::string& base, const std::string& overload,
                       const Schema& parsed) {
  const std::string suffix = overload.empty() ? "out" : overload + "_out";
  std::string s = replace_name(schema, base + "." + suffix);
  const size_t arrow = s.rfind("->");
  const size_t close = s.rfind(')', arrow);
  std::string outs, results;
  for (size_t i = 0; i < parsed.returns.size(); ++i) {
    const auto& r = parsed.returns[i];
    const std::string type = std::string("Tensor(") + static_cast<char>('a' + i) + "!)";
    const std::string name = parsed.returns.size() == 1 ? "out" : r.name.empty() ? "out" + std::to_string(i) : r.name;
    outs += (i ? ", " : "") + type + " " + name;
    results += (i ? ", " : "") + type;
  }
  if (gives_list(parsed)) outs = "Tensor(a!)[] out", results = "()";
  const bool has_args = s[close - 1] != '(';
  const bool has_star = s.find("*,") != std::string::npos && s.find("*,") < close;
  const std::string head = s.substr(0, close) + (has_args ? ", " : "") + (has_star ? "" : "*, ") + outs + ") -> ";
  return parsed.returns.size() > 1 ? head + "(" + results + ")" : head + results;
}

}  // namespace

namespace {
constexpr int kEndOfBackends = static_cast<int>(Key::Python), kEndOfDecomposed = static_cast<int>(Key::Autograd);
}

std::string Operator::qualified_name() const { return ns + "::" + name + (overload.empty() ? "" : "." + overload); }

const Schema& Operator::parse() const {
  schema_ = parse_schema(schema_text);
  return *schema_;
}

KeySet Operator::keys_without_tensors(const Value* args) const {
  const bool said = device_arg_ >= 0 && !args[device_arg_].is_none();
  switch (said ? args[device_arg_].device.type : device_arg_ >= 0 ? default_device().type : DeviceType::CPU) {
    case DeviceType::CPU: return key_bit(Key::CPU);
    case DeviceType::Meta: return key_bit(Key::Meta);
    case DeviceType::CUDA: return key_bit(Key::CUDA);
    case DeviceType::XPU: return key_bit(Key::XPU);
    case DeviceType::MPS: return key_bit(Key::MPS);
    default: return key_bit(Key::PrivateUse1);
  }
}

// A light scan of the text for what dispatch needs, so that defining a thousand operators costs no thousand parses.
void Operator::read_shape_of_frame() {
  const std::string& t = schema_text;
  size_t pos = t.find('(') + 1;
  const size_t arrow = t.rfind("->");
  int depth = 0, index = 0;
  bool start = true;
  for (; pos < arrow; ++pos) {
    const char c = t[pos];
    if (start) {
      if (c == ' ') continue;
      if (c == ')') break;
      if (c == '*') {
        pos = t.find(',', pos);
        continue;
      }
      if (t.compare(pos, 6, "Tensor") == 0 && num_tensor_args_ < sizeof(tensor_args_))
        tensor_args_[num_tensor_args_++] = static_cast<uint8_t>(index);
      if (t.compare(pos, 6, "Device") == 0) device_arg_ = static_cast<int8_t>(index);
      ++index;
      start = false;
      depth = 0;
    }
    if (c == '(' || c == '[')
      ++depth;
    else if (c == ']')
      --depth;
    else if (c == ')') {
      if (depth == 0) break;
      --depth;
    } else if (c == ',' && depth == 0)
      start = true;
  }
  num_args = static_cast<uint8_t>(index);
  const std::string_view result = std::string_view(t).substr(arrow + 2);
  const size_t open = result.find_first_not_of(' ');
  if (open == std::string_view::npos) return;
  if (result[open] != '(') {
    num_results = 1;
    return;
  }
  num_results = result[open + 1] == ')' ? 0 : static_cast<uint8_t>(1 + std::count(result.begin(), result.end(), ','));
}

// The operator's own kernels, and over them what was added: a kernel for one key before one for every backend, the
// latest before earlier ones.
void Operator::recompute_table() {
  if (added_) {
    std::copy_n(added_->own, kNumKeys, table_);
    std::fill_n(added_->context, kNumKeys, nullptr);
    const auto put = [&](int i, const Added::Entry& e) {
      table_[i] = e.kernel;
      added_->context[i] = e.context;
    };
    for (const Added::Entry& e : added_->entries)
      for (int i = 0; !e.key && i < (e.decomposes ? kEndOfDecomposed : kEndOfBackends); ++i)
        if (!added_->own[i]) put(i, e);
    for (const Added::Entry& e : added_->entries)
      if (e.key) put(static_cast<int>(*e.key), e);
  }
  active_ = 0;
  for (int i = 0; i < kNumKeys; ++i)
    if (table_[i]) active_ |= KeySet{1} << i;
  active_ |= key_bit(Key::Python) | key_bit(Key::PythonMode);
}

// A variant that gets a CPU kernel no longer goes through its functional form, so Python's keys see it as itself.
void Operator::set_kernel(Key key, Kernel k) {
  Kernel* own = added_ ? added_->own : table_;
  own[static_cast<int>(key)] = k;
  if (key == Key::CPU) own[static_cast<int>(Key::Python)] = own[static_cast<int>(Key::PythonMode)] = nullptr;
  recompute_table();
}

void Operator::set_composite_kernel(Kernel k, bool decomposes) {
  Kernel* own = added_ ? added_->own : table_;
  for (int i = 0; i < (decomposes ? kEndOfDecomposed : kEndOfBackends); ++i)
    if (!own[i]) own[i] = k;
  recompute_table();
}

void Operator::clear_kernels() {
  std::fill_n(added_ ? added_->own : table_, kNumKeys, nullptr);
  recompute_table();
}

uint64_t Operator::add_kernel(std::optional<Key> key, bool decomposes, Kernel k, void* context) {
  static uint64_t last = 0;  // callers hold the interpreter lock
  if (!added_) {
    added_ = std::make_unique<Added>();
    std::copy_n(table_, kNumKeys, added_->own);
  }
  added_->entries.push_back({++last, key, decomposes, k, context});
  recompute_table();
  return last;
}

void* Operator::remove_kernel(uint64_t number) {
  if (!added_) return nullptr;
  auto& entries = added_->entries;
  const auto it = std::find_if(entries.begin(), entries.end(), [&](const auto& e) { return e.number == number; });
  if (it == entries.end()) return nullptr;
  void* context = it->context;
  entries.erase(it);
  recompute_table();
  return context;
}

bool Operator::has_added_kernel(Key key) const {
  if (!added_) return false;
  const auto& entries = added_->entries;
  return std::any_of(entries.begin(), entries.end(), [&](const auto& e) { return e.key == key; });
}

void throw_no_kernel(const Operator& op, KeySet keys) {
  std::string have;
  for (int i = 0; i < kNumKeys; ++i)
    if (op.has_kernel(static_cast<Key>(i)))
      have += (have.empty() ? "" : ", ") + std::string(key_name(static_cast<Key>(i)));
  const KeySet backends = keys & kBackendKeys;  // what is missing, whatever stands above it
  const int top = 31 - __builtin_clz(backends ? backends : keys ? keys : 1);
  FL_CHECK_NOT_IMPLEMENTED(false, "Could not run '", op.qualified_name(), "' with arguments from the '",
                           key_name(static_cast<Key>(top)),
                           "' backend; it has kernels for: ", have.empty() ? "none" : have);
  __builtin_unreachable();
}

namespace {

[[noreturn]] void throw_mixed_devices(const Operator& op, int index, const char* found) {
  throw_error(ErrorKind::Device,
              concat("Expected all tensors to be on the same device, but found at least two devices, cpu and ", found,
                     "! (argument '", op.schema().args[index].name, "' of ", op.qualified_name(), ")"));
}

void check_tensor(const Operator& op, Key backend, int index, const Tensor& t) {
  if (backend == Key::CPU) {
    if (!t.is_cpu()) throw_mixed_devices(op, index, device_type_name(t.device().type));
    check_storage(t, op.name.c_str());
  } else if (backend == Key::Meta && t.is_cpu() && t.dim()) {
    throw_mixed_devices(op, index, "meta");
  }
}

}  // namespace

void check_arguments(const Operator& op, Key backend, const Value* args) {
  const bool passes_arguments_on = op.op_class == OpClass::Composite && !op.functional;
  const bool is_factory =
      (op.flags & kBackendFree) && (op.flags & kNotDifferentiable);  // reads geometry and dtype only
  const bool is_copy = backend == Key::Meta && (op.flags & kMutates);
  if (passes_arguments_on || is_factory || is_copy || (op.flags & kView)) return;
  for (int i = 0; i < op.num_args; ++i) {
    if (args[i].tag == Tag::Tensor) check_tensor(op, backend, i, args[i].as_tensor());
    if (args[i].tag == Tag::TensorList)
      for (uint32_t j = 0; j < args[i].size; ++j)
        if (args[i].tensors[j].defined()) check_tensor(op, backend, i, args[i].tensors[j]);
  }
}

namespace {

Operator& insert(Registry& r, std::unique_ptr<Operator> op) {
  std::string key = op->qualified_name();
  FL_CHECK(!r.by_key.count(key), "[define] operator ", key, " is defined already");
  Operator* p = op.get();
  auto& list = r.by_name[p->ns + "::" + p->name];
  if (list.empty()) r.names[p->ns].push_back(p->name);
  list.push_back(p);
  r.all.push_back(p);
  r.by_key.emplace(std::move(key), std::move(op));
  return *p;
}

std::unique_ptr<Operator> make(std::string_view ns, std::string schema) {
  auto op = std::make_unique<Operator>();
  std::string_view name = name_part(schema);
  if (const size_t colons = name.find("::"); colons != std::string_view::npos) {
    ns = name.substr(0, colons);
    name = name.substr(colons + 2);
  }
  op->ns = std::string(ns);
  const size_t dot = name.find('.');
  op->name = std::string(name.substr(0, dot));
  if (dot != std::string_view::npos) op->overload = std::string(name.substr(dot + 1));
  op->schema_text = std::move(schema);
  return op;
}

void notify(Registry& r, Operator& op) {
  for (auto cb : r.callbacks) cb(op);
}

// On meta tensors a write has nothing to do.
void write_to_meta(const Operator& op, KeySet, const Value* args, Value* results) {
  const Tensor& self = args[0].as_tensor();
  FL_CHECK_NOT_IMPLEMENTED(self.is_meta(), "[", op.name, "] Cannot copy out of meta tensor; no data!");
  for (int i = 0; i < op.num_results; ++i) set_result(results + i, Tensor(self));
}

// Where the kernel of a record goes: the backends it serves. A decomposition serves those that are left.
void install_kernel(Operator& op, const OpDef& def) {
  if (!def.kernel)
    FL_INTERNAL_CHECK(def.python, op.name, " has no body");
  else if (def.op_class == OpClass::Composite || (def.flags & kBackendFree))
    op.set_composite_kernel(def.kernel, def.op_class == OpClass::Composite);
  else {
    op.set_kernel(Key::CPU, def.kernel);
    if (def.kernel == &run_shaped_functional) op.set_kernel(Key::Meta, &run_shaped_meta);
    if ((def.flags & kMutates) && op.num_results == 1) op.set_kernel(Key::Meta, &write_to_meta);
  }
  if (def.python)
    op.set_composite_kernel(
        [](const Operator& o, KeySet k, const Value* a, Value* r) { python_composite_kernel(o, k, a, r); },
        def.op_class == OpClass::Composite);
}

}  // namespace

Operator& define_operator(std::string_view ns, const OpDef& def) {
  Registry& r = registry();
  std::unique_ptr<Operator> made = make(ns, def.schema);
  made->op_class = def.op_class;
  made->flags = def.flags;
  made->number_args = def.number_args;
  made->payload = def.payload;
  if (def.doc) made->doc = def.doc;
  if (def.python) made->python = def.python;
  if (def.flags & kView) made->variant = Variant::View;
  if (def.flags & kMutates) made->variant = Variant::InPlace;
  made->read_shape_of_frame();
  install_kernel(*made, def);
  std::lock_guard lock(r.mutex);
  Operator& op = insert(r, std::move(made));
  notify(r, op);
  const auto add_variant = [&](std::string schema, Variant v) -> Operator& {
    auto o = make(ns, std::move(schema));
    o->variant = v;
    o->op_class = OpClass::Composite;
    o->flags =
        static_cast<uint16_t>(v == Variant::InPlace ? (def.flags & (kFunction | kMethod | kNNModule | kNumberArgs))
                                                    : (def.flags & (kNumberArgs | kOutExact | kOutDisjoint)));
    o->number_args = def.number_args;
    o->payload = def.payload;
    o->functional = &op;
    o->read_shape_of_frame();
    o->set_composite_kernel(variant_kernel(v), true);
    return insert(r, std::move(o));
  };
  if (def.flags & kInPlace) {
    op.inplace = &add_variant(inplace_schema(op.schema_text, op.name, op.overload), Variant::InPlace);
    notify(r, *op.inplace);
  }
  if (def.flags & kOut) {
    op.out = &add_variant(out_schema(op.schema_text, op.name, op.overload, op.schema()), Variant::Out);
    if (def.kernel == &run_shaped_functional) op.out->set_kernel(Key::CPU, &run_shaped_out);
    notify(r, *op.out);
  }
  return op;
}

namespace {

// What calls can carry: so many values, names that tell arguments apart, results of kinds that frames give back.
void check_frame_holds(const Schema& s, std::string_view text) {
  FL_CHECK(s.args.size() <= kMaxArguments && s.returns.size() <= kMaxResults, "[define] ", text,
           ": an operator has at most ", kMaxArguments, " arguments and ", kMaxResults, " results");
  for (size_t i = 0; i < s.args.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      FL_CHECK(s.args[i].name != s.args[j].name, "[define] ", text, ": two arguments are called '", s.args[i].name,
               "'");
  for (const SchemaReturn& r : s.returns) {
    const bool number = r.kind == ArgKind::Int || r.kind == ArgKind::Float || r.kind == ArgKind::Bool ||
                        r.kind == ArgKind::Scalar || r.kind == ArgKind::DType;
    FL_CHECK(r.kind == ArgKind::Tensor || (number && !r.list), "[define] ", text, ": a result is of type ", r.type_text,
             "; allowed are Tensor, Tensor[], int, float, bool, Scalar and ScalarType");
  }
}

}  // namespace

Operator& define_operator(std::string_view ns, std::string_view schema) {
  Registry& r = registry();
  std::unique_ptr<Schema> parsed(parse_schema(schema));  // reports errors before anything is registered
  check_frame_holds(*parsed, schema);
  auto made = make(ns, std::string(schema));
  made->flags = 0;
  made->read_shape_of_frame();
  bool mutates = false;
  for (const auto& a : parsed->args) mutates |= a.mutated && !a.out;
  if (mutates) made->variant = Variant::InPlace;
  std::lock_guard lock(r.mutex);
  Operator& op = insert(r, std::move(made));
  notify(r, op);
  return op;
}

void remove_operator(Operator& op) {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  auto& list = r.by_name[op.ns + "::" + op.name];
  std::erase(list, &op);
  if (list.empty()) {
    r.by_name.erase(op.ns + "::" + op.name);
    std::erase(r.names[op.ns], op.name);
  }
  std::erase(r.all, &op);
  // The object itself stays: Python may still hold it. It can no longer be found, and has no kernels.
  auto node = r.by_key.extract(op.qualified_name());
  Operator* leaked = node.mapped().release();
  leaked->clear_kernels();
}

Operator* find_operator(std::string_view ns, std::string_view name) {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  auto it = r.by_key.find(std::string(ns) + "::" + std::string(name));
  return it == r.by_key.end() ? nullptr : it->second.get();
}

Operator& get_operator(std::string_view ns, std::string_view name) {
  if (Operator* op = find_operator(ns, name)) return *op;
  std::string near;
  for (Operator* o : overloads(ns, name.substr(0, name.find('.'))))
    near += (near.empty() ? "" : ", ") + o->qualified_name();
  FL_CHECK(false, "no operator ", ns, "::", name, near.empty() ? "" : "; overloads there are: ", near);
  __builtin_unreachable();
}

std::vector<Operator*> overloads(std::string_view ns, std::string_view name) {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  auto it = r.by_name.find(std::string(ns) + "::" + std::string(name));
  return it == r.by_name.end() ? std::vector<Operator*>{} : it->second;
}

std::vector<std::string> operator_names(std::string_view ns) {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  auto it = r.names.find(std::string(ns));
  return it == r.names.end() ? std::vector<std::string>{} : it->second;
}

std::vector<std::string> operator_namespaces() {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  std::vector<std::string> out;
  for (auto& [ns, _] : r.names) out.push_back(ns);
  return out;
}

void on_operator_defined(void (*callback)(Operator& op)) {
  Registry& r = registry();
  std::vector<Operator*> known;
  {
    std::lock_guard lock(r.mutex);
    r.callbacks.push_back(callback);
    known = r.all;
  }
  for (Operator* op : known) callback(*op);
}

Kernel python_key_kernel = [](const Operator& op, KeySet, const Value*, Value*) {
  FL_CHECK(false, "[", op.qualified_name(), "] __torch_dispatch__ needs the interpreter's bindings");
};

Kernel python_composite_kernel = [](const Operator& op, KeySet, const Value*, Value*) {
  FL_CHECK(false, "[", op.qualified_name(), "] is a Python composite and needs the interpreter's bindings");
};

}  // namespace flambeau
