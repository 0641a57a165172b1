#pragma once
/// The update rules of optimizers over flat arrays, compiled per instruction set.
#include <cstdint>

namespace flambeau::optim {

/// One parameter with its gradient and up to three state arrays, all of one dtype and layout.
struct Row {
  void* param = nullptr;
  void* grad = nullptr;
  void* state[3] = {nullptr, nullptr, nullptr};
  int64_t numel = 0;
  double step = 0;  ///< count of this update, from 1, where the rule needs it
};

/// What a rule is given besides the arrays. Each reads a part of it.
struct Options {
  double lr = 0, weight_decay = 0, eps = 0;
  double beta1 = 0, beta2 = 0;         // Adam
  double momentum = 0, dampening = 0;  // SGD, RMSprop
  double alpha = 0;                    // RMSprop
  double lr_decay = 0;                 // Adagrad
  bool maximize = false, decoupled = false, amsgrad = false, nesterov = false, first = false, centered = false;
};

/// Updates the elements [begin, end) of a row.
using Rule = void (*)(const Row& row, const Options& options, int64_t begin, int64_t end);

struct RuleTable {
  Rule adam;     ///< states: mean, mean square, largest mean square (amsgrad only)
  Rule sgd;      ///< states: momentum buffer (momentum only)
  Rule adagrad;  ///< states: sum of squares
  Rule rmsprop;  ///< states: mean square, mean (centered only), momentum buffer (momentum only)
  void (*divide)(void* x, double by, int64_t n);
  void (*add)(void* x, double value, int64_t n);
};

/// T is float or double.
template <class T> const RuleTable& rule_table();

}  // namespace flambeau::optim
