"""Shape operators against NumPy."""

import flambeau as fl
import numpy as np
import pytest

A = np.arange(24).reshape(2, 3, 4)


def same(got, want):
    np.testing.assert_array_equal(got.numpy(), want)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "int64", "float16", "float32", "complex64", "complex128"])
def test_cat_moves_elements_of_every_size(dtype):
    a = np.arange(6).reshape(2, 3).astype(dtype)
    x = fl.from_numpy(a)
    same(fl.cat([x, x[:, :1]], 1), np.concatenate([a, a[:, :1]], 1))
    same(fl.cat([x.T, x.T], 0), np.concatenate([a.T, a.T], 0))
    same(fl.stack([x, x], -1), np.stack([a, a], -1))


def test_cat_promotes_and_skips_empty_vectors():
    got = fl.cat([fl.ones(2, dtype=fl.int64), fl.tensor([]), fl.tensor([0.5])])
    assert got.dtype is fl.float32 and got.tolist() == [1, 1, 0.5]
    assert fl.cat([fl.empty(0), fl.ones(2, 2)]).shape == (2, 2)
    out = fl.empty(4)
    fl.cat([fl.ones(2), fl.zeros(2)], out=out)
    assert out.tolist() == [1, 1, 0, 0]
    x = fl.arange(4.0)
    with pytest.raises(RuntimeError, match="unsupported operation"):
        fl.cat([x[2:], x[:2]], out=x)  # out is an input
    assert x.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (lambda x: x.flip(0, 2), lambda a: np.flip(a, (0, 2))), (lambda x: x.roll(5), lambda a: np.roll(a, 5)),
        (lambda x: x.roll((1, -2), (0, 2)), lambda a: np.roll(a, (1, -2), (0, 2))), (lambda x: x.tril(1), lambda a: np.tril(a, 1)),
        (lambda x: x.triu(-1), lambda a: np.triu(a, -1)), (lambda x: x.repeat(2, 1, 1, 3), lambda a: np.tile(a, (2, 1, 1, 3))),
        (lambda x: x.repeat_interleave(2, 1), lambda a: np.repeat(a, 2, 1)), (lambda x: x.movedim(0, -1), lambda a: np.moveaxis(a, 0, -1)),
        (lambda x: x.flatten(1), lambda a: a.reshape(2, 12)), (lambda x: fl.rot90(x, 1, (1, 2)), lambda a: np.rot90(a, 1, (1, 2))),
        (lambda x: x.repeat_interleave(fl.tensor([1, 0, 2]), 1), lambda a: np.repeat(a, [1, 0, 2], 1)),
        (lambda x: fl.constant_pad_nd(x, [1, -1, 2, 0], 7), lambda a: np.pad(a[:, :, :-1], ((0, 0), (2, 0), (1, 0)), constant_values=7)),
        (lambda x: fl._C._nn.pad(x, [2, 1], "reflect"), lambda a: np.pad(a, ((0, 0), (0, 0), (2, 1)), "reflect")),
        (lambda x: fl._C._nn.pad(x, [2, 1], "replicate"), lambda a: np.pad(a, ((0, 0), (0, 0), (2, 1)), "edge")),
        (lambda x: fl._C._nn.pad(x, [2, 1], "circular"), lambda a: np.pad(a, ((0, 0), (0, 0), (2, 1)), "wrap")),
    ],
)  # fmt: skip
@pytest.mark.parametrize("transposed", [False, True])
def test_rearranging(ours, theirs, transposed):
    if transposed:
        x = fl.from_numpy(np.ascontiguousarray(A.transpose(2, 1, 0))).permute(2, 1, 0)
    else:
        x = fl.from_numpy(A)
    same(ours(x), theirs(A))


def test_views_stay_views():
    x = fl.zeros(4, 6)
    x.reshape(2, 12)[0] = 1
    x.unflatten(1, (2, 3))[3, 1] = 2
    x.narrow(0, 2, 1).chunk(2, 1)[1].fill_(3)
    x.diagonal()[0] = 5
    assert x.sum().item() == 5 + 11 + 6 + 9


def test_writes_into_copies():
    x = fl.zeros(3, 3)
    same(fl.diagonal_scatter(x, fl.ones(3)), np.eye(3))
    same(fl.select_scatter(x, fl.ones(3), 0, 1), np.array([[0, 0, 0], [1, 1, 1], [0, 0, 0]]))
    same(fl.slice_scatter(x, fl.ones(3, 1), 1, 2), np.array([[0, 0, 1]] * 3))
    assert x.sum().item() == 0


@pytest.mark.parametrize(
    "call",
    [
        lambda: fl.cat([fl.ones(2, 2), fl.ones(3)]), lambda: fl.cat([fl.tensor(1.0)]), lambda: fl.stack([fl.ones(2), fl.ones(3)]), lambda: fl.ones(6).reshape(4),
        lambda: fl.ones(2, 3).repeat(2), lambda: fl.ones(3).tril(), lambda: fl.constant_pad_nd(fl.ones(3), [-2, -2]), lambda: fl.ones(3).flip(0, 0),
        lambda: fl.ones(3).unflatten(0, (2, 2)), lambda: fl._C._nn.pad(fl.ones(1, 3), [3, 0], "reflect"), lambda: fl.ones(4).narrow(0, 3, 2),
    ],
)  # fmt: skip
def test_refusals(call):
    with pytest.raises(RuntimeError):
        call()
