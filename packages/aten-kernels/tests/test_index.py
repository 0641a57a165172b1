"""Indexing against NumPy: every mix of integers, slices, None, masks and integer arrays."""

import flambeau as fl
import numpy as np
import pytest

A = np.arange(2 * 3 * 4 * 5).reshape(2, 3, 4, 5)
I2, I3 = np.array([1, 0]), np.array([[0, 2, -1]])
MASK = A[:, :, 0, 0] % 2 == 0

FORMS = [
    (I2,), (slice(None), I3), (I2, slice(None), I2), (slice(None), I2, I2), (slice(None), I2, slice(1, 3), I2), (None, I2, ..., slice(1, 2)), (MASK,), (MASK, slice(None), I2[0]),
    (..., I3), (0, I2), (I2, None, I2), (slice(None), np.array([False, True, True])), (True,), (False, I2[:1]), (I2[:, None, None] * 0, I3[..., None]), ([1, 0],),
]  # fmt: skip


def ours(index):
    return tuple(fl.from_numpy(np.ascontiguousarray(i)) if isinstance(i, np.ndarray) else i for i in index)


@pytest.mark.parametrize("index", FORMS, ids=str)
@pytest.mark.parametrize("dtype", ["int64", "float32", "bool", "complex128"])
def test_reading(index, dtype):
    a = A.astype(dtype)
    np.testing.assert_array_equal(
        fl.from_numpy(a)[ours(index)].numpy(), a[tuple(np.array(i) if isinstance(i, list) else i for i in index)]
    )
    t = fl.from_numpy(np.ascontiguousarray(a.T)).permute(3, 2, 1, 0)
    np.testing.assert_array_equal(
        t[ours(index)].numpy(), a[tuple(np.array(i) if isinstance(i, list) else i for i in index)]
    )


@pytest.mark.parametrize("index", FORMS[:13], ids=str)
def test_writing(index):
    a = A.astype(np.float32)
    x = fl.from_numpy(a.copy())
    value = np.random.default_rng(0).random(a[index].shape, dtype=np.float32)
    x[ours(index)] = fl.from_numpy(value)
    a[index] = value
    np.testing.assert_array_equal(x.numpy(), a)
    x[ours(index)] = -1
    a[index] = -1
    np.testing.assert_array_equal(x.numpy(), a)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int16", "complex64"])
def test_accumulation_counts_repeats(dtype):
    x, i = np.zeros((3, 40), dtype), np.array([0, 2, 0, 0])
    v = np.arange(160).reshape(4, 40).astype(dtype)
    want = x.copy()
    np.add.at(want, i, v)
    t, index = fl.from_numpy(x.copy()), fl.from_numpy(i)
    np.testing.assert_array_equal(t.index_put((index,), fl.from_numpy(v), accumulate=True).numpy(), want)
    np.testing.assert_array_equal(t.index_add(0, index, fl.from_numpy(v)).numpy(), want)
    wide = index.unsqueeze(1).expand(4, 40)
    np.testing.assert_array_equal(t.scatter_add(0, wide, fl.from_numpy(v)).numpy(), want)


def test_gather_and_scatter():
    a = np.random.default_rng(1).random((4, 5))
    i = np.argsort(a, 1)
    x, index = fl.from_numpy(a), fl.from_numpy(i)
    np.testing.assert_array_equal(x.gather(1, index).numpy(), np.take_along_axis(a, i, 1))
    np.testing.assert_array_equal(fl.zeros(4, 5, dtype=fl.float64).scatter(1, index, x.gather(1, index)).numpy(), a)
    np.testing.assert_array_equal(fl.take_along_dim(x, fl.tensor([[1]]), 1).numpy(), a[:, 1:2])
    assert fl.zeros(3).scatter_reduce(
        0, fl.tensor([0, 0, 2]), fl.tensor([1.0, 3, 5]), "mean", include_self=False
    ).tolist() == [2, 0, 5]
    assert fl.ones(3).index_reduce(0, fl.tensor([1, 1]), fl.tensor([2.0, 4]), "prod").tolist() == [1, 8, 1]


def test_large_results_do_not_depend_on_threads():
    rng = np.random.default_rng(2)
    v, i = (fl.from_numpy(rng.random((300, 500), dtype=np.float32)), fl.from_numpy(rng.integers(0, 7, (300, 500))))
    before = fl.get_num_threads()
    results = []
    for threads in (1, 2):
        fl.set_num_threads(threads)
        results.append(
            [
                fl.zeros(7, 500).scatter_add(0, i, v).numpy(),
                v[i[:, 0]].numpy(),
                v.gather(0, i).numpy(),
                fl.zeros(7, 500).index_put((i[:, 0],), v, accumulate=True).numpy(),
            ]
        )
    fl.set_num_threads(before)
    for a, b in zip(*results):
        np.testing.assert_array_equal(a, b)


def test_masks_and_searches():
    a = np.array([[3.0, 0, -1], [0, 2, 0]])
    x = fl.from_numpy(a)
    np.testing.assert_array_equal(x.nonzero().numpy(), np.argwhere(a))
    assert x.masked_select(x > 0).tolist() == [3, 2]
    assert x.masked_fill(x == 0, 9).tolist() == [[3, 9, -1], [9, 2, 9]]
    assert x.masked_scatter(x == 0, fl.tensor([1.0, 2, 3], dtype=fl.float64)).tolist() == [[3, 1, -1], [2, 2, 3]]
    assert fl.where(x > 0, x, 0).tolist() == [[3, 0, 0], [0, 2, 0]]
    s = np.array([1.0, 2, 2, 4])
    for right, side in ((False, "left"), (True, "right")):
        np.testing.assert_array_equal(
            fl.searchsorted(fl.from_numpy(s), x, right=right).numpy(), np.searchsorted(s, a, side)
        )
    np.testing.assert_array_equal(fl.bincount(fl.tensor([0, 3, 3])).numpy(), [1, 0, 0, 2])
    assert fl._C._nn.one_hot(fl.tensor([0, 2])).tolist() == [[1, 0, 0], [0, 0, 1]]


X = fl.arange(6.0).reshape(2, 3)
LONG = fl.tensor([5])


@pytest.mark.parametrize(
    ("error", "call"),
    [
        (IndexError, lambda: X[LONG]), (IndexError, lambda: X[fl.tensor([True])]), (IndexError, lambda: X[fl.tensor([0, 1]), fl.tensor([0, 1, 2])]), (IndexError, lambda: X[0, 0, 0]),
        (IndexError, lambda: X[fl.tensor([0.5])]), (IndexError, lambda: X.index_select(0, LONG)), (RuntimeError, lambda: X.gather(1, fl.tensor([[9]]))),
        (RuntimeError, lambda: X.gather(1, fl.tensor([[-1]]))), (RuntimeError, lambda: X.scatter(0, fl.tensor([[2]]), 1.0)), (IndexError, lambda: X.take(fl.tensor([6]))),
        (IndexError, lambda: X.index_fill(0, LONG, 1.0)), (RuntimeError, lambda: X.index_add(0, LONG, fl.ones(1, 3))), (RuntimeError, lambda: X.index_put((fl.tensor([0]),), fl.ones(2))),
        (RuntimeError, lambda: X.masked_select(fl.tensor([1, 0, 1]))), (RuntimeError, lambda: X.masked_fill(X, 1)), (RuntimeError, lambda: fl.bincount(fl.tensor([-1]))),
    ],
)  # fmt: skip
def test_refusals(error, call):
    with pytest.raises(error):
        call()


def test_a_refused_write_changes_nothing():
    x = fl.zeros(4)
    for call in (
        lambda: x.scatter_(0, fl.tensor([0, 9]), 1.0),
        lambda: x.index_put_((fl.tensor([0, 9]),), fl.ones(2)),
        lambda: x.index_fill_(0, fl.tensor([0, 9]), 1.0),
    ):
        with pytest.raises((RuntimeError, IndexError)):
            call()
    assert x.tolist() == [0, 0, 0, 0]


def test_overlap_of_self_and_source_gives_the_right_numbers():
    x = fl.arange(6.0)
    x.index_copy_(0, fl.tensor([1, 2, 3, 4, 5]), x[:5])
    assert x.tolist() == [0, 0, 1, 2, 3, 4]


def test_writes_into_expanded_tensors():
    made = lambda: fl.zeros(1, 3).expand(3, 3)  # noqa: E731
    one = fl.tensor([1])
    assert made().index_put_((one, one), fl.tensor(5.0)).tolist() == [[0, 5, 0]] * 3
    assert made().index_put_((one, one), fl.tensor(5.0), accumulate=True).tolist() == [[0, 5, 0]] * 3
    assert made().index_fill_(1, one, 5).tolist() == [[0, 5, 0]] * 3
    for fill in (lambda t, m: t.masked_fill_(m, 5), lambda t, m: t.__setitem__(m, 5)):
        t = made()
        fill(t, fl.tensor([[True, False, False], [False, False, False], [False, True, False]]))
        assert t.tolist() == [[5, 5, 0]] * 3
    assert fl.ones(1, 3).expand(3, 3).tril_().tolist() == [[1, 0, 0]] * 3
    assert fl.ones(1, 3).expand(3, 3).triu_().tolist() == [[0, 0, 1]] * 3
    big = fl.zeros(1).expand(100_000)
    assert big.index_put_((fl.arange(100_000),), fl.ones(100_000), accumulate=True)[0].item() == 100_000
    wide = fl.zeros(4, 1).expand(4, 50_000)
    wide.index_put_((fl.tensor([2]),), fl.ones(50_000), accumulate=True)
    assert wide[:, 0].tolist() == [0, 0, 50_000, 0]
    with pytest.raises(RuntimeError, match="single memory location"):
        made().index_add_(0, fl.tensor([0]), fl.ones(1, 3))
    version = (t := made())._version
    t.masked_fill_(fl.ones(3, 3).bool(), 1)
    assert t._version > version
    with pytest.raises(RuntimeError):
        made().masked_fill_(fl.ones(3, 3).bool(), 1j)


def test_indexing_on_the_meta_device():
    meta = lambda *s: fl.empty(s, device="meta")  # noqa: E731
    at = fl.empty(2, dtype=fl.int64, device="meta")
    assert meta(3, 4)[at].shape == (2, 4) and meta(3, 4)[:, at].shape == (3, 2)
    assert meta(3, 4, 5)[at, :, at].shape == (2, 4)
    with pytest.raises(NotImplementedError, match="mask"):
        meta(3)[meta(3).bool()]
    with pytest.raises(RuntimeError, match="same device"):
        fl.ones(3)[at]
    assert fl.combinations(meta(4)).shape == (6, 2)
    unfold, fold = fl._C._nn.im2col, fl._C._nn.col2im
    assert unfold(meta(1, 2, 5, 6), [2, 3], [2, 1], [1, 0], [1, 2]).shape == (1, 12, 10)
    assert fold(meta(1, 4, 4), [3, 3], [2, 2], [1, 1], [0, 0], [1, 1]).shape == (1, 1, 3, 3)


def test_sliding_blocks():
    a = np.random.default_rng(0).standard_normal((2, 3, 7, 8))
    padded = np.pad(a, [(0, 0), (0, 0), (1, 1), (2, 2)])
    got = fl._C._nn.im2col(fl.from_numpy(a), [2, 3], [2, 1], [1, 2], [1, 3]).numpy()
    columns = [
        padded[:, c, y + 2 * i, x + j]
        for c in range(3) for i in range(2) for j in range(3) for y in range(7) for x in range(0, 10, 3)
    ]  # fmt: skip
    np.testing.assert_array_equal(got, np.array(columns).T.reshape(2, 18, 28))
    back = fl._C._nn.col2im(fl.from_numpy(got), [7, 8], [2, 3], [2, 1], [1, 2], [1, 3]).numpy()
    counts = fl._C._nn.col2im(fl.ones(2, 18, 28), [7, 8], [2, 3], [2, 1], [1, 2], [1, 3]).numpy()
    np.testing.assert_allclose(back, a * counts)


def test_ranks_beyond_sixty_four():
    x = fl.ones((1,) * 65)
    assert (x + x).dim() == 65 and x.exp().dim() == 65 and x.clone().dim() == 65
    a, b = fl.arange(6.0).reshape((1,) * 63 + (2, 3)), fl.tensor([1.0, 2.0, 3.0]).reshape((1,) * 69 + (3,))
    assert (a * b).shape == (1,) * 68 + (2, 3)
    assert (a * b).flatten().tolist() == [0, 2, 6, 3, 8, 15]
    assert (fl.zeros((2,) * 70 + (0,)) + 1).numel() == 0
    assert a.permute(*range(64, -1, -1)).contiguous().flatten().tolist() == [0, 3, 1, 4, 2, 5]
    assert x.sum().item() == 1 and a.argmax().item() == 5
    with pytest.raises(RuntimeError, match="64 dim"):
        x.sum(0)
