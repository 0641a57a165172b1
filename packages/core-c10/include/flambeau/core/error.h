#pragma once

#include <exception>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "flambeau/core/export.h"

// Errors that cross from C++ to Python, and the checks that raise them.
//
// A message reads "[op] what is wrong, what was given, what is allowed, what to do":
//     FL_CHECK(dim < rank, "[sum] dim ", dim, " is out of range for a tensor with ", rank, " dimensions");
// The parts are turned into text only when the check fails, in a cold function out of line, so a check costs one
// predicted branch. A type of your own becomes a part by providing, in its namespace,
//     void append_text(std::string& out, const YourType& value);

namespace flambeau {

// Which Python exception an error becomes.
enum class ErrorKind : unsigned char {
  Runtime,         // RuntimeError
  Value,           // ValueError
  Type,            // TypeError
  Index,           // IndexError
  NotImplemented,  // NotImplementedError
  Shape,           // RuntimeError, sizes or strides do not fit
  DType,           // RuntimeError, an element type is not supported or does not match
  Device,          // RuntimeError
  Format,          // RuntimeError, malformed serialised data
  OutOfMemory,     // OutOfMemoryError, a RuntimeError
  Python,          // a Python exception is already set on this thread: let it through
  Internal,        // RuntimeError, our mistake
};

// Base of all; on its own it is a Python RuntimeError. Destructors are out of line so that each class has one typeinfo.
struct FL_API Error : std::exception {
  explicit Error(std::string message, ErrorKind error_kind = ErrorKind::Runtime);
  ~Error() override;
  Error(const Error&) = default;
  Error& operator=(const Error&) = default;
  const char* what() const noexcept override;

  std::string message;
  ErrorKind kind;
};

#define FL_DECLARE_ERROR(Name)              \
  struct FL_API Name : Error {              \
    explicit Name(std::string message);     \
    ~Name() override;                       \
    Name(const Name&) = default;            \
    Name& operator=(const Name&) = default; \
  }
FL_DECLARE_ERROR(ValueError);
FL_DECLARE_ERROR(TypeError);
FL_DECLARE_ERROR(IndexError);
FL_DECLARE_ERROR(NotImplementedError);
FL_DECLARE_ERROR(ShapeError);
FL_DECLARE_ERROR(DTypeError);
FL_DECLARE_ERROR(DeviceError);
FL_DECLARE_ERROR(FormatError);
FL_DECLARE_ERROR(OutOfMemoryError);
FL_DECLARE_ERROR(InternalError);
#undef FL_DECLARE_ERROR

// Thrown to unwind C++ frames when the Python error indicator is already set. Carries no text of its own.
struct FL_API PythonError : Error {
  PythonError();
  ~PythonError() override;
  PythonError(const PythonError&) = default;
  PythonError& operator=(const PythonError&) = default;
};

// Throws the class that belongs to `kind`.
[[noreturn]] FL_API void throw_error(ErrorKind kind, std::string message);

namespace text {

FL_API void append_signed(std::string& out, long long value);
FL_API void append_unsigned(std::string& out, unsigned long long value);
FL_API void append_double(std::string& out, double value);  // shortest form that reads back, as Python's repr
FL_API void append_pointer(std::string& out, const void* value);

// Builtin types; lists (anything with data() and size()) print as [1, 2]; all else goes through append_text by ADL.
template <class T> void append(std::string& out, const T& value) {
  using U = std::decay_t<T>;
  if constexpr (std::is_same_v<U, bool>) {
    out += value ? "True" : "False";
  } else if constexpr (std::is_same_v<U, char>) {
    out += value;
  } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    out += std::string_view(value);
  } else if constexpr (std::is_floating_point_v<U>) {
    append_double(out, static_cast<double>(value));
  } else if constexpr (std::is_integral_v<U> && std::is_signed_v<U>) {
    append_signed(out, value);
  } else if constexpr (std::is_integral_v<U>) {
    append_unsigned(out, value);
  } else if constexpr (requires { append_text(out, value); }) {
    append_text(out, value);
  } else if constexpr (requires {
                         value.data();
                         value.size();
                       }) {
    out += '[';
    for (decltype(value.size()) i = 0; i < value.size(); ++i) {
      if (i != 0) out += ", ";
      append(out, value.data()[i]);
    }
    out += ']';
  } else if constexpr (std::is_pointer_v<U>) {
    append_pointer(out, value);
  } else {
    append_text(out, value);  // no way to print this type: provide append_text in its namespace
  }
}

}  // namespace text

// "a", 3, [1, 2] -> "a3[1, 2]"
template <class... Parts> std::string concat(const Parts&... parts) {
  std::string out;
  (text::append(out, parts), ...);
  return out;
}

namespace detail {

template <ErrorKind kind, class... Parts> [[noreturn, gnu::cold, gnu::noinline]] void fail(const Parts&... parts) {
  throw_error(kind, concat(parts...));
}

template <class... Parts>
[[noreturn, gnu::cold, gnu::noinline]] void fail_internal(const char* condition, const char* file, int line,
                                                          const Parts&... parts) {
  const std::string_view path(file);  // only the file's name: build paths tell the reader nothing
  throw_error(ErrorKind::Internal,
              concat("internal check failed: ", condition, " (", path.substr(path.find_last_of('/') + 1), ":", line,
                     ") ", parts..., sizeof...(parts) ? "; " : "", "this is a bug in flambeau, please report it"));
}

}  // namespace detail
}  // namespace flambeau

#define FL_CHECK_KIND(kind_, cond, ...)                                                            \
  do {                                                                                             \
    if (FL_UNLIKELY(!(cond))) ::flambeau::detail::fail<::flambeau::ErrorKind::kind_>(__VA_ARGS__); \
  } while (false)

// The caller's mistake; each names the Python exception it becomes.
#define FL_CHECK(cond, ...) FL_CHECK_KIND(Runtime, cond, __VA_ARGS__)
#define FL_CHECK_VALUE(cond, ...) FL_CHECK_KIND(Value, cond, __VA_ARGS__)
#define FL_CHECK_TYPE(cond, ...) FL_CHECK_KIND(Type, cond, __VA_ARGS__)
#define FL_CHECK_INDEX(cond, ...) FL_CHECK_KIND(Index, cond, __VA_ARGS__)
#define FL_CHECK_NOT_IMPLEMENTED(cond, ...) FL_CHECK_KIND(NotImplemented, cond, __VA_ARGS__)
#define FL_CHECK_SHAPE(cond, ...) FL_CHECK_KIND(Shape, cond, __VA_ARGS__)
#define FL_CHECK_DTYPE(cond, ...) FL_CHECK_KIND(DType, cond, __VA_ARGS__)
#define FL_CHECK_DEVICE(cond, ...) FL_CHECK_KIND(Device, cond, __VA_ARGS__)
#define FL_CHECK_FORMAT(cond, ...) FL_CHECK_KIND(Format, cond, __VA_ARGS__)

// Our mistake: says so and asks for a report.
#define FL_INTERNAL_CHECK(cond, ...)                                                                                   \
  do {                                                                                                                 \
    if (FL_UNLIKELY(!(cond))) ::flambeau::detail::fail_internal(#cond, __FILE__, __LINE__ __VA_OPT__(, ) __VA_ARGS__); \
  } while (false)
