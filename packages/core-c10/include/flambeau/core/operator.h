#pragma once
/// Operators and how a call finds its kernel.
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flambeau/core/schema.h"
#include "flambeau/core/value.h"

namespace flambeau {

class Operator;

/// See Note [Frames]. `keys` are those the call was dispatched with; a kernel that goes on calls
/// `redispatch(op, keys & keys_below(mine), args, results)`.
using Kernel = void (*)(const Operator& op, KeySet keys, const Value* args, Value* results);

/// Kernel of the keys Python and PythonMode wherever an operator has none of its own: filled in by the bindings.
FL_API extern Kernel python_key_kernel;

/// How an operator relates to its functional form.
enum class Variant : uint8_t { Functional, InPlace, Out, View };

enum class OpClass : uint8_t { Core, Composite, Fused };

/// Facts of an operator that come from its record in schemas/.
struct OpDef {
  const char* schema;  ///< "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"
  OpClass op_class;
  uint16_t flags;       ///< OpFlags
  Kernel kernel;        ///< CPU kernel, or a decomposition in C++; null where `python` is all there is
  const void* payload;  ///< what the kernel reads: a PointwiseKernel, a ShapedKernel...
  const char* python;   ///< "module:function" of a Python decomposition, or null
  const char* doc;
  uint8_t number_args = 0;  ///< a bit for each Tensor argument that a Python number may stand for
};

enum OpFlags : uint16_t {
  kFunction = 1,     ///< flambeau.<name>
  kMethod = 2,       ///< Tensor.<name>
  kNNModule = 4,     ///< flambeau._C._nn.<name>
  kInPlace = 8,      ///< make <name>_
  kOut = 16,         ///< make <name>.out
  kNumberArgs = 32,  ///< numbers may stand for all Tensor arguments at once; else one of them is a tensor
  kView = 64,        ///< results share storage with the first argument
  kNotDifferentiable = 128,
  kBackendFree = 256,  ///< the kernel works on geometry only and serves every backend
  kMutates = 512,      ///< writes to its first argument itself
  kLinalg = 1024,      ///< flambeau.linalg.<name without linalg_>
  kSpecial = 2048,
  kFft = 4096,
  kOutExact = 16384,     ///< out= has the dtype of the result
  kOutDisjoint = 32768,  ///< out= shares no memory with an input
};

/// What frames of calls have room for.
inline constexpr size_t kMaxArguments = 32, kMaxResults = 16;

class FL_API Operator {
 public:
  std::string ns;        ///< "aten"
  std::string name;      ///< "add"
  std::string overload;  ///< "Tensor"
  std::string doc;
  std::string python;  ///< "module:function" or empty
  OpClass op_class = OpClass::Core;
  Variant variant = Variant::Functional;
  uint16_t flags = 0;
  uint8_t num_args = 0;
  uint8_t num_results = 0;
  uint8_t number_args = 0;  ///< as in OpDef
  const void* payload = nullptr;
  Operator* functional = nullptr;  ///< of an in-place or out variant
  Operator* inplace = nullptr;
  Operator* out = nullptr;
  mutable void* binding = nullptr;  ///< the bindings' view of the schema (interned names), made on first call

  /// Parsed on first use: most operators of a process are never called.
  const Schema& schema() const { return schema_ ? *schema_ : parse(); }
  std::string qualified_name() const;

  void set_kernel(Key key, Kernel k);
  /// For every backend without a kernel of its own. `decomposes`: into other operators, so that calls are taken apart
  /// before Python's keys see them.
  void set_composite_kernel(Kernel k, bool decomposes);
  void clear_kernels();

  /// Puts a kernel over those there are, until `remove_kernel` of the number it returns. For one key, or for every
  /// backend that has no kernel of its own (`key` empty). The latest wins.
  uint64_t add_kernel(std::optional<Key> key, bool decomposes, Kernel k, void* context);
  /// The context it was added with; null where there is no such kernel.
  void* remove_kernel(uint64_t number);
  /// Whether a kernel that `add_kernel` put for this key is active.
  bool has_added_kernel(Key key) const;
  bool has_kernel(Key key) const { return table_[static_cast<int>(key)] != nullptr; }
  void* kernel_context(Key key) const { return added_ ? added_->context[static_cast<int>(key)] : nullptr; }

  KeySet active_keys() const { return active_; }
  Kernel kernel_at(int index) const { return table_[index]; }

  /// OR over the tensor arguments.
  KeySet keys_of(const Value* args) const {
    KeySet ks = 0;
    for (int i = 0; i < num_tensor_args_; ++i) {
      const Value& v = args[tensor_args_[i]];
      if (v.tag == Tag::Tensor)
        ks |= v.tensor->keys;
      else if (FL_UNLIKELY(v.tag == Tag::TensorList))
        for (uint32_t j = 0; j < v.size; ++j)
          if (v.tensors[j].defined()) ks |= v.tensors[j].keys();
    }
    if (FL_UNLIKELY(!ks)) ks = keys_without_tensors(args);
    return ks;
  }

  std::string schema_text;

 private:
  friend FL_API Operator& define_operator(std::string_view ns, const OpDef& def);
  friend FL_API Operator& define_operator(std::string_view ns, std::string_view schema);
  const Schema& parse() const;
  void read_shape_of_frame();
  KeySet keys_without_tensors(const Value* args) const;
  void recompute_table();

  /// Kernels of flambeau.library over the operator's own.
  struct Added {
    struct Entry {
      uint64_t number;
      std::optional<Key> key;
      bool decomposes;
      Kernel kernel;
      void* context;
    };
    Kernel own[kNumKeys];
    void* context[kNumKeys] = {};
    std::vector<Entry> entries;
  };

  Kernel table_[kNumKeys] = {};
  KeySet active_ = 0;
  std::unique_ptr<Added> added_;  ///< null for all but a few operators
  int8_t device_arg_ = -1;
  uint8_t num_tensor_args_ = 0;
  uint8_t tensor_args_[16] = {};
  mutable Schema* schema_ = nullptr;
};

[[noreturn]] FL_API void throw_no_kernel(const Operator& op, KeySet keys);
/// Throws where tensor arguments do not belong together on the backend that was chosen, or reach past their storage.
FL_API void check_arguments(const Operator& op, Key backend, const Value* args);

/// Runs the kernel of the highest active key in `keys`. A CPU kernel only ever sees tensors whose memory is there.
inline void redispatch(const Operator& op, KeySet keys, const Value* args, Value* results) {
  const KeySet ks = keys & op.active_keys();
  if (FL_UNLIKELY(!ks)) throw_no_kernel(op, keys);
  const int top = 31 - __builtin_clz(ks);
  const KeySet backends = keys & kBackendKeys;
  const bool is_mixed = backends & (backends - 1);
  if (FL_UNLIKELY(is_mixed || storage_has_shrunk.load(std::memory_order_relaxed)))
    if (key_bit(static_cast<Key>(top)) & kBackendKeys) check_arguments(op, static_cast<Key>(top), args);
  const Kernel kernel = op.kernel_at(top);
  (FL_LIKELY(kernel != nullptr) ? kernel : python_key_kernel)(op, keys, args, results);
}

inline void dispatch(const Operator& op, const Value* args, Value* results) {
  const DispatchState& s = dispatch_state();
  redispatch(op, (op.keys_of(args) | s.include) & ~s.exclude, args, results);
}

/// Calls an operator from C++ with typed arguments: `call<Tensor>(op, a, b, Scalar(1))`.
template <class R, class... Args> R call(const Operator& op, const Args&... args) {
  Value frame[sizeof...(Args) ? sizeof...(Args) : 1] = {Value(args)...};
  constexpr int n = Result<R>::count;
  Value results[n ? n : 1];
  dispatch(op, frame, results);
  return Result<R>::take(results);
}

// --- registry -------------------------------------------------------------------------------------------------------

/// Adds an operator with its in-place and out variants. Defining one twice throws RuntimeError.
FL_API Operator& define_operator(std::string_view ns, const OpDef& def);
/// From a schema alone (flambeau.library): no kernels yet.
FL_API Operator& define_operator(std::string_view ns, std::string_view schema);
FL_API void remove_operator(Operator& op);
/// Null when there is none. `name` is "add.Tensor", or "add" for the overload without a name.
FL_API Operator* find_operator(std::string_view ns, std::string_view name);
/// Throws RuntimeError naming near matches.
FL_API Operator& get_operator(std::string_view ns, std::string_view name);
/// Overloads of a name in order of definition; empty when there is none.
FL_API std::vector<Operator*> overloads(std::string_view ns, std::string_view name);
FL_API std::vector<std::string> operator_names(std::string_view ns);
FL_API std::vector<std::string> operator_namespaces();
/// Sees every operator defined from now on and those there are: how autograd and bindings follow.
FL_API void on_operator_defined(void (*callback)(Operator& op));

/// Device-independent ways to run a variant through its functional form.
FL_API void inplace_through_functional(const Operator& op, KeySet keys, const Value* args, Value* results);
FL_API void out_through_functional(const Operator& op, KeySet keys, const Value* args, Value* results);
/// Resizes `out` to `sizes` when it is not that shape (a warning when it was not empty), checks that `dtype` can be
/// cast to its dtype, and that it is not expanded.
/// What the record of an out variant asks of its outputs: kOutExact, kOutDisjoint.
FL_API void check_out_dtype(const Operator& op, const Tensor& out, DType dtype);
FL_API void check_out_disjoint(const Operator& op, const Value* args);
FL_API void prepare_out(const char* op, const Tensor& out, IntList sizes, DType dtype);

/// Kernel of a Python composite: filled in by the bindings.
FL_API extern Kernel python_composite_kernel;

}  // namespace flambeau
