"""Linear algebra against numpy, and its errors."""

import flambeau
import numpy as np
import pytest

REAL = [np.float32, np.float64]
ALL = [*REAL, np.complex64, np.complex128]
RNG = np.random.default_rng(0)


def random(*shape: int, dtype: type = np.float64) -> np.ndarray:
    x = RNG.standard_normal(shape)
    if np.issubdtype(dtype, np.complexfloating):
        x = x + 1j * RNG.standard_normal(shape)
    return x.astype(dtype)


def close(ours: flambeau.Tensor, theirs: np.ndarray) -> None:
    theirs = np.asarray(theirs)
    tolerance = 1e-3 if theirs.dtype in (np.float32, np.complex64) else 1e-9
    assert tuple(ours.shape) == theirs.shape
    np.testing.assert_allclose(ours.numpy(), theirs, rtol=tolerance, atol=tolerance)


SHAPES = [((3, 4), (4, 5)), ((4,), (4,)), ((3, 4), (4,)), ((4,), (4, 5)), ((2, 3, 4), (4, 5)), ((2, 3, 4), (4,)), ((4,), (2, 4, 5)),
          ((3, 4), (2, 4, 5)), ((7, 1, 3, 4), (2, 4, 5)), ((2, 0, 4), (4, 5)), ((2, 3, 0), (0, 5)), ((33, 65), (65, 17))]  # fmt: skip


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize(("a", "b"), SHAPES)
def test_matmul_of_all_ranks(a: tuple, b: tuple, dtype: type) -> None:
    x, y = random(*a, dtype=dtype), random(*b, dtype=dtype)
    close(flambeau.from_numpy(x) @ flambeau.from_numpy(y), x @ y)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64"])
def test_mm_of_integers_wraps(dtype: str) -> None:
    x = RNG.integers(0, 100, (5, 6)).astype(dtype)
    y = RNG.integers(0, 100, (6, 7)).astype(dtype)
    assert (flambeau.mm(flambeau.from_numpy(x), flambeau.from_numpy(y)).numpy() == x @ y).all()


def test_transposed_and_strided_operands_give_the_same_bits_as_copies() -> None:
    x = flambeau.from_numpy(random(40, 60, dtype=np.float32))
    y = flambeau.from_numpy(random(60, 30, dtype=np.float32))
    want = flambeau.mm(x, y).numpy()
    close(flambeau.mm(x.t().contiguous().t(), y), want)
    close(flambeau.mm(x, y.t().contiguous().t()), want)
    wide = flambeau.from_numpy(random(40, 120, dtype=np.float32))
    close(flambeau.mm(wide[:, ::2], y), wide.numpy()[:, ::2] @ y.numpy())
    row = flambeau.from_numpy(random(1, 60, dtype=np.float32))
    close(flambeau.mm(row.expand(40, 60), y), np.broadcast_to(row.numpy(), (40, 60)) @ y.numpy())


def test_beta_zero_ignores_nan() -> None:
    bad = flambeau.full((3, 3), float("nan"))
    eye = flambeau.eye(3)
    for result in (
        flambeau.addmm(bad, eye, eye, beta=0),
        flambeau.addmv(bad[0], eye, eye[0], beta=0),
        flambeau.addr(bad, eye[0], eye[0], beta=0),
    ):
        assert not result.isnan().any()


def test_out_that_is_an_operand() -> None:
    x = random(5, 5)
    t = flambeau.from_numpy(x.copy())
    flambeau.mm(t, t, out=t)
    close(t, x @ x)


@pytest.mark.parametrize(("call", "error", "words"), [
    (lambda: flambeau.mm(flambeau.ones(2, 3), flambeau.ones(4, 5)), RuntimeError, "2x3 and 4x5"),
    (lambda: flambeau.mm(flambeau.ones(2, 3), flambeau.ones(3, 5).double()), RuntimeError, "float32 and float64"),
    (lambda: flambeau.bmm(flambeau.ones(2, 3), flambeau.ones(3, 5)), RuntimeError, "3D"),
    (lambda: flambeau.dot(flambeau.ones(2), flambeau.ones(3)), RuntimeError, "2 and 3"),
    (lambda: flambeau.matmul(flambeau.ones(()), flambeau.ones(3)), RuntimeError, "0D"),
    (lambda: flambeau.addmm(flambeau.ones(3, 3), flambeau.ones(3, 4), flambeau.ones(4, 2)), RuntimeError, r"\[3, 3\]"),
    (lambda: flambeau.mm(flambeau.ones(2, 2, dtype=flambeau.bool), flambeau.ones(2, 2, dtype=flambeau.bool)), NotImplementedError, "bool"),
    (lambda: flambeau.linalg.inv(flambeau.zeros(2, 2)), flambeau.linalg.LinAlgError, "singular"),
    (lambda: flambeau.linalg.cholesky(-flambeau.eye(2)), flambeau.linalg.LinAlgError, "positive-definite"),
    (lambda: flambeau.linalg.solve(flambeau.zeros(2, 2), flambeau.ones(2)), flambeau.linalg.LinAlgError, "singular"),
    (lambda: flambeau.linalg.svd(flambeau.full((2, 2), float("nan"))), flambeau.linalg.LinAlgError, "non-finite"),
    (lambda: flambeau.linalg.inv(flambeau.ones(2, 3)), RuntimeError, "2 by 3"),
    (lambda: flambeau.linalg.inv(flambeau.ones(2, 2, dtype=flambeau.int32)), RuntimeError, "int32"),
])  # fmt: skip
def test_errors_name_what_was_given(call: object, error: type, words: str) -> None:
    with pytest.raises(error, match=words):
        call()


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("batch", [(), (3,), (2, 2)])
def test_factorisations_multiply_back(dtype: type, batch: tuple) -> None:
    x = random(*batch, 6, 4, dtype=dtype)
    t = flambeau.from_numpy(x)
    q, r = flambeau.linalg.qr(t)
    close(q @ r, x)
    u, s, vh = flambeau.linalg.svd(t, full_matrices=False)
    close((u * s.unsqueeze(-2)) @ vh, x)
    close(s, np.linalg.svd(x, compute_uv=False))
    p, low, up = flambeau.linalg.lu(t)
    close(p @ low @ up, x)
    square = random(*batch, 4, 4, dtype=dtype)
    a = flambeau.from_numpy(square)
    close(flambeau.linalg.inv(a) @ a, np.broadcast_to(np.eye(4, dtype=dtype), square.shape))
    close(flambeau.linalg.det(a), np.linalg.det(square))
    b = random(*batch, 4, 2, dtype=dtype)
    close(a @ flambeau.linalg.solve(a, flambeau.from_numpy(b)), b)
    spd = square @ square.conj().swapaxes(-1, -2) + 4 * np.eye(4, dtype=dtype)
    h = flambeau.from_numpy(spd)
    factor = flambeau.linalg.cholesky(h)
    close(factor @ factor.mH, spd)
    values, vectors = flambeau.linalg.eigh(h)
    close((vectors * values.unsqueeze(-2)) @ vectors.mH, spd)
    close(flambeau.linalg.pinv(t), np.linalg.pinv(x))


def test_empty_matrices() -> None:
    empty = flambeau.empty(0, 0)
    assert flambeau.linalg.det(empty).item() == 1
    assert flambeau.linalg.inv(flambeau.empty(2, 0, 0)).shape == (2, 0, 0)
    assert [tuple(t.shape) for t in flambeau.linalg.svd(flambeau.empty(3, 0))] == [(3, 3), (0,), (0, 0)]
    assert [tuple(t.shape) for t in flambeau.linalg.qr(flambeau.empty(0, 2))] == [(0, 0), (0, 2)]


@pytest.mark.parametrize("equation,shapes", [
    ("ij,jk->ik", [(2, 3), (3, 4)]), ("ij,jk", [(2, 3), (3, 4)]), ("ii", [(3, 3)]), ("ii->i", [(3, 3)]), ("...ij,...jk->...ik", [(5, 2, 3), (3, 4)]),
    ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)]), ("i,j->ij", [(2,), (3,)]), ("ij,ij->", [(2, 3), (2, 3)]), ("bn,anm,bm->ba", [(2, 5), (3, 5, 4), (2, 4)]),
    ("...ij->...ji", [(5, 2, 3)]), ("ij,kl->", [(2, 3), (4, 5)]), ("ii,i->i", [(3, 3), (3,)]), ("abc,cd,db->a", [(2, 3, 4), (4, 5), (5, 3)]),
    ("i...,i...->...", [(3, 4), (3, 4)]), ("ij->", [(2, 3)]),
])  # fmt: skip
def test_einsum(equation: str, shapes: list) -> None:
    operands = [random(*s) for s in shapes]
    close(flambeau.einsum(equation, *map(flambeau.from_numpy, operands)), np.einsum(equation, *operands))


def test_einsum_of_sublists() -> None:
    x, y = random(2, 3), random(3, 4)
    close(flambeau.einsum(flambeau.from_numpy(x), [0, 1], flambeau.from_numpy(y), [1, 2], [0, 2]), x @ y)


@pytest.mark.parametrize("order", [None, 1, 2, 3.5, 0, float("inf"), -float("inf"), -1])
def test_vector_norms(order: float | None) -> None:
    x = random(5)
    close(flambeau.linalg.norm(flambeau.from_numpy(x), order), np.linalg.norm(x, order))


@pytest.mark.parametrize("order", ["fro", "nuc", 1, -1, 2, -2, float("inf"), -float("inf")])
def test_matrix_norms(order: float | str) -> None:
    x = random(5, 4)
    close(flambeau.linalg.norm(flambeau.from_numpy(x), order), np.linalg.norm(x, order))


def test_matrix_exp_is_its_series() -> None:
    x = random(4, 4)
    want, term = np.eye(4), np.eye(4)
    for k in range(1, 60):
        term = term @ x / k
        want = want + term
    close(flambeau.linalg.matrix_exp(flambeau.from_numpy(x)), want)


@pytest.mark.parametrize("dtype", ["int64", "bfloat16", "float32", "float64", "complex64"])
def test_products_of_expanded_vectors_and_matrices(dtype: str) -> None:
    kind = getattr(flambeau, dtype)
    three = flambeau.full((1,), 3).to(kind)
    a = flambeau.arange(1, 13).reshape(3, 4).to(kind)
    rows = [10.0, 26.0, 42.0]
    wide = three.expand(4)
    assert flambeau.mv(a, wide).tolist() == [3 * r for r in rows]
    assert flambeau.dot(wide, a[0]).item() == 30
    assert flambeau.vdot(a[0], wide).item() == 30
    assert (a @ wide.unsqueeze(1)).flatten().tolist() == [3 * r for r in rows]
    assert (three.expand(3).unsqueeze(0) @ a).tolist() == [[45, 54, 63, 72]]
    assert (a @ three.reshape(1, 1).expand(4, 2)).tolist() == [[3 * r] * 2 for r in rows]
    assert (three.reshape(1, 1).expand(2, 3) @ a).tolist() == [[45, 54, 63, 72]] * 2
    assert flambeau.einsum("ij,j->i", a, wide).tolist() == [3 * r for r in rows]
    batch = a.expand(2, 3, 4)
    assert flambeau.bmm(batch, wide.reshape(1, 4, 1).expand(2, 4, 1)).flatten().tolist() == [3 * r for r in rows] * 2
    assert flambeau.bmm(three.expand(2, 1, 3), batch).tolist() == [[[45, 54, 63, 72]]] * 2
    assert flambeau.addmv(flambeau.zeros(3, dtype=kind), a, wide).tolist() == [3 * r for r in rows]


def test_matrix_exp_takes_square_floating_matrices_only() -> None:
    exp = flambeau.ops.aten._matrix_exp
    for bad in (flambeau.tensor(1.0), flambeau.ones(2, 3), flambeau.full((10, 10), 100), flambeau.ones(2, 2).bool()):
        with pytest.raises(RuntimeError, match="_matrix_exp"):
            exp(bad)
    with pytest.raises(NotImplementedError, match="float8"):
        exp(flambeau.ones(2, 2).to(flambeau.float8_e5m2))


@pytest.mark.parametrize("driver", ["gels", "gelsy", "gelsd", "gelss"])
def test_lstsq_refuses_nan_and_leaves_nothing_unwritten(driver: str, capfd: pytest.CaptureFixture) -> None:
    a, b = flambeau.from_numpy(random(3, 2)), flambeau.ones(3, 2, dtype=flambeau.float64)
    nan = flambeau.full((3, 2), float("nan"), dtype=flambeau.float64)
    for x, y in ((nan, b), (a, nan)):
        with pytest.raises(RuntimeError, match=r"linalg\.lstsq.* NaN"):
            flambeau.linalg.lstsq(x, y, driver=driver)
    infinite = flambeau.full((3, 2), float("inf"), dtype=flambeau.float64)
    if driver in ("gelsd", "gelss"):
        with pytest.raises(RuntimeError, match="infinities"):
            flambeau.linalg.lstsq(infinite, b, driver=driver)
    nothing = flambeau.linalg.lstsq(a, b[:, :0], driver=driver)
    assert nothing.solution.shape == (2, 0) and (driver == "gels" or nothing.rank.item() == 2)
    assert capfd.readouterr() == ("", "")
    singular = flambeau.ops.aten._linalg_lstsq(a, b, None, driver)[2]
    assert singular.shape == ((2,) if driver in ("gelsd", "gelss") else (0,))


def test_factorisations_of_nan() -> None:
    nan = float("nan")
    a = flambeau.tensor([[1.0, nan], [nan, 1.0]])
    with pytest.raises(flambeau.linalg.LinAlgError, match="order 2"):
        flambeau.linalg.cholesky(a)
    assert flambeau.linalg.cholesky_ex(flambeau.tensor([[nan, 0.0], [0.0, 1.0]])).info.item() == 1
    values, vectors = flambeau.linalg.eigh(flambeau.stack([a, flambeau.eye(2)]))
    assert bool(values[0].isnan().all()) and bool(vectors[0].isnan().all()) and values[1].tolist() == [1, 1]


def test_tensorsolve_moves_dims() -> None:
    solve = flambeau.linalg.tensorsolve
    assert solve(flambeau.tensor(2.0), flambeau.tensor(3.0)).item() == 1.5
    with pytest.raises(IndexError):
        flambeau.ops.aten.linalg_tensorsolve(flambeau.eye(2), flambeau.ones(2), [5])
    flambeau.ops.aten.linalg_tensorsolve(flambeau.tensor(1.0), flambeau.tensor(1.0), [0])
    a, b = random(2, 6, 3), random(2, 3)
    close(solve(flambeau.from_numpy(a), flambeau.from_numpy(b), (1,)), np.linalg.tensorsolve(a, b, (1,)))
