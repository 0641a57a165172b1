#include "node.h"

#include <atomic>

#include "extras.h"
#include "flambeau/core/views.h"
#include "flambeau/ops/detach.h"
#include "formula.h"
#include "garbage.h"
#include "saved_hooks.h"

namespace flambeau::autograd {

namespace {
std::atomic<uint64_t> g_sequence{1};

template <size_t Size> struct NodeBlocks;  // one freelist a size class

constexpr size_t kClass = 64;
using F1 = FreeList<NodeBlocks<256>, 256>;
using F2 = FreeList<NodeBlocks<320>, 320>;
using F3 = FreeList<NodeBlocks<384>, 384>;
using F4 = FreeList<NodeBlocks<448>, 448>;
using F5 = FreeList<NodeBlocks<576>, 576>;

}  // namespace

void* Node::operator new(size_t size) {
  (void)kClass;
  if (size <= 256) return F1::take();
  if (size <= 320) return F2::take();
  if (size <= 384) return F3::take();
  if (size <= 448) return F4::take();
  if (size <= 576) return F5::take();
  return ::operator new(size, std::align_val_t(64));
}

void Node::operator delete(void* p, size_t size) {
  if (size <= 256) return F1::give(p);
  if (size <= 320) return F2::give(p);
  if (size <= 384) return F3::give(p);
  if (size <= 448) return F4::give(p);
  if (size <= 576) return F5::give(p);
  ::operator delete(p, std::align_val_t(64));
}

Node::Node() : sequence(g_sequence.fetch_add(1, std::memory_order_relaxed)) {}

Node::~Node() {
  if (FL_UNLIKELY(extras != nullptr)) {
    if (Py_IsInitialized()) {
      python::AcquireGil gil;
      delete extras;
    }
  }
}

// A node's destruction frees its edges and saved tensors, which free more nodes: those wait in a queue, so a long chain
// needs no stack.
void destroy(Node* n) {
  static thread_local std::vector<Node*>* queue = nullptr;
  if (queue) {
    queue->push_back(n);
    return;
  }
  std::vector<Node*> mine;
  queue = &mine;
  delete n;
  while (!mine.empty()) {
    Node* next = mine.back();
    mine.pop_back();
    delete next;
  }
  queue = nullptr;
}

Shape::Shape(const Tensor& t)
    : dtype_(t.dtype()), device_(t.device()), ndim_(static_cast<uint8_t>(t.dim())), defined_(true) {
  if (FL_LIKELY(ndim_ <= 4))
    std::copy(t.sizes().begin(), t.sizes().end(), inline_);
  else
    heap_ = t.sizes().vec();
}

// --- metadata of tensors
// --------------------------------------------------------------------------------------------------

namespace {

// Gradients have gradients: a chain of them is let go one after the other, not one inside the other.
void drop_without_stack(Tensor&& t) {
  static thread_local std::vector<Tensor>* queue = nullptr;
  if (queue) {
    queue->push_back(std::move(t));
    return;
  }
  std::vector<Tensor> mine;
  queue = &mine;
  t = Tensor();
  while (!mine.empty()) {
    Tensor next = std::move(mine.back());
    mine.pop_back();
  }
  queue = nullptr;
}

}  // namespace

Meta::~Meta() {
  if (FL_UNLIKELY(retains_grad)) forget_retained();
  if (grad.defined()) drop_without_stack(std::move(grad));
  if (FL_UNLIKELY(hooks || post_hooks)) {
    python::python_objects_in_graphs -= (hooks != nullptr) + (post_hooks != nullptr);
    if (!Py_IsInitialized()) return;
    python::AcquireGil gil;
    Py_XDECREF(static_cast<PyObject*>(hooks));
    Py_XDECREF(static_cast<PyObject*>(post_hooks));
  }
}

void Meta::attach(NodeRef node, uint32_t out) {
  if (FL_UNLIKELY(retains_grad)) {
    forget_retained();
    extras_of(*node).retain.emplace_back(out, this);
  }
  grad_fn = std::move(node);
  output = out;
  has_grad_fn = true;
  requires_grad = false;
}

void Meta::detach() {
  if (retains_grad) forget_retained();
  retains_grad = false;
  grad_fn = NodeRef();
  has_grad_fn = false;
  requires_grad = false;
}

void Meta::retain() {
  if (retains_grad || !grad_fn) return;
  extras_of(*grad_fn).retain.emplace_back(output, this);
  retains_grad = true;
}

void Meta::forget_retained() {
  if (grad_fn && grad_fn->extras)
    std::erase_if(grad_fn->extras->retain, [&](const auto& r) { return r.second == this; });
}

Meta& ensure_meta(const Tensor& t) {
  if (!t.impl()->autograd) t.impl()->autograd = new Meta;
  return *static_cast<Meta*>(t.impl()->autograd);
}

namespace {

void mark(const Tensor& t, bool on) {
  KeySet& ks = t.impl()->keys;
  const KeySet bit = key_bit(Key::Autograd);
  if (on || t.impl()->base)
    ks |= bit;
  else
    ks &= ~bit;
}

/// Adds the gradients that reach a leaf into its .grad.
struct AccumulateGrad final : Node {
  Tensor variable;
  explicit AccumulateGrad(const Tensor& v) : variable(v) {
    sequence = UINT64_MAX;  // as early as possible: the gradient's memory can be reused
    outputs.push_back(Shape(v));
  }
  ~AccumulateGrad() override {
    if (Meta* m = meta_of(variable); m && m->accumulator == this) m->accumulator = nullptr;
  }
  void reach(Reach& r) const override { r.tensor(variable); }
  void apply(const Tensor* grads, Tensor*) override { accumulate_into_leaf(variable, grads[0]); }
  const char* name() const override { return "AccumulateGrad"; }
  bool is_accumulator() const override { return true; }
};

/// Sees the gradient of a view from the gradient of its base.
struct AsStridedBackward final : Node {
  Geometry view;
  Shape base;
  Geometry base_geometry;
  void apply(const Tensor* grads, Tensor* results) override {
    if (grads[0].defined()) results[0] = as_strided_backward(grads[0], base_geometry, view, base.options());
  }
  const char* name() const override { return "AsStridedBackward0"; }
};

/// After a write through a view: the part of the base's gradient under the view goes through the writer's node, the
/// rest passes.
struct CopySlices final : Node {
  NodeRef writer;
  size_t self = 0;  ///< the edge of the writer, and of this node, that leads to what was overwritten
  Geometry view, base_geometry;
  Shape base;
  void apply(const Tensor* grads, Tensor* results) override {
    if (!grads[0].defined()) return;
    Tensor whole = strided_clone(grads[0], base_geometry);
    const Tensor part = as_strided(whole, view.sizes, view.strides, view.offset);
    const Tensor part_grad = ops_clone(part);
    std::vector<Tensor> inner(next.size());
    writer->apply(&part_grad, inner.data());
    if (needs(self)) {
      if (inner[self].defined())
        copy_in_graph(part, inner[self]);
      else
        zero_in_graph(part);
    }
    for (size_t i = 0; i < next.size(); ++i)
      if (needs(i)) results[i] = i == self ? whole : inner[i];
  }
  void reach(Reach& r) const override { r.node(writer.get()); }
  const char* name() const override { return "CopySlices"; }
  void release_saved() override { writer->release_saved(); }
};

/// A view that was made while recording was off, after somebody wrote to its base and was recorded: whether gradients
/// should pass is anybody's guess.
struct AmbiguousView final : Node {
  void apply(const Tensor*, Tensor*) override {
    FL_CHECK(false,
             "A view was created in no_grad mode and its base or another view of its base has been modified inplace "
             "with grad mode enabled. Given that this use case is ambiguous and error-prone, it is forbidden. Make the "
             "view outside the no_grad block, or write inside it.");
  }
  const char* name() const override { return "AmbiguousView"; }
};

}  // namespace

const Tensor& accumulated_variable(const Node& n) { return static_cast<const AccumulateGrad&>(n).variable; }

namespace {

Geometry geometry_of(const Tensor& t) { return {t.sizes().vec(), t.strides().vec(), t.storage_offset()}; }

Tensor base_of(const Tensor& t) { return Tensor::borrow(t.impl()->base); }

// A view's grad_fn is stale once its base's history was rebased by a write.
void refresh_view(const Tensor& t) {
  const Tensor base = base_of(t);
  Meta* bm = meta_of(base);
  if (!bm || !bm->rebased || !differentiable_type(t.dtype()) || t.dtype() != base.dtype()) return;
  Meta* m = meta_of(t);
  const uint32_t version = t.version();
  if (m && m->grad_fn && m->view_version == version) return;
  NodeRef node;
  if (FL_UNLIKELY(t.impl()->view_without_grad)) {
    if (bm->rebased_at <= t.impl()->version_at_view) return;  // made after the write: a constant
    node = make_node<AmbiguousView>();
  } else {
    node = make_node<AsStridedBackward>();
    auto& n = static_cast<AsStridedBackward&>(*node);
    n.view = geometry_of(t);
    n.base = Shape(base);
    n.base_geometry = geometry_of(base);
  }
  node->next.push_back(edge_of(base));
  node->outputs.push_back(Shape(t));
  Meta& own = ensure_meta(t);
  own.attach(std::move(node), 0);
  own.view_version = version;
  mark(t, true);
}

}  // namespace

bool differentiable(const Tensor& t) {
  if (!t.defined()) return false;
  if (FL_UNLIKELY(t.impl()->base != nullptr)) refresh_view(t);
  return t.requires_grad();
}

Node* grad_fn_of(const Tensor& t) {
  if (t.impl()->base) refresh_view(t);
  Meta* m = meta_of(t);
  return m ? m->grad_fn.get() : nullptr;
}

Edge edge_of(const Tensor& t) {
  if (!differentiable(t)) return {};
  Meta& m = *meta_of(t);
  if (m.grad_fn) return {m.grad_fn, m.output};
  if (m.accumulator) return {NodeRef::borrow(m.accumulator), 0};
  NodeRef node = make_node<AccumulateGrad>(t);
  m.accumulator = node.get();
  return {std::move(node), 0};
}

void set_requires_grad(const Tensor& t, bool value) {
  FL_CHECK(!value || differentiable_type(t.dtype()),
           "only Tensors of floating point and complex dtype can require gradients, got ", dtype_name(t.dtype()));
  FL_CHECK(!value || !t.impl()->inference || dispatch_state().inference_mode,
           "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.");
  Meta* m = meta_of(t);
  FL_CHECK(
      value || !m || !m->grad_fn,
      "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a subgraph that doesn't "
      "require differentiation use var_no_grad = var.detach().");
  if (!value && !m) return;
  Meta& own = ensure_meta(t);
  if (own.grad_fn) return;
  own.requires_grad = value;
  mark(t, value);
}

void set_history(const Tensor& t, const NodeRef& node) {
  if (!t.defined()) return;
  if (!differentiable_type(t.dtype())) {
    node->outputs.push_back(Shape(t));
    return;
  }
  Meta& m = ensure_meta(t);
  m.attach(node, static_cast<uint32_t>(node->outputs.size()));
  if (t.impl()->base) m.view_version = t.version();
  node->outputs.push_back(Shape(t));
  mark(t, true);
}

namespace {

bool is_leaf_with_grad(const Meta* m) { return m && m->requires_grad && !m->grad_fn; }

}  // namespace

void check_inplace(const char* op, const Tensor& t, bool recorded) {
  if (!grad_enabled()) return;
  const Meta* own = meta_of(t);
  if (!t.impl()->base) {
    FL_CHECK(!is_leaf_with_grad(own), "a leaf Variable that requires grad is being used in an in-place operation. [",
             op, "]");
    return;
  }
  const Tensor base = base_of(t);
  FL_CHECK(!t.impl()->view_without_grad || !(recorded || t.requires_grad() || base.requires_grad()), "[", op,
           "] A view was created in no_grad mode and is being modified inplace with grad mode enabled. Given that this "
           "use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the view "
           "and the inplace either both inside the no_grad block (if you don't want the inplace to be tracked) or both "
           "outside (if you want the inplace to be tracked).");
  FL_CHECK(!is_leaf_with_grad(own) && !is_leaf_with_grad(meta_of(base)),
           "a view of a leaf Variable that requires grad is being used in an in-place operation. [", op, "]");
}

void rebase_history(const Tensor& t, const NodeRef& node, size_t self) {
  const auto output = static_cast<uint32_t>(node->outputs.size());
  node->outputs.push_back(Shape(t));
  NodeRef maker = node;
  Tensor target = t;
  if (t.impl()->base) {
    target = base_of(t);
    FL_CHECK_NOT_IMPLEMENTED(target.dtype() == t.dtype(), "[", node->name(),
                             "] an in-place write through a view of another dtype cannot be differentiated");
    maker = make_node<CopySlices>();
    auto& c = static_cast<CopySlices&>(*maker);
    c.writer = node;
    c.self = self;
    c.view = geometry_of(t);
    c.base_geometry = geometry_of(target);
    c.base = Shape(target);
    c.next.resize(std::max(node->next.size(), self + 1));
    for (size_t i = 0; i < node->next.size(); ++i) c.next[i] = node->next[i];
    c.next[self] = edge_of(target);
    c.outputs.push_back(Shape(target));
  }
  Meta& m = ensure_meta(target);
  m.attach(maker, t.impl()->base ? 0 : output);
  m.rebased = true;
  m.rebased_at = target.version();
  mark(target, true);
  if (t.impl()->base) refresh_view(t);
}

// --- saved tensors
// --------------------------------------------------------------------------------------------------------

namespace {

// A class that handles operators makes its own alias, so that it stays the class it is.
Tensor apart_from_graph(const Tensor& t) {
  if (FL_LIKELY(!(t.keys() & key_bit(Key::Python)))) return alias_without_history(t);
  GradMode no_grad(false);
  return ops::detach(t);
}

}  // namespace

Saved::Saved(const Tensor& t, bool is_result) {
  if (!t.defined()) return;
  FL_CHECK(!t.impl()->inference,
           "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in "
           "computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and use "
           "it in autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`.");
  version_ = t.version();
  device_ = t.device().type;
  // A result that carries no gradient is a constant to the formula: it is not tied to the node when it comes back.
  is_result_ = is_result && grad_fn_of(t) != nullptr;
  if (saved_hooks_active() && !t.is_wrapped_number()) {
    hook_ = pack_saved(is_result ? apart_from_graph(t) : t);
    Meta* m = meta_of(t);
    output_ = m ? m->output : 0;
    return;
  }
  if (is_result) {
    Meta* m = meta_of(t);
    output_ = m ? m->output : 0;
    tensor_ = apart_from_graph(t);
    version_ = tensor_.version();
  } else {
    tensor_ = t;
  }
}

namespace {

// ", which is output 0 of Mul": what made the tensor that somebody wrote to.
std::string origin(const Tensor& t, bool is_result, uint32_t output, const Node* owner) {
  if (!is_result) {
    owner = grad_fn_of(t);
    if (const Meta* m = meta_of(t)) output = m->output;
  }
  if (!owner) return {};
  std::string name = owner->name();
  if (const size_t at = name.rfind("Backward"); at != std::string::npos && at > 0) name.resize(at);
  return concat(", which is output ", output, " of ", name, ",");
}

}  // namespace

Tensor Saved::unpack(const Node& owner) const { return unpack(&owner); }

Tensor Saved::unpack(const Node* owner) const {
  FL_CHECK(
      !owner || !owner->released,
      "Trying to backward through the graph a second time (or directly access saved tensors after they have already been freed). Saved intermediate "
      "values of the graph are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or if "
      "you need to access saved tensors after calling backward.");
  Tensor t;
  if (hook_) {
    t = unpack_saved(hook_.get());
    FL_CHECK(t.device().type == device_, "Tensor on device ", device_type_name(t.device().type),
             " is not on the expected device ", device_type_name(device_), "!");
  } else {
    if (!tensor_.defined()) return Tensor();
    const uint32_t now = tensor_.version();
    FL_CHECK(now == version_,
             "one of the variables needed for gradient computation has been modified by an inplace operation: [",
             tensor_type_name(tensor_), " ", tensor_.sizes(), "]", origin(tensor_, is_result_, output_, owner),
             " is at version ", now, "; expected version ", version_,
             " instead. Hint: enable anomaly detection to "
             "find the operation that failed to compute its gradient, with torch.autograd.set_detect_anomaly(True).");
    t = tensor_;
  }
  if (!is_result_ || !owner || !grad_enabled() || !differentiable_type(t.dtype())) return t;
  Tensor alias = apart_from_graph(t);  // connected to the node again, for double backward
  Meta& m = ensure_meta(alias);
  m.attach(NodeRef::borrow(const_cast<Node*>(owner)), output_);
  mark(alias, true);
  return alias;
}

void Saved::reach(Reach& r) const {
  r.tensor(tensor_);
  if (hook_ && hook_.use_count() == 1) reach_packed(hook_.get(), r);
}

void Saved::reset() {
  tensor_ = Tensor();
  hook_.reset();
}

namespace {

struct NotImplemented final : Node {
  std::string op;
  std::string label;
  explicit NotImplemented(const char* name) : op(name), label("NotImplemented") {}
  void apply(const Tensor*, Tensor*) override { FL_CHECK(false, "derivative for aten::", op, " is not implemented"); }
  const char* name() const override { return label.c_str(); }
};

}  // namespace

NodeRef make_not_implemented(const char* op) { return make_node<NotImplemented>(op); }

}  // namespace flambeau::autograd
