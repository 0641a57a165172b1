#pragma once
/// What the checks that opgen prints from records are made of.
#include "flambeau/core/operator.h"

namespace flambeau {

/// Throws the error of a failed check: the operator, the condition, and the values it looked at.
[[noreturn]] FL_API void throw_check(const Operator& op, ErrorKind kind, const char* condition,
                                     const std::string& values);

inline int64_t length_of(IntList list) { return static_cast<int64_t>(list.size()); }
inline int64_t length_of(TensorList list) { return static_cast<int64_t>(list.size()); }
inline int64_t length_of(const Value& list) { return list.size; }
/// Of the sizes of a tensor, or of a list of an argument; -1 where it overflows.
FL_API int64_t product_of(IntList list);
/// `list[index]`; negative counts from the end. Throws IndexError.
FL_API int64_t item_of(IntList list, int64_t index);
/// `list[from:to]`, with Python's rules for what lies outside.
FL_API IntList part_of(IntList list, int64_t from, int64_t to);
/// For messages: "None" where there is no tensor.
FL_API std::string shown_sizes(const Tensor& t);
FL_API std::string shown_dtype(const Tensor& t);

/// A kernel behind the checks of its record.
template <auto Check, Kernel K>
inline constexpr Kernel checked_kernel = [](const Operator& op, KeySet keys, const Value* args, Value* results) {
  Check(op, args);
  K(op, keys, args, results);
};

}  // namespace flambeau
