"""Convolution and linear maps against plain loops in float64."""

from __future__ import annotations

import itertools

import flambeau as fl
import numpy as np
import pytest


def correlate(x, w, b, stride, pad, dil, groups):
    """Direct sum over taps; x (N, C, *spatial), w (O, C / groups, *kernel)."""
    n, _, *size = x.shape
    o, per_in, *k = w.shape
    d = len(size)
    x = np.pad(x, [(0, 0), (0, 0)] + [(p, p) for p in pad])
    out = [(size[i] + 2 * pad[i] - dil[i] * (k[i] - 1) - 1) // stride[i] + 1 for i in range(d)]
    y = np.zeros((n, o, *out))
    for tap in itertools.product(*map(range, k)):
        cut = tuple(slice(t * dil[i], t * dil[i] + (out[i] - 1) * stride[i] + 1, stride[i]) for i, t in enumerate(tap))
        part = x[(slice(None), slice(None), *cut)]
        for g in range(groups):
            rows = slice(g * o // groups, (g + 1) * o // groups)
            y[:, rows] += np.einsum(
                "nc...,oc->no...", part[:, g * per_in : (g + 1) * per_in], w[(rows, slice(None), *tap)]
            )
    return y if b is None else y + b.reshape(1, -1, *[1] * d)


CASES = [
    (1, (2, 3, 9), (4, 3, 3), (1,), (0,), (1,), 1),
    (1, (2, 4, 9), (4, 2, 3), (2,), (1,), (2,), 2),
    (2, (2, 3, 7, 8), (5, 3, 3, 3), (1, 1), (1, 1), (1, 1), 1),
    (2, (2, 4, 9, 8), (6, 2, 3, 2), (2, 1), (1, 0), (1, 2), 2),
    (2, (0, 3, 7, 8), (5, 3, 3, 3), (1, 1), (1, 1), (1, 1), 1),
    (3, (1, 2, 5, 6, 4), (3, 2, 2, 3, 2), (1, 2, 1), (1, 1, 0), (1, 1, 1), 1),
]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_forward(case, dtype):
    d, xs, ws, stride, pad, dil, groups = case
    rng = np.random.default_rng(0)
    x, w, b = (rng.standard_normal(s).astype(dtype) for s in (xs, ws, ws[:1]))
    f = getattr(fl, f"conv{d}d")
    want = correlate(x.astype(np.float64), w.astype(np.float64), b, stride, pad, dil, groups)
    y = f(fl.from_numpy(x), fl.from_numpy(w), fl.from_numpy(b), stride, pad, dil, groups)
    np.testing.assert_allclose(y.numpy(), want, rtol=1e-4, atol=1e-4)


def test_channels_last_stays_channels_last():
    x = fl.randn(2, 3, 8, 8).contiguous(memory_format=fl.channels_last)
    w = fl.randn(4, 3, 3, 3)
    y = fl.conv2d(x, w)
    assert y.is_contiguous(memory_format=fl.channels_last)
    np.testing.assert_allclose(y.numpy(), fl.conv2d(x.contiguous(), w).numpy(), rtol=1e-5, atol=1e-5)


def test_unbatched_and_named_padding():
    x, w = fl.randn(3, 8, 9), fl.randn(4, 3, 4, 3)
    assert fl.conv2d(x, w).shape == (4, 5, 7)
    same = fl.conv2d(x, w, padding="same")
    assert same.shape == (4, 8, 9)
    # The larger half of an odd padding is at the end.
    want = correlate(np.pad(x.numpy(), [(0, 0), (1, 2), (1, 1)])[None], w.numpy(), None, (1, 1), (0, 0), (1, 1), 1)
    np.testing.assert_allclose(same.numpy(), want[0], rtol=1e-4, atol=1e-4)


def test_transposed_is_the_adjoint():
    rng = np.random.default_rng(1)
    x, w, y = rng.standard_normal((2, 3, 7, 6)), rng.standard_normal((5, 3, 3, 2)), rng.standard_normal((2, 5, 3, 3))
    forward = fl.conv2d(fl.from_numpy(x), fl.from_numpy(w), stride=2, padding=(0, 0))
    assert forward.shape == (2, 5, 3, 3)
    back = fl.conv_transpose2d(fl.from_numpy(y), fl.from_numpy(w), stride=2)
    assert back.shape == (2, 3, 7, 6)
    np.testing.assert_allclose((forward.numpy() * y).sum(), (back.numpy() * x).sum(), rtol=1e-10)


def test_half_and_complex():
    x, w = fl.randn(1, 2, 6, 6), fl.randn(3, 2, 3, 3)
    exact = fl.conv2d(x, w).numpy()
    half = fl.conv2d(x.to(fl.bfloat16), w.to(fl.bfloat16)).to(fl.float32).numpy()
    np.testing.assert_allclose(half, exact, rtol=0.05, atol=0.15)
    rng = np.random.default_rng(2)
    xc = rng.standard_normal((1, 2, 6, 6)) + 1j * rng.standard_normal((1, 2, 6, 6))
    wc = rng.standard_normal((3, 2, 3, 3)) + 1j * rng.standard_normal((3, 2, 3, 3))
    parts = [correlate(a, b, None, (1, 1), (0, 0), (1, 1), 1) for a in (xc.real, xc.imag) for b in (wc.real, wc.imag)]
    want = parts[0] - parts[3] + 1j * (parts[1] + parts[2])
    np.testing.assert_allclose(fl.conv2d(fl.from_numpy(xc), fl.from_numpy(wc)).numpy(), want, rtol=1e-10)


@pytest.mark.parametrize(
    ("x", "w", "options", "words"),
    [
        ((1, 3, 8, 8), (4, 2, 3, 3), {}, "3 channels"),
        ((1, 3, 2, 2), (4, 3, 3, 3), {}, "Kernel size"),
        ((1, 3, 8, 8), (4, 3, 3, 3), {"stride": 0}, "stride"),
        ((1, 3, 8, 8), (4, 3, 3, 3), {"padding": -1}, "padding"),
        ((1, 3, 8, 8), (4, 3, 3, 3), {"dilation": 0}, "dilation"),
        ((1, 3, 8, 8), (4, 3, 3, 3), {"groups": 2}, "channels"),
        ((1, 3, 8, 8), (4, 3, 3, 3), {"padding": "half"}, "half"),
        ((3, 8), (4, 3, 3, 3), {}, r"3D"),
    ],
)
def test_errors(x, w, options, words):
    with pytest.raises(RuntimeError, match=words):
        fl.conv2d(fl.ones(x), fl.ones(w), **options)


@pytest.mark.parametrize("shape", [(4,), (3, 4), (2, 3, 4), (0, 4)])
def test_linear(shape):
    rng = np.random.default_rng(3)
    x, w, b = rng.standard_normal(shape), rng.standard_normal((5, 4)), rng.standard_normal(5)
    y = fl._C._nn.linear(fl.from_numpy(x), fl.from_numpy(w), fl.from_numpy(b))
    np.testing.assert_allclose(y.numpy(), x @ w.T + b, rtol=1e-12)
    turned = fl.from_numpy(np.ascontiguousarray(w.T)).transpose(0, 1)
    np.testing.assert_allclose(fl._C._nn.linear(fl.from_numpy(x), turned).numpy(), x @ w.T, rtol=1e-12)
    with pytest.raises(RuntimeError, match="inner sizes differ"):
        fl._C._nn.linear(fl.from_numpy(x), fl.ones(5, 3, dtype=fl.float64))


@pytest.mark.parametrize("spatial", [1, 2, 3])
@pytest.mark.parametrize("stride", [2**40, 2**62, 2**63 - 1])
def test_a_stride_beyond_the_image_is_one_output(spatial, stride):
    conv = (fl.conv1d, fl.conv2d, fl.conv3d)[spatial - 1]
    x, w = fl.ones((2, 3) + (3,) * spatial), fl.ones((4, 3) + (3,) * spatial)
    got = conv(x, w, stride=stride)
    assert got.shape == (2, 4) + (1,) * spatial and bool((got == 3 * 3**spatial).all())
    padded = conv(x, w, stride=stride, padding=3)
    assert padded.shape == got.shape and not bool(padded.any())
    grad = fl.ops.aten.convolution_backward(
        fl.ones_like(padded), x, w, [4], [stride] * spatial, [3] * spatial, [1] * spatial, False, [0] * spatial, 1, [True] * 3
    )  # fmt: skip
    assert not bool(grad[0].any()) and not bool(grad[1].any()) and grad[2].tolist() == [2.0] * 4
    one = conv(x, fl.ones((4, 3) + (1,) * spatial), dilation=stride)
    assert bool((one == 3).all())


@pytest.mark.parametrize("options", [{"padding": 2**60, "stride": 2**60}, {"padding": 2**62}, {"dilation": 2**62}])
def test_images_padded_beyond_reason_are_refused(options):
    for conv in (fl.conv1d, fl.conv_transpose1d):
        with pytest.raises(RuntimeError, match=r"\[convolution\]|\[conv|calculated output size"):
            conv(fl.ones(1, 1, 3), fl.ones(1, 1, 3), **options)
