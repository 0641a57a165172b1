// mm, bmm and their forms with an addend; mv, dot, vdot.
#include "flambeau/core/kernel.h"
#include "flambeau/core/views.h"
#include "linalg/product.h"
#include "pointwise/convert.h"

namespace flambeau {

namespace {

void check_same_dtype(const char* op, const Tensor& a, const Tensor& b) {
  FL_CHECK(a.dtype() == b.dtype(), "[", op, "] expected both operands to have the same dtype, got ",
           dtype_name(a.dtype()), " and ", dtype_name(b.dtype()));
  check_product_dtype(op, a.dtype());
}

void check_matrices(const char* op, const Tensor& a, const Tensor& b) {
  FL_CHECK(a.dim() == 2 && b.dim() == 2, "[", op, "] both operands must be matrices, got sizes ", a.sizes(), " and ",
           b.sizes());
  FL_CHECK(a.sizes()[1] == b.sizes()[0], "[", op, "] mat1 and mat2 shapes cannot be multiplied (", a.sizes()[0], "x",
           a.sizes()[1], " and ", b.sizes()[0], "x", b.sizes()[1], ")");
  check_same_dtype(op, a, b);
}

void check_batches(const char* op, const Tensor& a, const Tensor& b) {
  FL_CHECK(a.dim() == 3, "[", op, "] batch1 must be a 3D tensor, got sizes ", a.sizes());
  FL_CHECK(b.dim() == 3, "[", op, "] batch2 must be a 3D tensor, got sizes ", b.sizes());
  FL_CHECK(a.sizes()[0] == b.sizes()[0] && a.sizes()[2] == b.sizes()[1], "[", op,
           "] Expected size for first two dimensions of batch2 tensor to be: [", a.sizes()[0], ", ", a.sizes()[2],
           "] but got: [", b.sizes()[0], ", ", b.sizes()[1], "]");
  check_same_dtype(op, a, b);
}

void check_vector_dims(const char* op, const Tensor& a, const Tensor& b) {
  FL_CHECK(a.dim() == 1 && b.dim() == 1, "[", op, "] 1D tensors expected, but got ", a.dim(), "D and ", b.dim(),
           "D tensors");
  FL_CHECK(a.dtype() == b.dtype(), "[", op, "] ", op, " : expected both vectors to have same dtype, but found ",
           dtype_name(a.dtype()), " and ", dtype_name(b.dtype()));
  FL_CHECK(a.sizes()[0] == b.sizes()[0], "[", op,
           "] inconsistent tensor size, expected both vectors to have the same number of elements, but got ",
           a.sizes()[0], " and ", b.sizes()[0]);
}

// The addend of addmm and its kin.
void check_addend(const char* op, const Tensor& self, const Tensor& operand, IntList sizes, const Scalar& beta,
                  const Scalar& alpha) {
  FL_CHECK(self.dtype() == operand.dtype(), "[", op,
           "] self and the operands of the product must have the same dtype, got ", dtype_name(self.dtype()), " and ",
           dtype_name(operand.dtype()));
  bool fits = static_cast<size_t>(self.dim()) <= sizes.size();
  for (size_t i = 1; fits && i <= static_cast<size_t>(self.dim()); ++i) {
    const int64_t have = self.sizes()[static_cast<size_t>(self.dim()) - i];
    fits = have == 1 || have == sizes[sizes.size() - i];
  }
  FL_CHECK(fits, "[", op, "] self of size ", self.sizes(), " cannot be expanded to the size of the product, ", sizes);
  if (is_complex(self.dtype())) return;
  beta.to_double();  // throws for a complex number
  alpha.to_double();
}

bool is_zero(const Scalar& s) { return s.real() == 0 && s.imag() == 0; }

// beta == 0 ignores what is in self, NaN included.
void place_addend(const Tensor& out, const Tensor& self, const Scalar& beta) {
  if (!is_zero(beta) && out.numel()) copy_values(out, self);
}

Tensor as_matrix(const Tensor& t, int64_t rows, int64_t columns, int64_t row_stride, int64_t column_stride) {
  Tensor m = alias_without_history(t);
  const int64_t sizes[] = {rows, columns}, strides[] = {row_stride, column_stride};
  set_geometry(*m.impl(), IntList(sizes, 2), IntList(strides, 2), t.storage_offset());
  return m;
}
Tensor as_column(const Tensor& t) { return as_matrix(t, t.sizes()[0], 1, t.strides()[0], 1); }
Tensor as_row(const Tensor& t) { return as_matrix(t, 1, t.sizes()[0], t.sizes()[0], t.strides()[0]); }

}  // namespace

TensorSpec mm_shape(const Tensor& self, const Tensor& mat2) {
  check_matrices("mm", self, mat2);
  return {{self.sizes()[0], mat2.sizes()[1]}, self.dtype(), {}};
}
void mm_cpu(const Tensor& self, const Tensor& mat2, const Tensor& out) { multiply_into(out, self, mat2, 1, 0); }

TensorSpec bmm_shape(const Tensor& self, const Tensor& mat2) {
  check_batches("bmm", self, mat2);
  return {{self.sizes()[0], self.sizes()[1], mat2.sizes()[2]}, self.dtype(), {}};
}
void bmm_cpu(const Tensor& self, const Tensor& mat2, const Tensor& out) { multiply_batch_into(out, self, mat2, 1, 0); }

TensorSpec addmm_shape(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta,
                       const Scalar& alpha) {
  check_matrices("addmm", mat1, mat2);
  TensorSpec spec{{mat1.sizes()[0], mat2.sizes()[1]}, mat1.dtype(), {}};
  check_addend("addmm", self, mat1, spec.sizes, beta, alpha);
  return spec;
}
void addmm_cpu(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha,
               const Tensor& out) {
  place_addend(out, self, beta);
  multiply_into(out, mat1, mat2, alpha, beta);
}

TensorSpec baddbmm_shape(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
                         const Scalar& alpha) {
  check_batches("baddbmm", batch1, batch2);
  TensorSpec spec{{batch1.sizes()[0], batch1.sizes()[1], batch2.sizes()[2]}, batch1.dtype(), {}};
  check_addend("baddbmm", self, batch1, spec.sizes, beta, alpha);
  return spec;
}
void baddbmm_cpu(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
                 const Scalar& alpha, const Tensor& out) {
  place_addend(out, self, beta);
  multiply_batch_into(out, batch1, batch2, alpha, beta);
}

TensorSpec addbmm_shape(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
                        const Scalar& alpha) {
  check_batches("addbmm", batch1, batch2);
  TensorSpec spec{{batch1.sizes()[1], batch2.sizes()[2]}, batch1.dtype(), {}};
  check_addend("addbmm", self, batch1, spec.sizes, beta, alpha);
  return spec;
}
void addbmm_cpu(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta, const Scalar& alpha,
                const Tensor& out) {
  place_addend(out, self, beta);
  if (batch1.sizes()[0] == 0)
    return multiply_into(out, as_matrix(batch1, out.sizes()[0], 0, 1, 1), as_matrix(batch2, 0, out.sizes()[1], 1, 1),
                         alpha, beta);
  for (int64_t i = 0; i < batch1.sizes()[0]; ++i)
    multiply_into(out, select(batch1, 0, i), select(batch2, 0, i), alpha, i ? Scalar(1) : beta);
}

namespace {
void check_matrix_vector(const char* op, const Tensor& mat, const Tensor& vec) {
  FL_CHECK(mat.dim() == 2 && vec.dim() == 1, "[", op, "] a matrix and a vector expected, got ", mat.dim(), "D and ",
           vec.dim(), "D tensors");
  FL_CHECK(mat.sizes()[1] == vec.sizes()[0], "[", op, "] size mismatch, got mat (", mat.sizes()[0], "x", mat.sizes()[1],
           "), vec (", vec.sizes()[0], ")");
  check_same_dtype(op, mat, vec);
}
}  // namespace

TensorSpec mv_shape(const Tensor& self, const Tensor& vec) {
  check_matrix_vector("mv", self, vec);
  return {{self.sizes()[0]}, self.dtype(), {}};
}
void mv_cpu(const Tensor& self, const Tensor& vec, const Tensor& out) {
  multiply_into(as_column(out), self, as_column(vec), 1, 0);
}

TensorSpec addmv_shape(const Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& beta,
                       const Scalar& alpha) {
  check_matrix_vector("addmv", mat, vec);
  TensorSpec spec{{mat.sizes()[0]}, mat.dtype(), {}};
  check_addend("addmv", self, mat, spec.sizes, beta, alpha);
  return spec;
}
void addmv_cpu(const Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& beta, const Scalar& alpha,
               const Tensor& out) {
  place_addend(out, self, beta);
  multiply_into(as_column(out), mat, as_column(vec), alpha, beta);
}

TensorSpec dot_shape(const Tensor& self, const Tensor& tensor) {
  check_vector_dims("dot", self, tensor);
  return {{}, self.dtype(), {}};
}
void dot_cpu(const Tensor& self, const Tensor& tensor, const Tensor& out) {
  multiply_into(as_matrix(out, 1, 1, 1, 1), as_row(self), as_column(tensor), 1, 0);
}

}  // namespace flambeau
