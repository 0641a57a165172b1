// Reverse accumulation over the recorded graph, on the calling thread.
//
// First every node reachable from the roots learns how many gradients it will be sent; then nodes whose gradients are
// all in run, latest operator first. Per-node state hangs off the node itself while a run lasts: no hash table on the
// common path. A node that another run is already visiting (a nested backward, or one on another thread) keeps its
// second state in a map.
#include "engine.h"

#include <algorithm>
#include <deque>
#include <unordered_map>

#include "extras.h"
#include "formula.h"
#include "hooks.h"

namespace flambeau::autograd {

struct RunState {
  const void* owner = nullptr;
  uint32_t pending = 0;                            ///< gradients still to come
  bool captured = false;                           ///< a captured edge is at this node
  bool needed = true;                              ///< the node itself must run: a captured edge lies beyond it
  bool wanted = true;                              ///< either: its gradients must be computed
  Few<Tensor, 1> inputs;                           ///< gradients so far, one an output of the node
  Few<std::pair<uint32_t, uint32_t>, 1> captures;  ///< (output, index of the capture)
};

namespace {

constexpr size_t kMaxEdges = 8;  // of a node without a heap allocation

class Run {
 public:
  Run(const std::vector<Edge>* captures, BackwardOptions options) : captures_(captures), options_(options) {
    visited_.reserve(64);
    heap_.reserve(16);
  }
  ~Run() {
    for (Node* n : visited_)
      if (n->run && n->run->owner == this) n->run = nullptr;
  }

  std::vector<Tensor> go(const std::vector<Edge>& roots, const std::vector<Tensor>& grads) {
    for (const Edge& e : roots) count_from(e.node.get());
    if (captures_) mark_needed(roots);
    for (size_t i = 0; i < roots.size(); ++i)
      give(roots[i], fit_gradient(grads[i], roots[i].node->outputs[roots[i].input], "backward", i));
    for (const Edge& e : roots) {
      RunState& s = *state(e.node.get());
      if (s.pending == 0 && !queued(e.node.get())) push(e.node);
    }
    GradMode mode(options_.create_graph);
    while (!heap_.empty()) {
      std::pop_heap(heap_.begin(), heap_.end(), later);
      NodeRef n = std::move(heap_.back());
      heap_.pop_back();
      visit(*n);
    }
    return std::move(results_);
  }

 private:
  static bool later(const NodeRef& a, const NodeRef& b) { return a->sequence < b->sequence; }

  RunState* state(Node* n) {
    if (FL_LIKELY(n->run && n->run->owner == this)) return n->run;
    auto it = extra_.find(n);
    return it == extra_.end() ? nullptr : it->second;
  }
  RunState* make_state(Node* n) {
    RunState* s = &pool_.emplace_back();
    s->owner = this;
    if (!n->run) {
      n->run = s;
      visited_.push_back(n);
    } else {
      extra_[n] = s;
    }
    s->inputs.resize(std::max<size_t>(n->outputs.size(), 1));
    return s;
  }

  void count_from(Node* root) {
    if (state(root)) return;
    make_state(root);
    std::vector<Node*> stack{root};
    while (!stack.empty()) {
      Node* n = stack.back();
      stack.pop_back();
      for (size_t i = 0; i < n->next.size(); ++i) {
        Node* m = n->next[i].node.get();
        if (!m) continue;
        RunState* s = state(m);
        if (!s) {
          s = make_state(m);
          stack.push_back(m);
        }
        ++s->pending;
      }
    }
  }

  // Post-order over the graph: a node is needed when a captured edge is at it or above it.
  void mark_needed(const std::vector<Edge>& roots) {
    results_.resize(captures_->size());
    std::unordered_map<Node*, bool> done;
    for (size_t i = 0; i < captures_->size(); ++i) {
      const Edge& e = (*captures_)[i];
      RunState* s = e.node ? state(e.node.get()) : nullptr;
      if (!s) continue;
      s->captured = true;
      s->captures.push_back({e.input, static_cast<uint32_t>(i)});
    }
    for (const Edge& root : roots) {
      std::vector<std::pair<Node*, size_t>> stack{{root.node.get(), 0}};
      while (!stack.empty()) {
        auto& [n, i] = stack.back();
        if (i == 0 && done.count(n)) {
          stack.pop_back();
          continue;
        }
        if (i < n->next.size()) {
          Node* m = n->next[i++].node.get();
          if (m && !done.count(m)) stack.push_back({m, 0});
          continue;
        }
        bool needed = false;
        for (size_t k = 0; k < n->next.size(); ++k) {
          Node* m = n->next[k].node.get();
          if (m) needed |= state(m)->wanted;
        }
        RunState* s = state(n);
        s->needed = needed;
        s->wanted = needed || s->captured;
        done[n] = true;
        stack.pop_back();
      }
    }
  }

  void give(const Edge& e, const Tensor& grad) {
    if (!grad.defined()) return;
    RunState& s = *state(e.node.get());
    Tensor& slot = s.inputs[e.input];
    slot = slot.defined() ? add(slot, grad) : grad;
  }

  static Tensor add(const Tensor& a, const Tensor& b) { return sum_of(a, b); }

  bool queued(Node* n) const {
    return std::any_of(heap_.begin(), heap_.end(), [&](const NodeRef& h) { return h.get() == n; });
  }
  void push(NodeRef n) {
    heap_.push_back(std::move(n));
    std::push_heap(heap_.begin(), heap_.end(), later);
  }

  void visit(Node& n) {
    RunState& s = *state(&n);
    const size_t count = s.inputs.size();
    if (FL_UNLIKELY(n.extras != nullptr) || n.is_accumulator()) run_tensor_hooks(n, s.inputs);
    for (size_t i = 0; i < s.captures.size(); ++i) results_[s.captures[i].second] = s.inputs[s.captures[i].first];
    Tensor inputs[kMaxEdges];
    std::vector<Tensor> many;
    Tensor* grads = inputs;
    if (FL_UNLIKELY(count > kMaxEdges)) {
      many.resize(count);
      grads = many.data();
    }
    bool any = false;
    for (size_t i = 0; i < count; ++i) {
      grads[i] = std::move(s.inputs[i]);
      any = any || grads[i].defined();
    }
    Tensor results[kMaxEdges];
    std::vector<Tensor> many_results;
    Tensor* out = results;
    if (FL_UNLIKELY(n.next.size() > kMaxEdges)) {
      many_results.resize(n.next.size());
      out = many_results.data();
    }
    const bool run = (!captures_ || s.needed) && (any || n.wants_undefined()) && !(captures_ && n.is_accumulator());
    if (run) apply(n, grads, count, out);
    for (size_t i = 0; i < n.next.size(); ++i) {
      const Edge& e = n.next[i];
      if (!e.node) continue;
      RunState& target = *state(e.node.get());
      if (out[i].defined() && (!captures_ || target.wanted)) {
        out[i] = fit_gradient(out[i], e.node->outputs[e.input], n.name(), i);
        give(e, std::move(out[i]));
      }
      if (--target.pending == 0) push(e.node);
    }
  }

  void apply(Node& n, Tensor* grads, size_t count, Tensor* out) {
    if (FL_UNLIKELY(n.extras != nullptr)) run_pre_hooks(n, grads, count);
    try {
      n.apply(grads, out);
    } catch (const Error&) {
      report_anomaly(n);
      throw;
    }
    if (FL_UNLIKELY(n.extras != nullptr)) run_post_hooks(n, out, grads, count);
    if (FL_UNLIKELY(dispatch_state().anomaly_mode)) check_for_nan(n, out);
    if (!options_.keep_graph && !n.is_accumulator()) {
      n.release_saved();
      n.released = true;
    }
  }

  const std::vector<Edge>* captures_;
  BackwardOptions options_;
  std::deque<RunState> pool_;
  std::vector<Node*> visited_;
  std::unordered_map<Node*, RunState*> extra_;
  std::vector<NodeRef> heap_;
  std::vector<Tensor> results_;
};

}  // namespace

std::vector<Tensor> run_backward(const std::vector<Edge>& roots, const std::vector<Tensor>& grads,
                                 const std::vector<Edge>* captures, BackwardOptions options) {
  // The roots keep the graph alive while raw pointers to its nodes are in use.
  return Run(captures, options).go(roots, grads);
}

}  // namespace flambeau::autograd
