// One call updates all parameters of a group: lists are checked, laid over each other, and handed to the rules in
// chunks.
#include <algorithm>
#include <cmath>
#include <vector>

#include "cpu/for_isa.h"
#include "flambeau/core/kernel.h"
#include "flambeau/core/parallel.h"
#include "flambeau/core/python_hook.h"
#include "flambeau/ops/add.h"
#include "optim/fused_rules.h"
#include "pointwise/convert.h"

namespace flambeau {
namespace optim {

#define FL_OPTIM_DECLARE(isa)       \
  namespace isa {                   \
  extern const RuleTable rules_f32; \
  extern const RuleTable rules_f64; \
  }
FL_FOR_EACH_ISA(FL_OPTIM_DECLARE)

template <> const RuleTable& rule_table<float>() {
  static const RuleTable& chosen = FL_PICK_ISA(::rules_f32);
  return chosen;
}
template <> const RuleTable& rule_table<double>() {
  static const RuleTable& chosen = FL_PICK_ISA(::rules_f64);
  return chosen;
}

namespace {

// About 10 us of work.
constexpr int64_t kGrain = 8192;

const RuleTable& table_of(DType dtype) { return dtype == DType::Float32 ? rule_table<float>() : rule_table<double>(); }

void check_element(const char* op, const char* list, size_t i, const Tensor& t, DType dtype) {
  FL_CHECK(t.defined(), "[", op, "] ", list, "[", i, "] is None");
  FL_CHECK(t.is_cpu(), "[", op, "] ", list, "[", i, "] is on ", to_string(t.device()), "; this kernel is for the CPU");
  FL_CHECK_DTYPE(t.dtype() == dtype, "[", op, "] ", list, "[", i, "] is ", dtype_name(t.dtype()),
                 ", but the parameters are ", dtype_name(dtype));
}

bool same_layout(const Tensor& a, const Tensor& b) {
  return (a.is_contiguous() && b.is_contiguous()) || (a.strides() == b.strides() && a.is_non_overlapping_and_dense());
}

/// The lists of one call, as rows of flat arrays. What does not lie in memory as its parameter does is worked on in a
/// copy that does, and written back.
class Rows {
 public:
  Rows(const char* op, TensorList params) : op_(op), params_(params), rows_(params.size()) {
    if (params.empty()) return;
    FL_CHECK(params[0].defined(), "[", op, "] self[0] is None");
    dtype_ = params[0].dtype();
    FL_CHECK_DTYPE(dtype_ == DType::Float32 || dtype_ == DType::Float64, "[", op,
                   "] parameters are float32 or float64, got ", dtype_name(dtype_),
                   "; use the optimizer with fused=False");
    layouts_.reserve(params.size());
    for (size_t i = 0; i < params.size(); ++i) {
      const Tensor& p = params[i];
      check_element(op, "self", i, p, dtype_);
      FL_CHECK(!has_internal_overlap(p), "[", op, "] self[", i, "] has elements that share memory; clone it first");
      const bool dense = p.is_contiguous() || p.is_non_overlapping_and_dense();
      layouts_.push_back(dense ? p : empty(p.sizes(), p.options()));
      if (!dense) stage(p, layouts_.back(), true);
      rows_[i].param = layouts_[i].data();
      rows_[i].numel = p.numel();
      total_ += p.numel();
    }
  }

  void grads(TensorList list, bool written) {
    column(list, "grads", written, [](Row& r) -> void*& { return r.grad; });
  }

  /// `initialised` is false for states that the rule only writes.
  void states(TensorList list, const char* name, int slot) {
    column(list, name, true, [slot](Row& r) -> void*& { return r.state[slot]; });
  }

  void steps(TensorList list) {
    check_length(list, "state_steps");
    for (size_t i = 0; i < list.size(); ++i) {
      FL_CHECK(list[i].defined() && list[i].is_cpu() && list[i].numel() == 1 && !list[i].is_complex(), "[", op_,
               "] state_steps[", i, "] must be one real number on the CPU");
      rows_[i].step = item(list[i]).to_double();
    }
  }

  /// Divides the gradients, which are written to, by `scale`.
  void unscale(double scale) {
    if (params_.empty()) return;
    const RuleTable& table = table_of(dtype_);
    for (const Row& row : rows_) table.divide(row.grad, scale, row.numel);
  }

  void run(Rule RuleTable::* which, const Options& options) {
    if (params_.empty()) return;
    const Rule rule = table_of(dtype_).*which;
    if (total_ <= kGrain) {
      for (const Row& row : rows_) rule(row, options, 0, row.numel);
    } else {
      run_in_chunks(rule, options);
    }
    for (const auto& [target, work] : write_back_) copy_values(target, work);
    for (const Tensor* t : written_) t->bump_version();
    for (const Tensor& p : params_) p.bump_version();
  }

 private:
  void check_length(TensorList list, const char* name) const {
    FL_CHECK(list.size() == params_.size(), "[", op_, "] ", name, " has ", list.size(), " tensors, but there are ",
             params_.size(), " parameters");
  }

  template <class Field> void column(TensorList list, const char* name, bool written, Field field) {
    check_length(list, name);
    for (size_t i = 0; i < list.size(); ++i) {
      const Tensor& t = list[i];
      check_element(op_, name, i, t, dtype_);
      FL_CHECK_SHAPE(t.sizes() == params_[i].sizes(), "[", op_, "] ", name, "[", i, "] has shape ",
                     shape_string(t.sizes()), ", its parameter ", shape_string(params_[i].sizes()));
      if (same_layout(t, layouts_[i])) {
        field(rows_[i]) = t.data();
      } else {
        FL_CHECK(!written || !has_internal_overlap(t), "[", op_, "] ", name, "[", i,
                 "] has elements that share memory; clone it first");
        staged_.push_back(empty_like(layouts_[i]));
        stage(t, staged_.back(), written);
        field(rows_[i]) = staged_.back().data();
      }
      if (written) written_.push_back(&t);
    }
  }

  void stage(const Tensor& from, const Tensor& work, bool written) {
    copy_values(work, from);
    if (written) write_back_.emplace_back(from, work);
  }

  void run_in_chunks(Rule rule, const Options& options) {
    std::vector<int64_t> ends(rows_.size());
    int64_t end = 0;
    for (size_t i = 0; i < rows_.size(); ++i) ends[i] = end += rows_[i].numel;
    const ReleaseInterpreter long_work(total_ > 8 * kGrain);
    parallel_for(0, total_, kGrain, [&](int64_t first, int64_t last) {
      size_t i = static_cast<size_t>(std::upper_bound(ends.begin(), ends.end(), first) - ends.begin());
      while (first < last) {
        const int64_t start = ends[i] - rows_[i].numel;
        const int64_t stop = std::min(last, ends[i]);
        if (stop > first) rule(rows_[i], options, first - start, stop - start);
        first = std::max(first, stop);
        ++i;
      }
    });
  }

  const char* op_;
  TensorList params_;
  std::vector<Row> rows_;
  std::vector<Tensor> layouts_, staged_;
  std::vector<std::pair<Tensor, Tensor>> write_back_;
  std::vector<const Tensor*> written_;
  DType dtype_ = DType::Float32;
  int64_t total_ = 0;
};

/// True if a gradient scaler found an overflow: the step is then left out.
bool overflowed(const Tensor& found_inf) { return found_inf.defined() && item(found_inf).to_double() != 0; }

void take_gradients(Rows& rows, TensorList grads, const Tensor& grad_scale) {
  rows.grads(grads, grad_scale.defined());
  if (grad_scale.defined()) rows.unscale(item(grad_scale).to_double());
}

void run_adam(const char* op, TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs,
              TensorList max_exp_avg_sqs, TensorList state_steps, const Options& options, const Tensor& grad_scale,
              const Tensor& found_inf) {
  if (overflowed(found_inf)) return;
  Rows rows(op, self);
  take_gradients(rows, grads, grad_scale);
  rows.states(exp_avgs, "exp_avgs", 0);
  rows.states(exp_avg_sqs, "exp_avg_sqs", 1);
  if (options.amsgrad) rows.states(max_exp_avg_sqs, "max_exp_avg_sqs", 2);
  rows.steps(state_steps);
  rows.run(&RuleTable::adam, options);
}

}  // namespace
}  // namespace optim

using optim::Options;
using optim::Rows;
using optim::RuleTable;

void fused_adam_(TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs,
                 TensorList max_exp_avg_sqs, TensorList state_steps, double lr, double beta1, double beta2,
                 double weight_decay, double eps, bool amsgrad, bool maximize, const Tensor& grad_scale,
                 const Tensor& found_inf) {
  Options o;
  o.lr = lr, o.beta1 = beta1, o.beta2 = beta2, o.weight_decay = weight_decay, o.eps = eps;
  o.amsgrad = amsgrad, o.maximize = maximize;
  optim::run_adam("_fused_adam_", self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, o, grad_scale,
                  found_inf);
}

void fused_adamw_(TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs,
                  TensorList max_exp_avg_sqs, TensorList state_steps, double lr, double beta1, double beta2,
                  double weight_decay, double eps, bool amsgrad, bool maximize, const Tensor& grad_scale,
                  const Tensor& found_inf) {
  Options o;
  o.lr = lr, o.beta1 = beta1, o.beta2 = beta2, o.weight_decay = weight_decay, o.eps = eps;
  o.amsgrad = amsgrad, o.maximize = maximize, o.decoupled = true;
  optim::run_adam("_fused_adamw_", self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, o, grad_scale,
                  found_inf);
}

void fused_sgd_(TensorList self, TensorList grads, TensorList momentum_buffer_list, double weight_decay,
                double momentum, double lr, double dampening, bool nesterov, bool maximize, bool is_first_step,
                const Tensor& grad_scale, const Tensor& found_inf) {
  if (optim::overflowed(found_inf)) return;
  Options o;
  o.lr = lr, o.weight_decay = weight_decay, o.momentum = momentum, o.dampening = dampening;
  o.nesterov = nesterov, o.maximize = maximize, o.first = is_first_step;
  Rows rows("_fused_sgd_", self);
  optim::take_gradients(rows, grads, grad_scale);
  if (momentum != 0) rows.states(momentum_buffer_list, "momentum_buffer_list", 0);
  rows.run(&RuleTable::sgd, o);
}

void fused_adagrad_(TensorList self, TensorList grads, TensorList state_sums, TensorList state_steps, double lr,
                    double lr_decay, double weight_decay, double eps, bool maximize, const Tensor& grad_scale,
                    const Tensor& found_inf) {
  if (optim::overflowed(found_inf)) return;
  Options o;
  o.lr = lr, o.lr_decay = lr_decay, o.weight_decay = weight_decay, o.eps = eps, o.maximize = maximize;
  Rows rows("_fused_adagrad_", self);
  optim::take_gradients(rows, grads, grad_scale);
  rows.states(state_sums, "state_sums", 0);
  rows.steps(state_steps);
  rows.run(&RuleTable::adagrad, o);
}

void fused_rmsprop_(TensorList self, TensorList grads, TensorList square_avgs, TensorList grad_avgs,
                    TensorList momentum_buffer_list, double lr, double alpha, double eps, double weight_decay,
                    double momentum, bool centered, bool maximize) {
  Options o;
  o.lr = lr, o.alpha = alpha, o.eps = eps, o.weight_decay = weight_decay, o.momentum = momentum;
  o.centered = centered, o.maximize = maximize;
  Rows rows("_fused_rmsprop_", self);
  rows.grads(grads, false);
  rows.states(square_avgs, "square_avgs", 0);
  if (centered) rows.states(grad_avgs, "grad_avgs", 1);
  if (momentum > 0) rows.states(momentum_buffer_list, "momentum_buffer_list", 2);
  rows.run(&RuleTable::rmsprop, o);
}

void foreach_add_scalar_(TensorList self, const Scalar& scalar) {
  for (size_t i = 0; i < self.size(); ++i) {
    const Tensor& t = self[i];
    FL_CHECK(t.defined(), "[_foreach_add_] self[", i, "] is None");
    // The step counts of optimizers: not worth a dispatch each.
    const bool plain = t.is_cpu() && t.is_contiguous() && (t.dtype() == DType::Float32 || t.dtype() == DType::Float64);
    if (plain && !scalar.is_complex()) {
      optim::table_of(t.dtype()).add(t.data(), scalar.to_double(), t.numel());
      t.bump_version();
    } else {
      ops::add_(t, wrapped_number(scalar));
    }
  }
}

}  // namespace flambeau
