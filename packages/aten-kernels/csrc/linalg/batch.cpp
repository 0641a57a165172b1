#include "linalg/batch.h"

#include <limits>

#include "flambeau/core/views.h"
#include "flambeau/python/object.h"
#include "pointwise/convert.h"

namespace flambeau::linalg {

void check_matrix(const char* op, const Tensor& a) {
  FL_CHECK(a.dim() >= 2, "[", op, "] The input tensor must have at least 2 dimensions, got sizes ", a.sizes());
  FL_CHECK(a.is_floating_point() || a.is_complex(), "[", op,
           "] Expected a floating point or complex tensor as input. Got ", dtype_name(a.dtype()));
  const DType t = a.dtype();
  FL_CHECK_NOT_IMPLEMENTED(
      t == DType::Float32 || t == DType::Float64 || t == DType::Complex64 || t == DType::Complex128, "[", op,
      "] not implemented for ", dtype_name(t), "; allowed: float32, float64, complex64, complex128");
}

void check_number(const char* op, const Tensor& a) {
  FL_CHECK_NOT_IMPLEMENTED(a.is_floating_point() || a.is_complex(), "[", op, "] not implemented for ",
                           dtype_name(a.dtype()), "; allowed: float32, float64, complex64, complex128");
}

void check_square(const char* op, const Tensor& a) {
  check_matrix(op, a);
  FL_CHECK(rows(a) == columns(a), "[", op, "] A must be batches of square matrices, but they are ", rows(a), " by ",
           columns(a), " matrices");
}

void check_same_dtype(const char* op, const Tensor& a, const Tensor& b) {
  FL_CHECK(a.dtype() == b.dtype(), "[", op, "] Expected all matrices to have the same dtype, but found ",
           dtype_name(a.dtype()), " and ", dtype_name(b.dtype()));
}

Int checked_int(const char* op, int64_t n) {
  FL_CHECK(n <= std::numeric_limits<Int>::max(), "[", op, "] a matrix of size ", n, " is beyond LAPACK's 32-bit sizes");
  return static_cast<Int>(n);
}

int64_t batch_count(const Tensor& a) {
  int64_t n = 1;
  for (const int64_t s : batch_sizes(a)) n *= s;
  return n;
}

TensorSpec matrix_spec(IntList batch, int64_t m, int64_t n, DType dtype) {
  TensorSpec spec{batch.vec(), dtype, {}};
  spec.sizes.push_back(m);
  spec.sizes.push_back(n);
  spec.strides = contiguous_strides(spec.sizes);
  spec.strides[batch.size()] = 1;
  spec.strides[batch.size() + 1] = std::max<int64_t>(m, 1);
  return spec;
}

TensorSpec vector_spec(IntList batch, int64_t n, DType dtype) {
  TensorSpec spec{batch.vec(), dtype, {}};
  spec.sizes.push_back(n);
  return spec;
}

TensorSpec info_spec(IntList batch) { return {batch.vec(), DType::Int32, {}}; }

Tensor allocate(const TensorSpec& spec) {
  if (spec.strides.empty()) return empty(spec.sizes, {spec.dtype});
  checked_numel(spec.sizes, "linalg");
  return empty_strided(spec.sizes, spec.strides, {spec.dtype});
}

Tensor column_major_copy(const Tensor& a, IntList batch) {
  Tensor copy = allocate(matrix_spec(batch, rows(a), columns(a), a.dtype()));
  if (copy.numel()) copy_values(copy, a);
  return copy;
}

Tensor column_major(const Tensor& a) {
  const TensorSpec spec = matrix_spec(batch_sizes(a), rows(a), columns(a), a.dtype());
  bool fits = true;
  for (size_t d = 0; d < spec.sizes.size(); ++d)
    fits = fits && (spec.sizes[d] <= 1 || a.strides()[d] == spec.strides[d]);
  return fits ? a : column_major_copy(a);
}

int64_t first_failure(const Tensor& info) {
  const int32_t* values = info.data_as<int32_t>();
  for (int64_t i = 0; i < info.numel(); ++i)
    if (values[i] != 0) return i;
  return -1;
}

void raise_linalg(const char* op, const Tensor& info, int64_t index, const std::string& text) {
  const std::string element = info.dim() ? "(Batch element " + std::to_string(index) + "): " : "";
  const std::string message = std::string(op) + ": " + element + text;
  {
    const python::AcquireGil gil;
    python::Owned module(PyImport_ImportModule("flambeau.linalg"));
    python::Owned cls(module ? PyObject_GetAttrString(module.get(), "LinAlgError") : nullptr);
    if (cls) PyErr_SetString(cls.get(), message.c_str());
  }
  throw PythonError();
}

void check_invertible(const char* op, const Tensor& info) {
  const int64_t i = first_failure(info);
  if (i < 0) return;
  raise_linalg(op, info, i,
               "The diagonal element " + std::to_string(info.data_as<int32_t>()[i]) +
                   " is zero, the inversion could not be completed because the input matrix is singular.");
}

}  // namespace flambeau::linalg
