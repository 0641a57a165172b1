// Systems with triangular matrices.
#include "flambeau/core/views.h"
#include "linalg/batch.h"
#include "pointwise/convert.h"

namespace flambeau {

using namespace linalg;

namespace {

bool is_row_major(const Tensor& a) { return a.is_contiguous() && rows(a) > 1 && columns(a) > 1; }

}  // namespace

TensorSpec solve_triangular_shape(const Tensor& self, const Tensor& B, bool, bool left, bool) {
  check_number("linalg.solve_triangular", self);
  check_square("linalg.solve_triangular", self);
  check_matrix("linalg.solve_triangular", B);
  check_same_dtype("linalg.solve_triangular", self, B);
  FL_CHECK((left ? rows(B) : columns(B)) == rows(self),
           "[linalg.solve_triangular] Incompatible shapes of A and B for the equation ", left ? "AX = B" : "XA = B",
           " (", rows(self), "x", columns(self), " and ", rows(B), "x", columns(B), ")");
  return matrix_spec(broadcast_shapes(batch_sizes(self), batch_sizes(B), "linalg.solve_triangular"), rows(B),
                     columns(B), B.dtype());
}

void solve_triangular_cpu(const Tensor& self, const Tensor& B, bool upper, bool left, bool unitriangular,
                          const Tensor& out) {
  if (!out.numel()) return;
  copy_values(out, B);
  const bool same_batch = batch_sizes(self) == batch_sizes(out);
  const bool transposed = same_batch && is_row_major(self);  // read as the column-major transpose
  const Tensor a = transposed ? self : same_batch ? column_major(self) : column_major_copy(self, batch_sizes(out));
  const Int m = checked_int("linalg.solve_triangular", rows(out)),
            n = checked_int("linalg.solve_triangular", columns(out)), order = left ? m : n;
  with_type(out.dtype(), [&]<class T>() {
    for_each_matrix(batch_count(out), 1.0 * m * n * order, [&](int64_t i) {
      static void* const f = lapack::routine<T>("trsm");
      const char side = left ? 'L' : 'R', uplo = upper != transposed ? 'U' : 'L', trans = transposed ? 'T' : 'N',
                 diag = unitriangular ? 'U' : 'N';
      const T one(1);
      lapack::call(f, &side, &uplo, &trans, &diag, &m, &n, &one, a.data_as<T>() + i * order * order, &order,
                   out.data_as<T>() + i * m * n, &m, lapack::kOne, lapack::kOne, lapack::kOne, lapack::kOne);
    });
  });
}

}  // namespace flambeau
