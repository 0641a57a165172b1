#include "flambeau/core/error.h"

#include <charconv>
#include <cstdint>

namespace flambeau {

Error::Error(std::string text, ErrorKind error_kind) : message(std::move(text)), kind(error_kind) {}
Error::~Error() = default;
const char* Error::what() const noexcept { return message.c_str(); }

#define FL_DEFINE_ERROR(Name, kind_)                                         \
  Name::Name(std::string text) : Error(std::move(text), ErrorKind::kind_) {} \
  Name::~Name() = default
FL_DEFINE_ERROR(ValueError, Value);
FL_DEFINE_ERROR(TypeError, Type);
FL_DEFINE_ERROR(IndexError, Index);
FL_DEFINE_ERROR(NotImplementedError, NotImplemented);
FL_DEFINE_ERROR(ShapeError, Shape);
FL_DEFINE_ERROR(DTypeError, DType);
FL_DEFINE_ERROR(DeviceError, Device);
FL_DEFINE_ERROR(FormatError, Format);
FL_DEFINE_ERROR(OutOfMemoryError, OutOfMemory);
FL_DEFINE_ERROR(InternalError, Internal);
#undef FL_DEFINE_ERROR

PythonError::PythonError() : Error("a Python exception is set", ErrorKind::Python) {}
PythonError::~PythonError() = default;

void throw_error(ErrorKind kind, std::string message) {
  switch (kind) {
    case ErrorKind::Runtime: break;
    case ErrorKind::Value: throw ValueError(std::move(message));
    case ErrorKind::Type: throw TypeError(std::move(message));
    case ErrorKind::Index: throw IndexError(std::move(message));
    case ErrorKind::NotImplemented: throw NotImplementedError(std::move(message));
    case ErrorKind::Shape: throw ShapeError(std::move(message));
    case ErrorKind::DType: throw DTypeError(std::move(message));
    case ErrorKind::Device: throw DeviceError(std::move(message));
    case ErrorKind::Format: throw FormatError(std::move(message));
    case ErrorKind::OutOfMemory: throw OutOfMemoryError(std::move(message));
    case ErrorKind::Python: throw PythonError();
    case ErrorKind::Internal: throw InternalError(std::move(message));
  }
  throw Error(std::move(message));
}

namespace text {

namespace {

template <class T> void append_number(std::string& out, T value) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  out.append(buffer, end);
}

}  // namespace

void append_signed(std::string& out, long long value) { append_number(out, value); }

void append_unsigned(std::string& out, unsigned long long value) { append_number(out, value); }

void append_double(std::string& out, double value) {
  const std::size_t start = out.size();
  append_number(out, value);
  // Python marks a float as one: 2.0, not 2. "inf", "nan" and exponents need no mark.
  if (out.find_first_not_of("-0123456789", start) == std::string::npos) out += ".0";
}

void append_pointer(std::string& out, const void* value) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, reinterpret_cast<std::uintptr_t>(value), 16).ptr;
  out += "0x";
  out.append(buffer, end);
}

}  // namespace text
}  // namespace flambeau
