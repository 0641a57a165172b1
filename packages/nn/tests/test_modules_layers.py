"""Layers against formulas: convolution, linear, norms, pools, padding, embedding, shuffles."""

from __future__ import annotations

import math

import flambeau as fl
import numpy as np
import pytest
from flambeau import nn

rng = np.random.default_rng(0)


def tensor(*shape: int) -> fl.Tensor:
    return fl.from_numpy(rng.standard_normal(shape).astype(np.float32))


def array(t: fl.Tensor) -> np.ndarray:
    return t.detach().numpy()


def close(t: fl.Tensor, expected: np.ndarray, tol: float = 1e-5) -> None:
    np.testing.assert_allclose(array(t), expected, rtol=tol, atol=tol)


def test_linear_is_the_formula_with_and_without_bias():
    x = tensor(4, 3)
    m = nn.Linear(3, 2)
    close(m(x), array(x) @ array(m.weight).T + array(m.bias))
    n = nn.Linear(3, 2, bias=False)
    assert n.bias is None
    close(n(x), array(x) @ array(n.weight).T)
    assert repr(n) == "Linear(in_features=3, out_features=2, bias=False)"


def test_linear_starts_within_its_bound():
    m = nn.Linear(16, 50)
    assert m.weight.abs().max().item() <= 0.25
    assert m.bias.abs().max().item() <= 0.25


def test_bilinear_is_the_formula():
    a, b = tensor(4, 2), tensor(4, 3)
    m = nn.Bilinear(2, 3, 5)
    expected = np.einsum("ni,oij,nj->no", array(a), array(m.weight), array(b)) + array(m.bias)
    close(m(a, b), expected)
    with pytest.raises(ValueError, match="in1_features must be > 0, but got 0"):
        nn.Bilinear(0, 3, 5)


def correlate(x: np.ndarray, w: np.ndarray, stride: int, dilation: int, groups: int) -> np.ndarray:
    """Cross-correlation of (N, C, H, W) by (O, C / groups, k, k), written out."""
    n, _, h, wd = x.shape
    o, cg, k, _ = w.shape
    reach = dilation * (k - 1) + 1
    oh, ow = (h - reach) // stride + 1, (wd - reach) // stride + 1
    out = np.zeros((n, o, oh, ow))
    for f in range(o):
        first = f // (o // groups) * cg
        for i in range(oh):
            for j in range(ow):
                rows = slice(i * stride, i * stride + reach, dilation)
                cols = slice(j * stride, j * stride + reach, dilation)
                out[:, f, i, j] = (x[:, first : first + cg, rows, cols] * w[f]).sum((1, 2, 3))
    return out


@pytest.mark.parametrize(("stride", "dilation", "groups"), [(1, 1, 1), (2, 1, 2), (1, 2, 1), (2, 2, 4)])
def test_conv2d_is_the_formula(stride, dilation, groups):
    m = nn.Conv2d(4, 8, 3, stride=stride, padding=1, dilation=dilation, groups=groups)
    x = tensor(2, 4, 7, 6)
    padded = np.pad(array(x), ((0, 0), (0, 0), (1, 1), (1, 1)))
    expected = correlate(padded, array(m.weight), stride, dilation, groups)
    close(m(x), expected + array(m.bias)[:, None, None], 1e-4)


@pytest.mark.parametrize(("mode", "numpy_mode"), [("reflect", "reflect"), ("replicate", "edge"), ("circular", "wrap")])
def test_conv2d_padding_modes(mode, numpy_mode):
    m = nn.Conv2d(2, 3, 3, padding=1, padding_mode=mode, bias=False)
    x = tensor(1, 2, 5, 5)
    padded = np.pad(array(x), ((0, 0), (0, 0), (1, 1), (1, 1)), mode=numpy_mode)
    close(m(x), correlate(padded, array(m.weight), 1, 1, 1), 1e-4)


def test_conv_same_keeps_the_size_and_valid_does_not_pad():
    x = tensor(1, 2, 9)
    assert tuple(nn.Conv1d(2, 3, 4, padding="same", dilation=2)(x).shape) == (1, 3, 9)
    assert tuple(nn.Conv1d(2, 3, 4, padding="valid")(x).shape) == (1, 3, 6)
    assert tuple(nn.Conv3d(2, 3, (1, 2, 3))(tensor(1, 2, 3, 4, 5)).shape) == (1, 3, 3, 3, 3)


def test_transposed_convolution_is_the_adjoint():
    conv = nn.Conv2d(3, 4, 3, stride=2, padding=1, bias=False)
    back = nn.ConvTranspose2d(4, 3, 3, stride=2, padding=1, output_padding=1, bias=False)
    with fl.no_grad():
        back.weight.copy_(conv.weight)
    x, y = tensor(1, 3, 6, 6), tensor(1, 4, 3, 3)
    left = (array(conv(x)) * array(y)).sum()
    right = (array(x) * array(back(y))).sum()
    assert left == pytest.approx(right, rel=1e-4)


def test_output_size_chooses_among_sizes():
    m = nn.ConvTranspose2d(2, 3, 3, stride=2)
    x = tensor(1, 2, 4, 4)
    assert tuple(m(x).shape[2:]) == (9, 9)
    assert tuple(m(x, output_size=(10, 10)).shape[2:]) == (10, 10)
    with pytest.raises(ValueError, match=r"requested an output size of \(20, 20\)"):
        m(x, output_size=(20, 20))


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: nn.Conv2d(3, 4, 3, groups=2), "in_channels must be divisible by groups"),
        (lambda: nn.Conv2d(4, 3, 3, groups=2), "out_channels must be divisible by groups"),
        (lambda: nn.Conv2d(4, 4, 3, groups=0), "groups must be a positive integer"),
        (lambda: nn.Conv2d(4, 4, 3, padding="foo"), "Invalid padding string 'foo'"),
        (lambda: nn.Conv2d(4, 4, 3, padding="same", stride=2), "not supported for strided"),
        (lambda: nn.Conv2d(4, 4, 3, padding_mode="foo"), "padding_mode must be one of"),
        (lambda: nn.ConvTranspose1d(4, 4, 3, padding_mode="reflect"), 'Only "zeros" padding mode'),
        (lambda: nn.GroupNorm(2, 3), r"num_channels \(3\) must be divisible by num_groups \(2\)"),
        (lambda: nn.Dropout(2), "between 0 and 1, but got 2"),
        (lambda: nn.FractionalMaxPool2d(2), "either an output size, or a pooling ratio"),
        (lambda: nn.BatchNorm1d(3)(tensor(1)), "expected 2D or 3D input"),
        (lambda: nn.BatchNorm1d(3)(tensor(1, 3)), "more than 1 value per channel"),
        (lambda: nn.InstanceNorm2d(3, affine=True)(tensor(1, 2, 3, 3)), "to match num_features"),
        (lambda: nn.Softmax2d()(tensor(2, 2)), "expected input to be 3D or 4D"),
    ],
)
def test_bad_arguments_are_value_errors(make, text):
    with pytest.raises(ValueError, match=text):
        make()


def test_convolution_reprs():
    assert repr(nn.Conv2d(4, 4, 3, padding=1, dilation=2, groups=2, bias=False, padding_mode="circular")) == (
        "Conv2d(4, 4, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), dilation=(2, 2), groups=2, "
        "bias=False, padding_mode=circular)"
    )
    assert repr(nn.ConvTranspose1d(4, 4, 3, output_padding=1, stride=2)) == (
        "ConvTranspose1d(4, 4, kernel_size=(3,), stride=(2,), output_padding=(1,))"
    )


def test_batch_norm_normalises_and_tracks():
    m = nn.BatchNorm1d(3, momentum=0.5)
    x = tensor(8, 3)
    a = array(x)
    close(m(x), (a - a.mean(0)) / np.sqrt(a.var(0) + 1e-5), 1e-4)
    close(m.running_mean, 0.5 * a.mean(0))
    close(m.running_var, 0.5 + 0.5 * a.var(0, ddof=1))
    assert int(m.num_batches_tracked) == 1
    m.eval()
    expected = (a - array(m.running_mean)) / np.sqrt(array(m.running_var) + 1e-5)
    close(m(x), expected, 1e-4)


def test_batch_norm_without_momentum_averages_all_batches():
    m = nn.BatchNorm1d(2, momentum=None)
    x, y = tensor(4, 2), tensor(4, 2)
    m(x)
    m(y)
    close(m.running_mean, (array(x).mean(0) + array(y).mean(0)) / 2)


def test_batch_norm_without_running_stats_has_no_buffers_in_its_state():
    m = nn.BatchNorm2d(2, affine=False, track_running_stats=False)
    assert list(m.state_dict()) == []
    x = tensor(2, 2, 3, 3)
    close(m.eval()(x), array(m.train()(x)))


def test_layer_group_instance_and_rms_norm():
    x = tensor(2, 4, 3, 3)
    a = array(x)

    def normal(v: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
        return (v - v.mean(axes, keepdims=True)) / np.sqrt(v.var(axes, keepdims=True) + 1e-5)

    close(nn.LayerNorm((3, 3))(x), normal(a, (2, 3)), 1e-4)
    close(nn.InstanceNorm2d(4)(x), normal(a, (2, 3)), 1e-4)
    grouped = normal(a.reshape(2, 2, 2, 3, 3), (2, 3, 4)).reshape(a.shape)
    close(nn.GroupNorm(2, 4)(x), grouped, 1e-4)
    root = np.sqrt((a**2).mean((2, 3), keepdims=True) + 1e-3)
    close(nn.RMSNorm((3, 3), eps=1e-3)(x), a / root, 1e-4)


def test_local_response_norm_is_the_formula():
    x = tensor(1, 5, 2, 2)
    a = array(x)
    sums = np.zeros_like(a)
    for c in range(5):
        sums[:, c] = (a[:, max(0, c - 1) : c + 2] ** 2).sum(1)
    expected = a / (2.0 + 0.5 * sums / 3) ** 0.75
    close(nn.LocalResponseNorm(3, alpha=0.5, k=2.0)(x), expected)
    close(nn.CrossMapLRN2d(3, alpha=0.5, k=2.0)(x), expected)


def test_pools_of_a_ramp():
    x = fl.arange(16.0).reshape(1, 1, 4, 4)
    assert nn.MaxPool2d(2)(x).flatten().tolist() == [5, 7, 13, 15]
    assert nn.AvgPool2d(2)(x).flatten().tolist() == [2.5, 4.5, 10.5, 12.5]
    assert nn.AdaptiveAvgPool2d(1)(x).item() == 7.5
    assert nn.AdaptiveMaxPool2d((None, 1))(x).flatten().tolist() == [3, 7, 11, 15]
    assert nn.LPPool2d(1, 2)(x).flatten().tolist() == [10, 18, 42, 50]
    out, where = nn.MaxPool2d(2, return_indices=True)(x)
    assert where.flatten().tolist() == [5, 7, 13, 15]
    assert nn.MaxUnpool2d(2)(out, where).flatten().tolist() == [v if v in (5, 7, 13, 15) else 0 for v in range(16)]


def test_padding_layers_follow_numpy():
    x = tensor(1, 2, 4, 5)
    widths = ((0, 0), (0, 0), (3, 1), (1, 2))
    for layer, mode in (
        (nn.ZeroPad2d, "constant"),
        (nn.ReflectionPad2d, "reflect"),
        (nn.ReplicationPad2d, "edge"),
        (nn.CircularPad2d, "wrap"),
    ):
        close(layer((1, 2, 3, 1))(x), np.pad(array(x), widths, mode=mode))
    assert nn.ConstantPad1d(1, 9.0)(fl.zeros(1, 1)).tolist() == [[9.0, 0.0, 9.0]]


def test_embedding_looks_up_rows_and_keeps_padding_out_of_the_gradient():
    m = nn.Embedding(5, 3, padding_idx=-4)
    assert m.padding_idx == 1
    assert m.weight[1].tolist() == [0.0, 0.0, 0.0]
    index = fl.tensor([[0, 1], [4, 4]])
    out = m(index)
    close(out, array(m.weight)[np.array([[0, 1], [4, 4]])])
    out.sum().backward()
    assert m.weight.grad[:, 0].tolist() == [1.0, 0.0, 0.0, 0.0, 2.0]
    frozen = nn.Embedding.from_pretrained(fl.ones(2, 2))
    assert not frozen.weight.requires_grad
    with pytest.raises(IndexError):
        m(fl.tensor([5]))
    with pytest.raises(AssertionError, match="within num_embeddings"):
        nn.Embedding(4, 3, padding_idx=4)


def test_shape_layers():
    x = tensor(2, 3, 4)
    assert tuple(nn.Flatten()(x).shape) == (2, 12)
    assert tuple(nn.Unflatten(2, (2, -1))(x).shape) == (2, 3, 2, 2)
    assert nn.Identity(3, foo=1)(x) is x
    with pytest.raises(TypeError, match="element of type str at pos 1"):
        nn.Unflatten(1, (2, "a"))


def test_dropout_scales_what_it_keeps_and_rests_in_evaluation():
    fl.manual_seed(0)
    x = fl.ones(2000)
    m = nn.Dropout(0.25)
    assert sorted(set(m(x).tolist())) == pytest.approx([0, 4 / 3])
    assert float(m(x).mean()) == pytest.approx(1.0, abs=0.1)
    assert m.eval()(x).tolist() == x.tolist()


def test_channel_dropout_drops_whole_channels():
    fl.manual_seed(0)
    out = nn.Dropout2d(0.5)(fl.ones(4, 16, 2, 2)).reshape(64, 4)
    assert all(len(set(row)) == 1 for row in out.tolist())


def test_activations_at_a_few_points():
    x = fl.tensor([-2.0, -0.5, 0.0, 1.5])
    v = np.array([-2.0, -0.5, 0.0, 1.5])
    sigmoid = 1 / (1 + np.exp(-v))
    table = {
        nn.ReLU(): np.maximum(v, 0),
        nn.ReLU6(): np.clip(v, 0, 6),
        nn.LeakyReLU(0.1): np.where(v > 0, v, 0.1 * v),
        nn.ELU(): np.where(v > 0, v, np.expm1(v)),
        nn.Sigmoid(): sigmoid,
        nn.SiLU(): v * sigmoid,
        nn.Tanh(): np.tanh(v),
        nn.Softplus(): np.log1p(np.exp(v)),
        nn.Mish(): v * np.tanh(np.log1p(np.exp(v))),
        nn.Hardtanh(): np.clip(v, -1, 1),
        nn.Hardswish(): v * np.clip(v + 3, 0, 6) / 6,
        nn.Hardsigmoid(): np.clip(v + 3, 0, 6) / 6,
        nn.GELU(): np.array([0.5 * t * (1 + math.erf(t / math.sqrt(2))) for t in v]),
        nn.Tanhshrink(): v - np.tanh(v),
        nn.Softsign(): v / (1 + np.abs(v)),
        nn.LogSigmoid(): np.log(sigmoid),
        nn.Threshold(0.0, 7.0): np.where(v > 0, v, 7),
        nn.PReLU(): np.where(v > 0, v, 0.25 * v),
        nn.Softmax(0): np.exp(v) / np.exp(v).sum(),
        nn.LogSoftmax(0): v - np.log(np.exp(v).sum()),
        nn.Softmin(0): np.exp(-v) / np.exp(-v).sum(),
    }
    for layer, expected in table.items():
        close(layer(x), expected)


def test_activations_in_place_write_to_their_input():
    for layer in (nn.ReLU(inplace=True), nn.Hardtanh(inplace=True), nn.LeakyReLU(inplace=True)):
        x = fl.tensor([-2.0, 3.0])
        assert layer(x) is x
        assert "inplace=True" in repr(layer)


def test_adaptive_softmax_is_a_distribution():
    m = nn.AdaptiveLogSoftmaxWithLoss(8, 10, [2, 5], div_value=2.0)
    x, target = tensor(6, 8), fl.tensor([0, 1, 3, 6, 9, 2])
    log_prob = array(m.log_prob(x))
    np.testing.assert_allclose(np.exp(log_prob).sum(1), 1, rtol=1e-5)
    output, loss = m(x, target)
    close(output, log_prob[np.arange(6), [0, 1, 3, 6, 9, 2]])
    assert loss.item() == pytest.approx(-array(output).mean(), rel=1e-5)
    assert m.predict(x).tolist() == log_prob.argmax(1).tolist()
    with pytest.raises(RuntimeError, match=r"should be in \[0, 9\]"):
        m(x, fl.tensor([0, 1, 3, 6, 10, 2]))
    with pytest.raises(ValueError, match="unique, positive integers sorted"):
        nn.AdaptiveLogSoftmaxWithLoss(8, 10, [5, 2])
