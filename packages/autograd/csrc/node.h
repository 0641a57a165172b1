#pragma once
/// The graph that recorded operators leave behind: nodes, edges, what a node saves.
#include <memory>
#include <string>
#include <vector>

#include "flambeau/core/operator.h"

namespace flambeau::autograd {

class Node;
class Reach;
struct Meta;
void destroy(Node* n);
using NodeRef = Ref<Node>;

/// Geometry of a tensor without its memory. Has the accessors that formulas use, so a formula that only asks for the
/// sizes of an argument does not keep the argument alive.
class Shape {
 public:
  Shape() = default;
  Shape(const Tensor& t);
  IntList sizes() const { return {heap_.empty() ? inline_ : heap_.data(), static_cast<size_t>(ndim_)}; }
  int64_t dim() const { return ndim_; }
  int64_t size(int64_t d) const { return sizes()[static_cast<size_t>(wrap_dim(d, ndim_))]; }
  int64_t numel() const {
    int64_t n = 1;
    for (int64_t s : sizes()) n *= s;
    return n;
  }
  DType dtype() const { return dtype_; }
  Device device() const { return device_; }
  TensorOptions options() const { return {dtype_, device_}; }
  bool is_complex() const { return flambeau::is_complex(dtype_); }
  bool is_floating_point() const { return is_floating(dtype_); }
  bool defined() const { return defined_; }

 private:
  int64_t inline_[4];
  std::vector<int64_t> heap_;
  DType dtype_ = DType::Undefined;
  Device device_;
  uint8_t ndim_ = 0;
  bool defined_ = false;
};

/// A view's place in its base, to see the base through again.
struct Geometry {
  std::vector<int64_t> sizes, strides;
  int64_t offset = 0;
};

struct Edge {
  NodeRef node;
  uint32_t input = 0;  ///< which of the node's gradients this edge feeds
};

/// Up to N inline; nodes of one or two inputs allocate nothing.
template <class T, int N> class Few {
 public:
  T& operator[](size_t i) { return i < N ? inline_[i] : more_[i - N]; }
  const T& operator[](size_t i) const { return i < N ? inline_[i] : more_[i - N]; }
  size_t size() const { return size_; }
  void resize(size_t n) {
    if (n > N) more_.resize(n - N);
    size_ = n;
  }
  void push_back(T v) {
    resize(size_ + 1);
    (*this)[size_ - 1] = std::move(v);
  }

 private:
  T inline_[N];
  std::vector<T> more_;
  size_t size_ = 0;
};

/// Hooks and Python's view of a node; most nodes have none.
struct NodeExtras;

struct RunState;  // of the engine

class Node {
 public:
  RefCount refs;
  uint64_t sequence;      ///< later operators run earlier in backward
  Few<Edge, 2> next;      ///< one a differentiable input, in order
  Few<Shape, 1> outputs;  ///< of the operator's results: what gradients must look like
  NodeExtras* extras = nullptr;
  RunState* run = nullptr;  ///< of the backward that visits this node now
  bool released = false;    ///< saved tensors were freed by a backward that did not retain the graph

  Node();
  virtual ~Node();
  /// `grads` has one gradient an output (undefined: zero); fills one a `next` edge, undefined where there is none to
  /// give.
  virtual void apply(const Tensor* grads, Tensor* results) = 0;
  virtual const char* name() const = 0;
  virtual void release_saved() {}
  virtual bool is_accumulator() const { return false; }
  /// Whether apply is called though no gradient arrived (custom functions that do not materialise).
  virtual bool wants_undefined() const { return false; }
  /// Names what the node keeps beside its edges and extras, for the garbage collector.
  virtual void reach(Reach&) const {}
  /// The Python context of a custom function (borrowed), whose attributes the node shows as its own.
  virtual void* python_context() const { return nullptr; }

  bool needs(size_t i) const { return static_cast<bool>(next[i].node); }

  static void* operator new(size_t size);
  static void operator delete(void* p, size_t size);
};

template <class N, class... Args> Ref<Node> make_node(Args&&... args) {
  return Ref<Node>::steal(new N(std::forward<Args>(args)...));
}

/// What a leaf or a result keeps for autograd.
struct Meta final : AutogradMeta {
  NodeRef grad_fn;
  uint32_t output = 0;        ///< which result of grad_fn
  uint32_t view_version = 0;  ///< version when grad_fn was set, for views
  uint32_t rebased_at = 0;    ///< version after the in-place write that set the history
  bool rebased = false;       ///< history set by an in-place write: views made before must look again
  bool retains_grad = false;
  Tensor grad;
  Node* accumulator = nullptr;  ///< weak: the node clears it
  void* hooks = nullptr;        ///< PyObject dict of a leaf's hooks, owned
  void* post_hooks = nullptr;   ///< PyObject dict of post-accumulate hooks, owned
  ~Meta() override;
  void type_changed() override { accumulator = nullptr; }
  /// The tensor is result `out` of `node` from now on, with what was asked of its gradient.
  void attach(NodeRef node, uint32_t out);
  void detach();
  void retain();

 private:
  void forget_retained();
};

inline Meta* meta_of(const Tensor& t) { return static_cast<Meta*>(t.impl()->autograd); }
Meta& ensure_meta(const Tensor& t);

/// Whether an operator on `t` must be recorded. Brings a view up to date with writes through its base.
bool differentiable(const Tensor& t);
inline bool differentiable_type(DType t) { return is_floating(t) || is_complex(t); }

/// Edge that receives the gradient of `t`; empty when it wants none.
Edge edge_of(const Tensor& t);
/// grad_fn of `t`, brought up to date; null for leaves.
Node* grad_fn_of(const Tensor& t);

void set_requires_grad(const Tensor& t, bool value);
/// `t` is result `output` of `node`.
void set_history(const Tensor& t, const NodeRef& node);
/// `t` was overwritten by the operator of `node`, whose edge `self` led to it before; when it is a view, its base now
/// depends on it.
void rebase_history(const Tensor& t, const NodeRef& node, size_t self = 0);
/// Throws where autograd cannot allow the operator named `op` to write to `t`: leaves, views of leaves, views made
/// while recording was off. `recorded`: the write depends on something that requires gradients.
void check_inplace(const char* op, const Tensor& t, bool recorded);

/// A tensor kept for backward. Knows if it was written to since.
class Saved {
 public:
  Saved() = default;
  /// `is_result`: one of the recorded operator's own results, which must not own its node.
  Saved(const Tensor& t, bool is_result);
  /// The tensor. Throws RuntimeError naming the node when it was modified or freed.
  Tensor unpack(const Node& owner) const;
  /// The same where the node may be gone already (null).
  Tensor unpack(const Node* owner) const;
  void reset();
  void reach(Reach& r) const;
  bool defined() const { return tensor_.defined() || hook_; }

 private:
  Tensor tensor_;
  uint32_t version_ = 0;
  uint32_t output_ = 0;
  bool is_result_ = false;
  DeviceType device_ = DeviceType::CPU;
  std::shared_ptr<void> hook_;  // what saved_tensors_hooks packed, if any
};

/// The node of an operator whose derivative nobody wrote: fails when gradients arrive.
NodeRef make_not_implemented(const char* op);

/// The graph must not recurse: destroying a chain of a million nodes uses constant stack.
void destroy_later(Node* n);

}  // namespace flambeau::autograd
