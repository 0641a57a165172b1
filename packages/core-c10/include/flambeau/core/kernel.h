#pragma once
/// Turns a typed function into a frame kernel: `kernel<&mm_cpu>`.
#include <tuple>
#include <utility>

#include "flambeau/core/operator.h"

namespace flambeau {

template <auto Fn> struct TypedKernel;
template <class R, class... Args, R (*Fn)(Args...)> struct TypedKernel<Fn> {
  template <size_t... I> static void run(const Value* args, Value* results, std::index_sequence<I...>) {
    if constexpr (std::is_void_v<R>) {
      Fn(Arg<Args>::get(args[I])...);
    } else if constexpr (std::is_same_v<R, const Tensor&>) {
      set_result(results, Tensor(Fn(Arg<Args>::get(args[I])...)));
    } else {
      set_result(results, Fn(Arg<Args>::get(args[I])...));
    }
  }
  static void frame(const Operator&, KeySet, const Value* args, Value* results) {
    run(args, results, std::index_sequence_for<Args...>{});
  }
};

template <auto Fn> inline constexpr Kernel kernel = &TypedKernel<Fn>::frame;

/// For functions that write to their first argument: counts the write.
template <auto Fn>
inline constexpr Kernel mutating_kernel = [](const Operator& op, KeySet keys, const Value* args, Value* results) {
  args[0].as_tensor().check_may_write();
  TypedKernel<Fn>::frame(op, keys, args, results);
  args[0].as_tensor().bump_version();
};

/// What a shape rule says about a result.
struct TensorSpec {
  std::vector<int64_t> sizes;
  DType dtype = DType::Float32;
  std::vector<int64_t> strides;  ///< empty: row-major
};

/// Payload of an operator with a shape rule and a kernel that fills results: functional, out and meta forms follow.
struct ShapedKernel {
  /// Runs first, before the shape rule; null where the record states no checks.
  void (*check)(const Operator& op, const Value* args);
  /// Checks the arguments and writes one spec a result.
  void (*shape)(const Value* args, TensorSpec* specs);
  /// Fills the results, which have the sizes and dtypes of the specs and overlap no argument.
  void (*run)(const Value* args, const Tensor* results);
};

template <auto Fn> struct TypedShape;
template <class R, class... Args, R (*Fn)(Args...)> struct TypedShape<Fn> {
  template <size_t... I> static void run(const Value* args, TensorSpec* specs, std::index_sequence<I...>) {
    if constexpr (std::is_same_v<R, TensorSpec>) {
      specs[0] = Fn(Arg<Args>::get(args[I])...);
    } else {
      std::apply(
          [&](auto&&... s) {
            size_t k = 0;
            ((specs[k++] = std::move(s)), ...);
          },
          Fn(Arg<Args>::get(args[I])...));
    }
  }
  static void frame(const Value* args, TensorSpec* specs) { run(args, specs, std::index_sequence_for<Args...>{}); }
};

/// `Fn(args..., results...)`: the last N parameters are `const Tensor&` results.
template <auto Fn, int N> struct TypedRun;
template <class... Args, void (*Fn)(Args...), int N> struct TypedRun<Fn, N> {
  template <size_t I> static decltype(auto) pick(const Value* args, const Tensor* results) {
    using T = std::tuple_element_t<I, std::tuple<Args...>>;
    constexpr size_t n = sizeof...(Args) - N;
    if constexpr (I < n)
      return Arg<T>::get(args[I]);
    else
      return static_cast<const Tensor&>(results[I - n]);
  }
  template <size_t... I> static void run(const Value* args, const Tensor* results, std::index_sequence<I...>) {
    Fn(pick<I>(args, results)...);
  }
  static void frame(const Value* args, const Tensor* results) {
    run(args, results, std::index_sequence_for<Args...>{});
  }
};

template <auto Shape, auto Run, int N = 1, auto Check = nullptr>
inline constexpr ShapedKernel shaped_kernel{Check, &TypedShape<Shape>::frame, &TypedRun<Run, N>::frame};

/// Kernels that read a ShapedKernel from `op.payload`.
FL_API void run_shaped_functional(const Operator& op, KeySet keys, const Value* args, Value* results);
FL_API void run_shaped_meta(const Operator& op, KeySet keys, const Value* args, Value* results);
/// Kernel of an operator that is another name for the one whose full name is its payload.
FL_API void run_alias(const Operator& op, KeySet keys, const Value* args, Value* results);
FL_API void run_shaped_out(const Operator& op, KeySet keys, const Value* args, Value* results);

}  // namespace flambeau
