"""Products and decompositions. A decomposition is compared by what does not depend on signs."""

from __future__ import annotations

from . import lines

SAMPLES = [
    *lines("n", """
        fl.mm(t(3, 4), t(4, 5))
        fl.bmm(t(2, 3, 4), t(2, 4, 5))
        fl.matmul(t(4), t(4))
        fl.matmul(t(3, 4), t(4))
        fl.matmul(t(4), t(4, 3))
        fl.matmul(t(2, 3, 4), t(4, 5))
        fl.matmul(t(2, 1, 3, 4), t(5, 4, 2))
        nc(3, 4) @ nc(4, 5)
        fl.mm(t(0, 4), t(4, 5))
        fl.mm(t(3, 0), t(0, 5))
        fl.addmm(t(5), t(3, 4), t(4, 5), beta=2, alpha=3)
        fl.baddbmm(t(2, 3, 5), t(2, 3, 4), t(2, 4, 5))
        fl.dot(t(5), t(5))
        fl.mv(t(3, 4), t(4))
        fl.outer(t(3), t(4))
        fl.einsum('ij,jk->ik', t(3, 4), t(4, 5))
        fl.einsum('bij,bkj->bik', t(2, 3, 4), t(2, 5, 4))
        fl.einsum('ii', t(3, 3))
        fl.einsum('...i,i', t(2, 3), t(3))
        fl.einsum('i,j->ij', t(2), t(3))
        F.linear(t(2, 3), t(4, 3), t(4))
        F.linear(t(2, 5, 3), t(4, 3))
        fl.tensordot(t(2, 3), t(3, 4), 1)
        fl.addmv(t(3), t(3, 4), t(4))
        fl.addr(t(3, 4), t(3), t(4))
    """),
    *lines("f", """
        fl.mm(t(65, 130), t(130, 33))
        fl.mm(sl(20, 30), nc(30, 20))
        fl.linalg.norm(t(3, 4))
        fl.linalg.norm(t(3, 4), 'fro')
        fl.linalg.norm(t(3, 4), 2, dim=1)
        fl.linalg.vector_norm(t(5), 3)
        fl.linalg.matrix_norm(t(3, 4), 'nuc')
        fl.linalg.inv(spd(4))
        fl.linalg.inv(spd(2, 3))
        fl.linalg.solve(spd(4), t(4, 2))
        fl.linalg.solve(spd(4), t(4))
        fl.linalg.cholesky(spd(4))
        fl.linalg.cholesky(spd(2, 3), upper=True)
        fl.linalg.qr(t(5, 3))
        fl.linalg.qr(t(5, 3))[1].abs()
        fl.linalg.svdvals(t(4, 3))
        fl.linalg.svd(t(4, 3), full_matrices=False)[1]
        fl.linalg.eigvalsh(spd(4))
        fl.linalg.eigh(spd(4))[0]
        fl.linalg.det(spd(4))
        fl.linalg.slogdet(spd(2, 3))
        fl.linalg.det(t(0, 0))
        fl.linalg.pinv(t(4, 3))
        fl.linalg.matrix_rank(t(4, 3))
        fl.linalg.matrix_power(t(3, 3), 3)
        fl.linalg.lstsq(t(5, 3), t(5, 2)).solution
        fl.linalg.solve_triangular(spd(3), t(3, 2), upper=True)
        fl.linalg.multi_dot([t(2, 3), t(3, 4), t(4, 2)])
        fl.linalg.cross(t(2, 3), t(2, 3))
        fl.cdist(t(3, 4), t(5, 4))
        fl.cdist(t(2, 3, 4), t(2, 5, 4), 1.0)
        fl.pdist(t(4, 3))
    """),
    *lines("h", """
        fl.addbmm(t(3, 5), t(2, 3, 4), t(2, 4, 5))
        fl.inner(t(2, 3), t(4, 3))
        fl.vdot(t(5), t(5))
        fl.ger(t(3), t(4))
        fl.chain_matmul(t(2, 3), t(3, 4), t(4, 2))
        fl.linalg.vecdot(t(3, 4), t(3, 4))
        t(3, 4).__rmatmul__(t(2, 3))
        fl.addmm(t(3, 5), t(3, 4), t(4, 5), beta=0)
        fl.addmm(t(), t(3, 0), t(0, 5))
    """),
    *lines("c", """
        fl.linalg.inv_ex(spd(3))[0]
        fl.linalg.cholesky_ex(spd(3))[0]
        fl.linalg.solve_ex(spd(3), t(3, 2))[0]
        fl.linalg.inv(spd(2, 3))
        fl.linalg.solve(spd(2, 3), t(2, 3, 2))
        fl.linalg.solve(spd(3), t(3, 2), left=True)
        fl.linalg.solve(spd(3), t(2, 3), left=False)
        fl.linalg.svd(t(4, 3))[1]
        fl.linalg.svdvals(t(2, 3, 4))
        fl.svd(t(4, 3))[1]
        fl.qr(t(4, 3))[1].abs()
        fl.linalg.qr(t(2, 3, 4), mode='r')[1].abs()
        fl.linalg.eigh(spd(2, 3))[0]
        fl.linalg.eigvalsh(spd(3), UPLO='U')
        fl.cholesky(spd(3))
        fl.cholesky_solve(t(3, 2), fl.linalg.cholesky(spd(3)))
        fl.cholesky_inverse(fl.linalg.cholesky(spd(3)))
        fl.linalg.lu_factor(spd(3))
        fl.linalg.lu_factor_ex(spd(3))[0]
        fl.linalg.lu(spd(3))
        fl.lu_unpack(*fl.linalg.lu_factor(spd(3)))
        fl.linalg.lu_solve(*fl.linalg.lu_factor(spd(3)), t(3, 2))
        fl.lu_solve(t(3, 2), *fl.linalg.lu_factor(spd(3)))
        fl.linalg.ldl_factor(spd(3))[0]
        fl.linalg.ldl_factor_ex(spd(3))[0]
        fl.linalg.ldl_solve(*fl.linalg.ldl_factor(spd(3)), t(3, 2))
        fl.triangular_solve(t(3, 2), spd(3))[0]
        fl.linalg.solve_triangular(spd(2, 3), t(2, 3, 2), upper=False)
        fl.inverse(spd(3))
        fl.det(spd(2, 3))
        fl.logdet(spd(3))
        fl.slogdet(spd(3))
        fl.linalg.slogdet(spd(3))
        fl.pinverse(t(4, 3))
        fl.linalg.pinv(t(2, 3, 4))
        fl.linalg.cond(spd(3))
        fl.linalg.matrix_exp(t(3, 3))
        fl.matrix_exp(t(2, 3, 3))
        fl.linalg.eigvals(spd(3)).abs().sort()[0]
        fl.linalg.eig(spd(3))[0].abs().sort()[0]
        fl.linalg.tensorinv(spd(4).reshape(2, 2, 4), 2)
        fl.linalg.tensorsolve(spd(4).reshape(2, 2, 4), t(2, 2))
        fl.linalg.householder_product(*fl.geqrf(t(4, 3)))
        fl.orgqr(*fl.geqrf(t(4, 3)))
        fl.ormqr(*fl.geqrf(t(4, 3)), t(4, 2))
        fl.linalg.vander(t(3))
        fl.linalg.norm(t(3, 4), 'nuc')
        fl.linalg.norm(t(3, 4), 2)
        fl.linalg.norm(t(3, 4), -2)
        fl.linalg.norm(t(5), float('inf'))
        fl.linalg.norm(t(2, 3, 4), 1, dim=(1, 2), keepdim=True)
        fl.linalg.norm(fl.zeros_like(t(3)))
        fl.linalg.vector_norm(t(3, 4), 0)
        fl.linalg.vector_norm(t(3, 4), 1, 0)
        fl.linalg.vector_norm(t(3, 4), float('-inf'), 1)
        fl.linalg.matrix_norm(t(3, 4))
        fl.linalg.matrix_norm(t(2, 3, 4), 1)
        fl.linalg.det(spd(3))
        fl.linalg.diagonal(t(3, 4))
        fl.linalg.matmul(t(3, 4), t(4, 2))
        fl.linalg.matrix_power(spd(3), -2)
        fl.linalg.multi_dot([t(2, 3), t(3, 4), t(4)])
        fl.mm(t(3, 4), t(4, 5))
    """),
    *lines("h", """
        fl.mm(t(3, 4), t(4, 5))
        F.linear(t(2, 3), t(4, 3), t(4))
    """),
    *lines("-", """
        fl.mm(t(3, 4), t(5, 4))
        fl.mm(t(3), t(3, 4))
        fl.matmul(t(2, 3), t(2))
        fl.bmm(t(2, 3, 4), t(3, 4, 5))
        fl.dot(t(3), t(4))
        fl.mv(t(3, 4), t(3))
        fl.matmul(t(), t(3))
        fl.einsum('ij,jk->ik', t(3, 4))
        fl.einsum('ij,jk->il', t(3, 4), t(4, 5))
        fl.linalg.inv(t(3, 4))
        fl.linalg.inv(fl.zeros(3, 3))
        fl.linalg.solve(t(3, 3), t(4))
        fl.linalg.cholesky(-spd(3))
        F.linear(t(2, 3), t(4, 5))
        fl.addmm(t(7), t(3, 4), t(4, 5))
        fl.mm(t(3, 4), t(4, 5).double())
        fl.linalg.det(t(3, 4))
        fl.outer(t(2, 2), t(3))
    """),
]  # fmt: skip
