"""What the bindings take: numbers in the place of tensors, and out= that the record restricts."""

import flambeau as fl
import numpy as np
import pytest

X = fl.tensor([1, 2, 3])

NEVER = ["hypot", "gcd", "lcm", "nextafter", "heaviside", "logical_and", "logical_xor", "atan2", "igamma", "maximum"]
OTHER = ["eq", "ne", "lt", "le", "gt", "ge", "fmod", "copysign", "rsub", "greater", "not_equal"]
ONE = ["remainder", "bitwise_and", "bitwise_or", "bitwise_left_shift", "xlogy", "pow", "float_power"]
ALL = ["add", "sub", "mul", "div", "floor_divide", "true_divide", "subtract"]


@pytest.mark.parametrize(
    ("names", "right", "left", "both"),
    [(NEVER, False, False, False), (OTHER, True, False, False), (ONE, True, True, False), (ALL, True, True, True)],
)
def test_where_numbers_stand_for_tensors(names, right, left, both):
    for name in names:
        f = getattr(fl, name)
        for allowed, arguments in ((right, (X, 2)), (left, (2, X)), (both, (2, 3))):
            if allowed:
                assert isinstance(f(*arguments), fl.Tensor), (name, arguments)
            else:
                with pytest.raises(TypeError):
                    f(*arguments)


def test_unary_operators_take_no_numbers():
    for name in ("exp", "neg", "abs", "isnan", "ceil"):
        with pytest.raises(TypeError):
            getattr(fl, name)(2.0)


def test_numbers_on_either_side_of_operators():
    assert (2 % X).tolist() == [0, 0, 2] and (5 & X).tolist() == [1, 0, 1] and (1 << X).tolist() == [2, 4, 8]
    assert (2**X).tolist() == [2, 4, 8] and (X == 2).tolist() == [False, True, False]
    assert fl.where(X > 1, 1, 0).tolist() == [0, 1, 1]
    assert X.__rdiv__(6).tolist() == [6, 3, 2]


def test_a_tensor_of_no_dims_is_not_taken_for_a_dim():
    assert fl.max(fl.tensor(3), fl.tensor(5)).item() == 5
    assert fl.min(X, fl.tensor(2)).tolist() == [1, 2, 2]
    assert fl.clamp_max(fl.tensor([True, False]), fl.tensor(False)).tolist() == [False, False]


@pytest.mark.parametrize("name", ["abs", "ceil", "neg", "sign", "trunc"])
def test_out_of_exact_dtype(name):
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype"):
        getattr(fl, name)(fl.ones(2), out=fl.empty(2, dtype=fl.float64))
    out = fl.empty(2)
    assert getattr(fl, name)(fl.ones(2), out=out) is out


def test_out_that_may_be_cast():
    out = fl.empty(2, dtype=fl.float64)
    assert fl.add(fl.ones(2), 1, out=out).tolist() == [2, 2]


def test_out_that_must_be_apart():
    x, at = fl.arange(6.0), fl.tensor([0, 2, 4])
    for call in (
        lambda: fl.take(x, at, out=x),
        lambda: fl.index_select(x, 0, at, out=x[:3]),
        lambda: fl.masked_select(x, x > 2, out=x),
        lambda: fl.kthvalue(x, 2, out=(x, fl.empty((), dtype=fl.int64))),
        lambda: fl.index_select(x, 0, at, out=fl.empty(1).expand(3)),
    ):
        with pytest.raises(RuntimeError, match="unsupported operation"):
            call()
    assert x.tolist() == list(range(6))


def test_classification_of_every_dtype():
    for dtype in (fl.bool, fl.uint8, fl.int8, fl.int16, fl.int32, fl.int64):
        x = fl.tensor([0, 1], dtype=dtype)
        assert fl.isfinite(x).tolist() == [True, True]
        for name in ("isnan", "isinf", "isposinf", "isneginf"):
            got = getattr(fl, name)(x)
            assert got.dtype is fl.bool and got.tolist() == [False, False]
    z = fl.tensor([complex(float("inf"), 0), complex(0, float("nan")), 1j])
    assert fl.isinf(z).tolist() == [True, False, False] and fl.isnan(z).tolist() == [False, True, False]


def test_square_of_bool_is_integer_and_conj_of_real_is_itself():
    got = fl.square(fl.tensor([True, False]))
    assert got.dtype is fl.int64 and got.tolist() == [1, 0]
    for dtype in (fl.bool, fl.int64, fl.float32):
        x = fl.tensor([0, 1], dtype=dtype)
        assert fl.conj_physical(x).dtype is dtype and fl.equal(fl.conj_physical(x), x)


def test_logaddexp_of_complex_numbers():
    rng = np.random.default_rng(3)
    a, b = (rng.normal(size=20) + 1j * rng.normal(size=20) for _ in range(2))
    want = np.exp(a) + np.exp(b)  # the angle is not brought back to one turn
    for dtype, rtol in ((np.complex64, 1e-5), (np.complex128, 1e-12)):
        got = fl.logaddexp(fl.from_numpy(a.astype(dtype)), fl.from_numpy(b.astype(dtype)))
        np.testing.assert_allclose(np.exp(got.numpy()), want, rtol=20 * rtol)
        run = fl.logcumsumexp(fl.from_numpy(a.astype(dtype)), 0).numpy()
        np.testing.assert_allclose(np.exp(run), np.cumsum(np.exp(a)), rtol=20 * rtol)
    low = fl.tensor(complex(-np.inf, 0))
    assert fl.logaddexp(low, low).item() == complex(-np.inf, 0)
    assert fl.logaddexp(low, fl.tensor(1 + 2j)).item() == 1 + 2j


def test_polynomials_between_minus_one_and_zero_have_degree_zero():
    for name in ("chebyshev_polynomial_t", "hermite_polynomial_h", "laguerre_polynomial_l", "legendre_polynomial_p"):
        f = getattr(fl.special, name)
        assert f(fl.tensor([0.3, 0.3, 0.3]), fl.tensor([-0.5, 0.5, -1.0])).tolist() == [1, 1, 0]


def test_addbmm_in_place_takes_the_size_of_the_result():
    x = fl.ones(1)
    assert x.addbmm_(fl.ones(2, 3, 4), fl.ones(2, 4, 5)) is x
    assert x.shape == (3, 5) and x.unique().tolist() == [9]


def test_refusals_by_value():
    with pytest.raises(RuntimeError, match=r"lambda must be in range \[0.*found -0.5"):
        fl._C._nn.softshrink(fl.ones(1), -0.5)
    with pytest.raises(RuntimeError, match="Half, Float or Double tensors but got Float and Int"):
        fl.complex(fl.ones(1), fl.ones(1, dtype=fl.int32))
    with pytest.raises(RuntimeError, match="scalar type Float but got scalar type Double"):
        fl.complex(fl.ones(1), fl.ones(1, dtype=fl.float64))
    with pytest.raises(RuntimeError, match="reduction"):
        fl.amax(fl.ones(2, 0))


def test_empty_inputs():
    values, inverse, counts = fl.unique_consecutive(fl.ones(5, 0, 5), return_inverse=True, return_counts=True, dim=1)
    assert values.shape == (5, 0, 5) and inverse.numel() == counts.numel() == 0
    assert fl.histogramdd(fl.empty(0, 1), (2,))[1][0].tolist() == [0, 0.5, 1]
