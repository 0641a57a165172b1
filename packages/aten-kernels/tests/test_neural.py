"""Pools, normalisations, softmax, losses, attention, resizing and optimizer steps against NumPy."""

from __future__ import annotations

import flambeau as fl
import numpy as np
import pytest

nn = fl._C._nn
RNG = np.random.default_rng(0)


def t(a):
    return fl.from_numpy(np.ascontiguousarray(a))


def windows(x, k, stride, pad, fill):
    """(N, C, oh, ow, k * k) of the padded image."""
    x = np.pad(x, [(0, 0), (0, 0), (pad, pad), (pad, pad)], constant_values=fill)
    v = np.lib.stride_tricks.sliding_window_view(x, (k, k), axis=(2, 3))[:, :, ::stride, ::stride]
    return v.reshape(*v.shape[:4], k * k)


@pytest.mark.parametrize("channels_last", [False, True])
def test_max_and_avg_pool(channels_last):
    x = RNG.standard_normal((2, 3, 7, 8))
    a = t(x).contiguous(memory_format=fl.channels_last) if channels_last else t(x)
    values, indices = nn.max_pool2d_with_indices(a, 3, 2, 1)
    np.testing.assert_array_equal(values.numpy(), windows(x, 3, 2, 1, -np.inf).max(-1))
    np.testing.assert_array_equal(x.reshape(2, 3, -1)[0, 0][indices.numpy()[0, 0]], values.numpy()[0, 0])
    mean = nn.avg_pool2d(a, 3, 2, 1)
    np.testing.assert_allclose(mean.numpy(), windows(x, 3, 2, 1, 0).mean(-1), rtol=1e-12)
    if channels_last:
        assert values.is_contiguous(memory_format=fl.channels_last) and mean.is_contiguous(
            memory_format=fl.channels_last
        )


def test_pools_of_other_ranks():
    x = RNG.standard_normal((3, 9))
    np.testing.assert_array_equal(fl.max_pool1d(t(x), 3).numpy(), x.reshape(3, 3, 3).max(-1))
    np.testing.assert_allclose(fl.avg_pool1d(t(x), 3).numpy(), x.reshape(3, 3, 3).mean(-1))
    v = RNG.standard_normal((1, 2, 4, 4, 4))
    want = v.reshape(1, 2, 2, 2, 2, 2, 2, 2).max((3, 5, 7))
    np.testing.assert_array_equal(fl.max_pool3d(t(v), 2).numpy(), want)
    np.testing.assert_allclose(nn.adaptive_avg_pool3d(t(v), 1).numpy().ravel(), v.mean((2, 3, 4)).ravel())


def test_adaptive_windows_cover_the_input():
    x = RNG.standard_normal((1, 1, 7))
    starts, ends = [0, 2, 4], [3, 5, 7]
    want = [x[0, 0, a:b].mean() for a, b in zip(starts, ends)]
    np.testing.assert_allclose(fl.adaptive_avg_pool1d(t(x), 3).numpy()[0, 0], want)


@pytest.mark.parametrize("name", ["max_pool2d", "avg_pool2d"])
def test_pool_errors(name):
    f = fl.max_pool2d if name == "max_pool2d" else nn.avg_pool2d
    for args, words in (
        ((2, 2, 2), "pad should be"),
        ((2, 2, -1), "non-negative"),
        ((0,), "kernel size"),
        ((2, 0), "stride"),
    ):
        with pytest.raises(RuntimeError, match=words):
            f(fl.ones(1, 1, 4, 4), *args)


def test_a_position_outside_the_plane_is_refused():
    with pytest.raises(RuntimeError, match="index 16"):
        nn.max_pool2d_with_indices_backward(
            fl.ones(1, 1, 2, 2), fl.ones(1, 1, 4, 4), [2, 2], [2, 2], [0, 0], [1, 1], False, fl.full((1, 1, 2, 2), 16)
        )


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_softmax(dim):
    x = RNG.standard_normal((5, 70, 3)) * 10
    e = np.exp(x - x.max(dim, keepdims=True))
    want = e / e.sum(dim, keepdims=True)
    np.testing.assert_allclose(fl.softmax(t(x), dim).numpy(), want, rtol=1e-10)
    np.testing.assert_allclose(fl.log_softmax(t(x), dim).numpy(), np.log(want), rtol=1e-9, atol=1e-9)
    with pytest.raises(NotImplementedError):
        fl.softmax(fl.ones(2, dtype=fl.int64), 0)


@pytest.mark.parametrize("shape", [(6, 4), (3, 4, 5), (2, 4, 5, 3)])
def test_batch_norm_in_training_moves_the_running_statistics(shape):
    x = RNG.standard_normal(shape)
    w, b = RNG.standard_normal(4), RNG.standard_normal(4)
    mean, var = fl.zeros(4, dtype=fl.float64), fl.ones(4, dtype=fl.float64)
    axes = tuple(i for i in range(x.ndim) if i != 1)
    m, v = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    shaped = [a.reshape(1, 4, *[1] * (x.ndim - 2)) for a in (w, b)]
    y = fl.batch_norm(t(x), t(w), t(b), mean, var, True, 0.1, 1e-5, False)
    np.testing.assert_allclose(y.numpy(), (x - m) / np.sqrt(v + 1e-5) * shaped[0] + shaped[1], rtol=1e-9, atol=1e-9)
    n = x.size // 4
    np.testing.assert_allclose(mean.numpy(), 0.1 * m.ravel())
    np.testing.assert_allclose(var.numpy(), 0.9 + 0.1 * v.ravel() * n / (n - 1))


def test_layer_group_and_rms_norm():
    x = RNG.standard_normal((3, 4, 6))
    w, b = RNG.standard_normal(6), RNG.standard_normal(6)
    want = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * w + b
    np.testing.assert_allclose(fl.layer_norm(t(x), [6], t(w), t(b)).numpy(), want, rtol=1e-9, atol=1e-9)
    g = x.reshape(3, 2, -1)
    want = ((g - g.mean(-1, keepdims=True)) / np.sqrt(g.var(-1, keepdims=True) + 1e-5)).reshape(x.shape)
    np.testing.assert_allclose(fl.group_norm(t(x), 2).numpy(), want, rtol=1e-9, atol=1e-9)
    want = x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * w
    np.testing.assert_allclose(fl.rms_norm(t(x), [6], t(w), 1e-6).numpy(), want, rtol=1e-9, atol=1e-9)
    with pytest.raises(RuntimeError, match="normalized_shape"):
        fl.layer_norm(t(x), [4])


def test_cross_entropy():
    x, y = RNG.standard_normal((5, 3)), np.array([0, 2, 1, -100, 2])
    log_p = x - np.log(np.exp(x).sum(1, keepdims=True))
    picked = -log_p[np.arange(5), np.where(y < 0, 0, y)][y >= 0]
    np.testing.assert_allclose(nn.cross_entropy_loss(t(x), t(y)).item(), picked.mean())
    soft = np.full((5, 3), 1 / 3)
    np.testing.assert_allclose(nn.cross_entropy_loss(t(x), t(soft)).item(), -(log_p / 3).sum(1).mean())
    with pytest.raises(IndexError, match="Target 3 is out of bounds"):
        nn.cross_entropy_loss(t(x), fl.full((5,), 3))
    with pytest.raises(RuntimeError, match="size mismatch"):
        nn.nll_loss(t(x), t(y[:4]))


def test_embedding():
    w = RNG.standard_normal((7, 3))
    i = np.array([[1, 6], [0, 1]])
    np.testing.assert_array_equal(fl.embedding(t(w), t(i)).numpy(), w[i])
    with pytest.raises(IndexError, match="index 7"):
        fl.embedding(t(w), fl.tensor([7]))
    bags = fl.embedding_bag(t(w), t(np.array([1, 2, 3, 4])), fl.tensor([0, 3]), False, 1)[0]
    np.testing.assert_allclose(bags.numpy(), [w[1:4].mean(0), w[4]])


@pytest.mark.parametrize("causal", [False, True])
def test_attention(causal):
    q, k, v = (RNG.standard_normal((2, 3, n, 8)) for n in (70, 300, 300))
    scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(8)
    if causal:
        scores = np.where(np.tril(np.ones((70, 300), bool)), scores, -np.inf)
    p = np.exp(scores - scores.max(-1, keepdims=True))
    want = p / p.sum(-1, keepdims=True) @ v
    got = nn.scaled_dot_product_attention(t(q), t(k), t(v), is_causal=causal)
    np.testing.assert_allclose(got.numpy(), want, rtol=1e-9, atol=1e-9)


def test_upsample():
    x = RNG.standard_normal((1, 2, 3, 4))
    np.testing.assert_array_equal(nn.upsample_nearest2d(t(x), [6, 8]).numpy(), x.repeat(2, 2).repeat(2, 3))
    corner = nn.upsample_bilinear2d(t(x), [5, 7], True).numpy()
    np.testing.assert_allclose(corner[:, :, ::2, ::2], x, rtol=1e-12)


@pytest.mark.parametrize("dtype", [fl.float32, fl.float64])
def test_adam_step(dtype):
    p, g = fl.ones(5, dtype=dtype), fl.full((5,), 0.5, dtype=dtype)
    m, v, step = fl.zeros(5, dtype=dtype), fl.zeros(5, dtype=dtype), fl.zeros(())
    fl._foreach_add_([step], 1)
    fl._fused_adam_(
        [p], [g], [m], [v], [], [step],
        lr=0.1, beta1=0.9, beta2=0.999, weight_decay=0.0, eps=1e-8, amsgrad=False, maximize=False,
    )  # fmt: skip
    assert step.item() == 1
    np.testing.assert_allclose(p.numpy(), 0.9, rtol=1e-6)
    np.testing.assert_allclose(m.numpy(), 0.05, rtol=1e-6)


@pytest.mark.parametrize("padding", [-1, 1])
def test_embedding_bag_refuses_rows_that_are_not_there(padding):
    for index in (-1, 3):
        with pytest.raises(RuntimeError, match=f"found idx to be {index}"):
            fl.ops.aten._embedding_bag(fl.ones(3, 2), fl.tensor([0, index]), fl.tensor([0]), padding_idx=padding)


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1e-19, 5e-324])
@pytest.mark.parametrize(
    "op",
    [
        "linear1d",
        "bilinear2d",
        "bicubic2d",
        "trilinear3d",
        "nearest1d",
        "nearest2d",
        "_nearest_exact1d",
        "_bilinear2d_aa",
    ],
)
def test_tiny_scales_stay_inside(op, scale):
    n = int(op.rstrip("_a")[-2])
    name = f"_upsample{op}" if op[0] == "_" else f"upsample_{op}"
    align = () if "nearest" in op else (False,)
    call, back = getattr(fl.ops.aten, name), getattr(fl.ops.aten, f"{name}_backward")
    x = fl.arange(1.0, 3.0).reshape((1, 1, 2) + (1,) * (n - 1)).expand((1, 1) + (2,) * n)
    sizes = [3] * n
    got = call(x, sizes, *align, *[scale] * n)
    if "aa" not in op:
        assert bool(((got >= 1) & (got <= 2)).all())
        grad = back(fl.ones(1, 1, *sizes), sizes, [1, 1] + [2] * n, *align, *[scale] * n)
        np.testing.assert_allclose(grad.sum().item(), 3**n, rtol=1e-5)


def test_embedding_gradient_of_padding_outside_the_table():
    back = fl.ops.aten.embedding_dense_backward
    assert not bool(back(fl.ones(2, 3), fl.full((2,), 1 << 31), 5, 1 << 31, True).any())
    assert back(fl.ones(2, 0), fl.full((2,), 1 << 61), (1 << 62) + 1, -1, True).numel() == 0
    got = back(fl.ones(4, 1), fl.tensor([1, 1, 2, 0]), 3, 2, True)
    assert got.flatten().tolist() == [1, 1, 0]


def test_max_pool_of_huge_and_of_empty_windows():
    assert fl.max_pool1d(fl.arange(9.0).reshape(1, 1, 9), 1 << 40, ceil_mode=True).flatten().tolist() == [8]
    x = fl.arange(6.0).reshape(1, 1, 6, 1)
    args = [2, 2], [1, 1], [1, 1], [1, 2]
    values, at = fl.ops.aten.max_pool2d_with_indices(x, *args)
    assert bool((values == -float("inf")).all())
    grad = fl.ops.aten.max_pool2d_with_indices_backward(fl.ones_like(values), x, *args, False, at)
    assert grad.shape == x.shape and not bool(grad.any())


def test_ctc_loss_of_nan_is_nan():
    x = fl.randn(5, 1, 4).log_softmax(2)
    impossible = fl.ops.aten.ctc_loss.IntList(x, fl.tensor([[1, 1, 1]]), [4], [3], 0, 0)
    assert impossible.tolist() == [float("inf")]
    x[2, 0, 1] = float("nan")
    assert bool(fl.ops.aten.ctc_loss.IntList(x, fl.tensor([[1, 2]]), [5], [2], 0, 0).isnan().all())


def test_complex_magnitudes_do_not_fit_in_place():
    z = fl.ones(2, dtype=fl.complex64)
    with pytest.raises(RuntimeError, match="In-place abs is not supported for complex"):
        z.abs_()
    assert z.eq_(1).tolist() == [1, 1]
