"""flambeau.masked against NumPy's masked arrays; flambeau.signal.windows; segments and hashes."""

import flambeau as fl
import numpy as np
import numpy.ma as ma
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

X = np.random.default_rng(1).normal(size=(3, 4, 5))
MASK = np.random.default_rng(2).random((3, 4, 5)) > 0.4
MASK[0, :, 0], MASK[:, 1, 2] = True, True


def both(dim):
    return fl.from_numpy(X.copy()), fl.from_numpy(MASK.copy()), ma.masked_array(X, ~MASK), dim


@pytest.mark.parametrize("dim", [None, 1, (0, 2), (-1,)])
@pytest.mark.parametrize(
    ("name", "theirs"),
    [
        ("sum", lambda a, d: a.sum(d)), ("prod", lambda a, d: a.filled(1).prod(d)), ("mean", lambda a, d: a.mean(d)),
        ("amax", lambda a, d: a.max(d)), ("amin", lambda a, d: a.min(d)), ("var", lambda a, d: a.var(d, ddof=1)),
        ("std", lambda a, d: a.std(d, ddof=1)), ("logsumexp", lambda a, d: np.log(np.exp(a).sum(d))),
        ("norm", lambda a, d: np.sqrt((a * a).sum(d))),
    ],
)  # fmt: skip
def test_reductions(name, theirs, dim):
    x, mask, a, _ = both(dim)
    got = getattr(fl.masked, name)(x, dim=dim, mask=mask)
    want = theirs(a, dim)
    seen = ~ma.getmaskarray(want) if ma.isMaskedArray(want) else np.ones(np.shape(want), bool)
    np.testing.assert_allclose(got.numpy()[seen], np.asarray(want)[seen], rtol=1e-12)
    kept = getattr(fl.masked, name)(x, dim=dim, keepdim=True, mask=mask)
    assert kept.dim() == 3 and kept.numel() == got.numel()


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "softmin", "cumsum", "cumprod", "normalize"])
def test_normalizations_see_only_what_the_mask_lets_through(name):
    x, mask, _, _ = both(1)
    f = getattr(fl.masked, name)
    run = (lambda t: f(t, 2.0, 1, mask=mask)) if name == "normalize" else (lambda t: f(t, 1, mask=mask))
    other = fl.where(mask, x, 7.5)
    assert fl.equal(run(x).nan_to_num(), run(other).nan_to_num())
    if name in ("softmax", "softmin"):
        assert fl.allclose(run(x).sum(1), fl.ones(3, 5, dtype=x.dtype))


@settings(max_examples=40, deadline=None)
@given(hnp.array_shapes(min_dims=1, max_dims=3, max_side=4), st.integers(0, 2**32 - 1), st.booleans())
def test_without_a_mask_as_with_a_full_one(shape, seed, keepdim):
    x = fl.from_numpy(np.random.default_rng(seed).normal(size=shape))
    full = fl.ones(shape, dtype=fl.bool)
    for name in ("sum", "prod", "mean", "amax", "var", "norm", "logsumexp"):
        f = getattr(fl.masked, name)
        a, b = f(x, dim=-1, keepdim=keepdim), f(x, dim=-1, keepdim=keepdim, mask=full)
        assert a.shape == b.shape and fl.allclose(a, b, equal_nan=True), name
    assert fl.equal(fl.masked.argmax(x, -1, keepdim=keepdim), fl.masked.argmax(x, -1, keepdim=keepdim, mask=full))


def test_median_positions_pairs_and_refusals():
    x = fl.tensor([[0.0, 5, 2], [3, 4, 5]])
    mask = fl.tensor([[True, False, True], [True, True, True]])
    assert fl.masked.median(x, 1, mask=mask).tolist() == [0, 4]
    assert fl.masked.median(x.to(fl.int64), 1, mask=mask).tolist() == [0, 4]
    assert fl.masked.argmax(x, 1, mask=mask).tolist() == [2, 2] and fl.masked.argmin(x, 1, mask=mask).tolist() == [0, 0]
    pair = fl.masked.logaddexp(x, x, input_mask=mask)
    assert fl.allclose(pair, x + fl.where(mask, np.log(2.0), 0.0))
    assert fl.masked.sum(x.to(fl.bool), 0, mask=mask).dtype is fl.int64
    with pytest.raises(ValueError, match="infer output dtype"):
        fl.masked.mean(x.to(fl.int64), mask=mask)
    with pytest.raises(NotImplementedError, match="identity of amin"):
        fl.masked.amin(x.to(fl.bool), 1, mask=mask)
    with pytest.raises(IndexError):
        fl.masked.sum(x, 1, mask=mask.reshape(1, 2, 3))
    with pytest.raises(RuntimeError, match="multiple times"):
        fl.masked.sum(x, (0, 0))


NAMES = ["hann", "hamming", "blackman", "nuttall", "bartlett", "cosine", "gaussian", "exponential", "kaiser"]


@pytest.mark.parametrize("name", NAMES)
def test_windows_are_symmetric_and_periodic_ones_a_point_short(name):
    f = getattr(fl.signal.windows, name)
    for m in (2, 5, 8):
        w = f(m, dtype=fl.float64)
        assert w.dtype is fl.float64 and fl.allclose(w, w.flip(0), atol=1e-12)
        assert fl.allclose(f(m, sym=False, dtype=fl.float64), f(m + 1, dtype=fl.float64)[:-1], atol=1e-12)
    assert f(0).shape == (0,) and f(1).tolist() == [1] and f(1, sym=False).tolist() == [1]
    with pytest.raises(ValueError, match="non-negative window length, got M=-1"):
        f(-1)
    with pytest.raises(ValueError, match="float32 or float64"):
        f(3, dtype=fl.int64)


def test_window_values():
    np.testing.assert_allclose(fl.signal.windows.hamming(9, dtype=fl.float64).numpy(), np.hamming(9), atol=1e-12)
    np.testing.assert_allclose(fl.signal.windows.blackman(9, dtype=fl.float64).numpy(), np.blackman(9), atol=1e-12)
    np.testing.assert_allclose(fl.signal.windows.bartlett(9, dtype=fl.float64).numpy(), np.bartlett(9), atol=1e-12)
    got = fl.signal.windows.kaiser(9, beta=5.0, dtype=fl.float64).numpy()
    np.testing.assert_allclose(got, np.kaiser(9, 5.0), rtol=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=5), st.sampled_from(["sum", "mean", "max", "min", "prod"]))
def test_segments(lengths, kind):
    n = sum(lengths)
    data = np.random.default_rng(n).normal(size=(n, 2))
    reduce = {"sum": np.sum, "mean": np.sum, "max": np.max, "min": np.min, "prod": np.prod}[kind]
    at = np.cumsum([0, *lengths])
    want = []
    for i, k in enumerate(lengths):
        row = reduce(np.concatenate([np.full((1, 2), 1.5), data[at[i] : at[i + 1]]]), axis=0)
        want.append(row / max(k, 1) if kind == "mean" else row)
    for given_as in ({"lengths": fl.tensor(lengths)}, {"offsets": fl.from_numpy(at)}):
        got = fl.segment_reduce(fl.from_numpy(data), kind, initial=1.5, **given_as)
        np.testing.assert_allclose(got.numpy(), np.stack(want), rtol=1e-12)


def test_segments_along_an_inner_axis_and_refusals():
    x = fl.arange(6.0).reshape(2, 3)
    assert fl.segment_reduce(x, "sum", lengths=fl.tensor([[2, 1], [0, 3]]), axis=1).tolist() == [[1, 2], [0, 12]]
    assert fl.segment_reduce(x[0], "max", offsets=fl.tensor([1, 1, 3])).tolist() == [-float("inf"), 2]
    for bad in ({"lengths": fl.tensor([1, 1])}, {"lengths": fl.tensor([4, -1])}, {"offsets": fl.tensor([0, 2, 1])}, {}):
        with pytest.raises(RuntimeError):
            fl.segment_reduce(x[0], "sum", **bad)


@settings(max_examples=40, deadline=None)
@given(hnp.arrays(np.int64, hnp.array_shapes(max_dims=3, max_side=5)), st.booleans())
def test_hash_is_exclusive_or_of_the_bits(values, keepdim):
    x = fl.from_numpy(values)
    want = np.bitwise_xor.reduce(values, axis=-1, keepdims=keepdim).view(np.uint64)
    assert fl.hash_tensor(x, -1, keepdim=keepdim).tolist() == want.tolist()
    assert fl.hash_tensor(x).item() == int(np.bitwise_xor.reduce(values.reshape(-1)).view(np.uint64))


def test_hash_of_floats():
    assert fl.hash_tensor(fl.tensor([1.5, -0.0])).item() == 13832806255468478464
    with pytest.raises(RuntimeError, match="mode"):
        fl.hash_tensor(fl.ones(2), mode=1)
    with pytest.raises(IndexError):
        fl.hash_tensor(fl.ones(2, 0), 1)
