"""Products made of mm, bmm and pointwise operators."""

import math

import flambeau
from flambeau import Tensor

_ops = flambeau.ops.aten


def vdot(self: Tensor, other: Tensor) -> Tensor:
    """Sum of conj(self) * other."""
    if self.dtype.is_complex and self.dtype == other.dtype:
        return _ops.dot(self.conj(), other)
    return _ops.dot(self, other)


def inner(self: Tensor, other: Tensor) -> Tensor:
    """Sums of products over the last dims; a product if one operand is a number."""
    if self.dim() == 0 or other.dim() == 0:
        return self * other
    if self.shape[-1] != other.shape[-1]:
        raise RuntimeError(
            f"inner() the last dimension must match on both input tensors but got shapes {list(self.shape)} and {list(other.shape)}"
        )
    if self.dim() == 1 and other.dim() == 1:
        return _ops.dot(self, other)
    return tensordot(self, other, [[-1], [-1]])


def addr(self: Tensor, vec1: Tensor, vec2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """beta * self + alpha * outer(vec1, vec2); beta == 0 ignores self."""
    for name, vector in (("vec1", vec1), ("vec2", vec2)):
        if vector.dim() != 1:
            raise RuntimeError(f"addr: Expected 1-D argument {name}, but got {vector.dim()}-D")
    dtype = flambeau.promote_types(self.dtype, flambeau.promote_types(vec1.dtype, vec2.dtype))
    for name, number in (("beta", beta), ("alpha", alpha)):
        floating = isinstance(number, float) and not (dtype.is_floating_point or dtype.is_complex)
        if floating or (isinstance(number, complex) and not dtype.is_complex):
            what = ("integral", "floating point") if floating else ("non-complex", "complex")
            raise RuntimeError(f"For {what[0]} input tensors, argument {name} must not be a {what[1]} number.")
        if isinstance(number, bool) and dtype != flambeau.bool:
            raise RuntimeError(f"Boolean {name} only supported for Boolean results.")
    shape = (vec1.shape[0], vec2.shape[0])
    self.expand(shape)  # raises where it does not fit
    if dtype == flambeau.bool:
        product = _ops.outer(vec1, vec2) if alpha else flambeau.zeros(shape, dtype=dtype, device=self.device)
        return product | self if beta else product
    product = _ops.outer(vec1.to(dtype), vec2.to(dtype))
    if alpha != 1:
        product = product * alpha
    if beta == 0:
        return product
    return (self.to(dtype) if beta == 1 else self.to(dtype) * beta) + product


def vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor:
    """Sum of conj(x) * y along `dim`."""
    if x.dtype != y.dtype:
        raise RuntimeError(f"linalg.vecdot: Expected vectors to have the same dtype, got {x.dtype} and {y.dtype}")
    if not (x.dtype.is_floating_point or x.dtype.is_complex):
        raise RuntimeError(f"linalg.vecdot: Expected a floating point or complex tensor as input. Got {x.dtype}")
    x = x.conj() if x.dtype.is_complex else x
    if dim in (-1, x.dim() - 1) and x.dim() == y.dim() == 1:
        return _ops.dot(x, y)
    return (x * y).sum(dim)


def linalg_cross(self: Tensor, other: Tensor, *, dim: int = -1) -> Tensor:
    """Vector product along a dimension of size 3, operands broadcast."""
    if self.dim() != other.dim():
        raise RuntimeError(
            f"linalg.cross: inputs must have the same number of dimensions. Got {self.dim()} and {other.dim()}"
        )
    if self.dtype != other.dtype:
        raise RuntimeError(f"linalg.cross: expected operands of one dtype, got {self.dtype} and {other.dtype}")
    if not -self.dim() <= dim < max(self.dim(), 1):
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-self.dim()}, {self.dim() - 1}], but got {dim})"
        )
    if self.size(dim) != 3 or other.size(dim) != 3:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {self.size(dim)} and {other.size(dim)}"
        )
    a, b = flambeau.broadcast_tensors(self, other)
    a0, a1, a2 = a.unbind(dim)
    b0, b1, b2 = b.unbind(dim)
    return flambeau.stack((a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0), dim % a.dim())


def cross(self: Tensor, other: Tensor, dim: int | None = None) -> Tensor:
    """Vector product along `dim`, the first dimension of size 3 by default."""
    if dim is None:
        sizes = list(self.shape)
        if 3 not in sizes:
            raise RuntimeError(f"no dimension of size 3 in input, got sizes {sizes}")
        dim = sizes.index(3)
    return linalg_cross(self, other, dim=dim)


def _cheapest_order(sizes: list[int]) -> list[list[int]]:
    """Where to split each chain i..j of matrices of sizes[i] by sizes[i + 1] (Cormen et al., matrix-chain order)."""
    n = len(sizes) - 1
    cost: list[list[float]] = [[0] * n for _ in range(n)]
    split = [[0] * n for _ in range(n)]
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            cost[i][j] = math.inf
            for k in range(i, j):
                c = cost[i][k] + cost[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1]
                if c < cost[i][j]:
                    cost[i][j], split[i][j] = c, k
    return split


def multi_dot(tensors: list[Tensor]) -> Tensor:
    """Product of two or more matrices; the first and the last may be vectors."""
    n = len(tensors)
    if n < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {n}")
    chain = list(tensors)
    for position, word in ((0, "first"), (-1, "last")):
        if chain[position].dim() not in (1, 2):
            raise RuntimeError(f"multi_dot(): the {word} tensor must be 1D or 2D but got {chain[position].dim()}D")
    first_vector, last_vector = chain[0].dim() == 1, chain[-1].dim() == 1
    if first_vector:
        chain[0] = chain[0].unsqueeze(0)
    if last_vector:
        chain[-1] = chain[-1].unsqueeze(-1)
    for i in range(n):
        if chain[i].dim() != 2:
            raise RuntimeError(f"multi_dot(): tensor {i} must be 2D but got {chain[i].dim()}D")
        if chain[i].dtype != chain[0].dtype:
            raise RuntimeError(
                f"multi_dot(): all tensors must have be the same dtype but tensor 0 is {chain[0].dtype} and tensor {i} {chain[i].dtype}"
            )
        if i and chain[i - 1].shape[1] != chain[i].shape[0]:
            raise RuntimeError(
                f"multi_dot(): tensors {i - 1} and {i} with shapes {list(chain[i - 1].shape)} and {list(chain[i].shape)} cannot be multiplied"
            )
    split = _cheapest_order([t.shape[0] for t in chain] + [chain[-1].shape[1]])

    def product(i: int, j: int) -> Tensor:
        return chain[i] if i == j else _ops.mm(product(i, split[i][j]), product(split[i][j] + 1, j))

    result = product(0, n - 1)
    if first_vector:
        result = result.squeeze(0)
    return result.squeeze(-1) if last_vector else result


def chain_matmul(*matrices: Tensor, out: Tensor | None = None) -> Tensor:
    """Product of matrices in the cheapest order; the older name of linalg.multi_dot.

    Raises RuntimeError if an operand is no matrix, or sizes do not fit.
    """
    chain = matrices[0] if len(matrices) == 1 and isinstance(matrices[0], (list, tuple)) else matrices
    if not chain:
        raise RuntimeError("chain_matmul(): Expected one or more matrices")
    for matrix in chain:
        if matrix.dim() != 2:
            raise RuntimeError(f"chain_matmul(): Tensor dimension is {matrix.dim()}, expected 2 instead.")
    result = chain[0] if len(chain) == 1 else multi_dot(list(chain))
    return result if out is None else out.resize_(result.shape).copy_(result)


def tensordot(a: Tensor, b: Tensor, dims: int | list | Tensor = 2, out: Tensor | None = None) -> Tensor:
    """Sum of products over several dims: the last `dims` of a and the first of b, or two lists of dims.

    Raises RuntimeError if the sizes of the contracted dims differ.
    """
    left, right = _contracted(a, b, dims)
    left = [_wrapped(d, a) for d in left]
    right = [_wrapped(d, b) for d in right]
    for i, j in zip(left, right, strict=True):
        m, n = a.shape[i], b.shape[j]
        if m != n:
            if m == 1:
                b = b.sum(j, keepdim=True)
            elif n == 1:
                a = a.sum(i, keepdim=True)
            else:
                raise RuntimeError(
                    f"contracted dimensions need to match, but first has size {m} in dim {i} and second has size {n} in dim {j}"
                )
    free_a = [d for d in range(a.dim()) if d not in left]
    free_b = [d for d in range(b.dim()) if d not in right]
    shape = [a.shape[d] for d in free_a] + [b.shape[d] for d in free_b]
    inner_size = math.prod(a.shape[d] for d in left)
    rows = math.prod(a.shape[d] for d in free_a)
    columns = math.prod(b.shape[d] for d in free_b)
    x = a.permute(free_a + left).reshape(rows, inner_size)
    y = b.permute(right + free_b).reshape(inner_size, columns)
    result = _ops.mm(x, y).reshape(shape)
    return result if out is None else out.resize_(result.shape).copy_(result)


def _wrapped(d: int, t: Tensor) -> int:
    if not -t.dim() <= d < max(t.dim(), 1):
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-t.dim()}, {t.dim() - 1}], but got {d})"
        )
    return d % max(t.dim(), 1)


def _contracted(a: Tensor, b: Tensor, dims: int | list | Tensor) -> tuple[list[int], list[int]]:
    if isinstance(dims, Tensor):
        if dims.numel() > 1:
            left, right = dims[0].tolist(), dims[1].tolist()
            return (left if isinstance(left, list) else [left]), (right if isinstance(right, list) else [right])
        dims = int(dims.item())
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a.dim(), b.dim()):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        return list(range(a.dim() - dims, a.dim())), list(range(dims))
    if not isinstance(dims, (tuple, list)):
        raise RuntimeError(
            f"tensordot expects dims to be int or tuple[list[int], list[int]] or list[list[int]] containing two lists, but got dims={dims}"
        )
    left, right = dims
    left = [left] if isinstance(left, int) else list(left)
    right = [right] if isinstance(right, int) else list(right)
    if len(left) != len(right):
        raise RuntimeError(f"both dimension lists should have same length, got {len(left)} and {len(right)}")
    return left, right


def addbmm_(self: Tensor, batch1: Tensor, batch2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """addbmm into self; where self was broadcast it takes the size of the result, as in PyTorch."""
    result = flambeau.addbmm(self, batch1, batch2, beta=beta, alpha=alpha)
    if result.shape != self.shape:
        with flambeau.no_grad():
            self.resize_(result.shape)
    return self.copy_(result)
