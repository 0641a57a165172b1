"""Losses against formulas."""

from __future__ import annotations

import math
import warnings

import flambeau as fl
import numpy as np
import pytest
from flambeau import nn
from flambeau.nn import functional as F

rng = np.random.default_rng(1)


def pair(*shape: int) -> tuple[fl.Tensor, np.ndarray]:
    a = rng.standard_normal(shape).astype(np.float32)
    return fl.from_numpy(a.copy()), a


def close(t: fl.Tensor, expected, tol: float = 1e-5) -> None:
    np.testing.assert_allclose(t.detach().numpy(), expected, rtol=tol, atol=tol)


REDUCED = {"none": lambda v: v, "mean": np.mean, "sum": np.sum}


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_elementwise_losses(reduction):
    x, a = pair(3, 4)
    y, b = pair(3, 4)
    d = a - b
    finish = REDUCED[reduction]
    close(F.mse_loss(x, y, reduction=reduction), finish(d**2))
    close(F.l1_loss(x, y, reduction=reduction), finish(np.abs(d)))
    huber = np.where(np.abs(d) <= 0.5, d**2 / 2, 0.5 * (np.abs(d) - 0.25))
    close(F.huber_loss(x, y, reduction=reduction, delta=0.5), finish(huber))
    close(F.smooth_l1_loss(x, y, reduction=reduction, beta=0.5), finish(huber / 0.5))
    sign = np.sign(b)
    close(F.soft_margin_loss(x, fl.from_numpy(sign), reduction=reduction), finish(np.log1p(np.exp(-sign * a))))
    p = 1 / (1 + np.exp(-a))
    t = (b > 0).astype(np.float32)
    bce = -(t * np.log(p) + (1 - t) * np.log1p(-p))
    close(F.binary_cross_entropy_with_logits(x, fl.from_numpy(t), reduction=reduction), finish(bce), 1e-4)
    close(F.binary_cross_entropy(fl.from_numpy(p), fl.from_numpy(t), reduction=reduction), finish(bce), 1e-4)
    close(F.poisson_nll_loss(x, fl.from_numpy(t), reduction=reduction), finish(np.exp(a) - t * a), 1e-4)


def test_weighted_losses_take_the_weighted_mean():
    x, y, w = fl.tensor([1.0, 2.0, 3.0]), fl.zeros(3), fl.tensor([1.0, 2.0, 3.0])
    assert F.mse_loss(x, y, weight=w).item() == 6.0
    assert F.l1_loss(x, y, weight=w, reduction="sum").item() == 14.0
    assert F.huber_loss(x, y, weight=w, reduction="none").tolist() == [0.5, 3.0, 7.5]
    with pytest.raises(ValueError, match="same size"):
        F.mse_loss(x, y, weight=fl.ones(2))


def log_softmax(a: np.ndarray) -> np.ndarray:
    return a - np.log(np.exp(a).sum(1, keepdims=True))


def test_cross_entropy_is_nll_of_log_softmax():
    x, a = pair(4, 3)
    classes = [0, 2, 1, 2]
    target = fl.tensor(classes)
    picked = -log_softmax(a)[np.arange(4), classes]
    close(nn.CrossEntropyLoss()(x, target), picked.mean())
    close(nn.CrossEntropyLoss(reduction="none")(x, target), picked)
    close(nn.NLLLoss()(nn.LogSoftmax(1)(x), target), picked.mean())
    weight = np.array([1.0, 2.0, 3.0], dtype=np.float32)
    w = weight[classes]
    close(nn.CrossEntropyLoss(weight=fl.from_numpy(weight))(x, target), (picked * w).sum() / w.sum())
    close(nn.CrossEntropyLoss(ignore_index=2)(x, target), picked[[0, 2]].mean())
    smooth = 0.8 * picked - 0.2 * log_softmax(a).mean(1)
    close(nn.CrossEntropyLoss(label_smoothing=0.2)(x, target), smooth.mean())


def test_cross_entropy_takes_probabilities_and_images():
    x, a = pair(4, 3)
    p = np.full((4, 3), 1 / 3, dtype=np.float32)
    close(F.cross_entropy(x, fl.from_numpy(p)), -(log_softmax(a) / 3).sum(1).mean())
    y, b = pair(2, 3, 2, 2)
    target = fl.tensor([[[0, 1], [2, 0]], [[1, 1], [0, 2]]])
    flat = log_softmax(b.transpose(0, 2, 3, 1).reshape(8, 3))
    close(F.cross_entropy(y, target), -flat[np.arange(8), target.flatten().tolist()].mean())


def test_linear_cross_entropy_is_the_composition():
    m = nn.LinearCrossEntropyLoss(5, 4, bias=True)
    x, _ = pair(3, 5)
    target = fl.tensor([0, 3, 1])
    expected = F.cross_entropy(F.linear(x, m.linear.weight, m.linear.bias), target)
    close(m(x, target), expected.item())
    with pytest.raises(RuntimeError, match="dimensionality 1 or 2, got 3"):
        F.linear_cross_entropy(fl.zeros(2, 2, 5), m.linear.weight, target)
    with pytest.raises(RuntimeError, match="ignore_index cannot be specified"):
        F.linear_cross_entropy(x, m.linear.weight, fl.zeros(3, 4), ignore_index=1)


def test_kl_div_and_its_batch_mean():
    p = np.array([[0.2, 0.8], [0.5, 0.5]], dtype=np.float32)
    q = np.array([[0.4, 0.6], [0.1, 0.9]], dtype=np.float32)
    expected = (p * (np.log(p) - np.log(q))).sum() / 2
    log_q = fl.from_numpy(np.log(q))
    close(F.kl_div(log_q, fl.from_numpy(p), reduction="batchmean"), expected)
    close(F.kl_div(log_q, fl.from_numpy(np.log(p)), reduction="batchmean", log_target=True), expected)


def test_gaussian_nll():
    x, a = pair(3, 2)
    y, b = pair(3, 2)
    var = np.full((3, 2), 0.5, dtype=np.float32)
    expected = 0.5 * (np.log(0.5) + (a - b) ** 2 / 0.5)
    close(F.gaussian_nll_loss(x, y, fl.from_numpy(var)), expected.mean())
    close(F.gaussian_nll_loss(x, y, 0.5, full=True), expected.mean() + 0.5 * math.log(2 * math.pi))
    with pytest.raises(ValueError, match="negative entry"):
        F.gaussian_nll_loss(x, y, -1.0)
    with pytest.raises(ValueError, match="incorrect size"):
        F.gaussian_nll_loss(x, y, fl.ones(4))


def test_metric_losses():
    (x, a), (y, b), (z, c) = pair(3, 4), pair(3, 4), pair(3, 4)

    def distance(u, v):
        return np.sqrt((np.abs(u - v + 1e-6) ** 2).sum(1))

    near, far = distance(a, b), distance(a, c)
    close(F.triplet_margin_loss(x, y, z, margin=2.0), np.maximum(near - far + 2, 0).mean())
    loss = nn.TripletMarginWithDistanceLoss(distance_function=lambda u, v: (u - v).abs().sum(-1), reduction="sum")
    manhattan = np.abs(a - b).sum(1) - np.abs(a - c).sum(1)
    close(loss(x, y, z), np.maximum(manhattan + 1, 0).sum())
    sign = fl.tensor([1.0, -1.0, 1.0])
    s = np.array([1, -1, 1])
    close(F.margin_ranking_loss(x[:, 0], y[:, 0], sign, 0.1), np.maximum(-s * (a - b)[:, 0] + 0.1, 0).mean())
    hinge = np.where(s == 1, a[:, 0], np.maximum(0, 1 - a[:, 0]))
    close(F.hinge_embedding_loss(x[:, 0], sign), hinge.mean())
    cos = (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
    close(F.cosine_embedding_loss(x, y, sign), np.where(s == 1, 1 - cos, np.maximum(cos, 0)).mean())


def test_multilabel_soft_margin():
    x, a = pair(2, 3)
    t = np.array([[1, 0, 1], [0, 0, 1]], dtype=np.float32)
    p = 1 / (1 + np.exp(-a))
    expected = -(t * np.log(p) + (1 - t) * np.log1p(-p)).mean(1)
    close(F.multilabel_soft_margin_loss(x, fl.from_numpy(t)), expected.mean())


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda x: F.mse_loss(x, x, reduction="foo"), ValueError, "foo is not a valid value for reduction"),
        (lambda x: F.binary_cross_entropy(x, fl.zeros(4)), ValueError, "Using a target size"),
        (lambda x: F.binary_cross_entropy_with_logits(x, fl.zeros(4)), ValueError, "must be the same as input size"),
        (lambda x: F.cross_entropy(x, fl.tensor([0, 1, 1])), ValueError, r"batch_size \(2\) to match target batch_size \(3\)"),
        (lambda x: F.cross_entropy(x, fl.tensor([0, 5])), IndexError, "Target 5 is out of bounds"),
        (lambda x: F.multi_margin_loss(x, fl.tensor([0, 1]), p=3), ValueError, "only p == 1 and p == 2"),
        (lambda x: F.triplet_margin_loss(x, x, x, margin=-1), ValueError, "margin must be greater than 0, got -1"),
        (lambda x: F.margin_ranking_loss(x, x, fl.ones(3)), RuntimeError, "should have same dimension"),
        (lambda x: nn.MultiMarginLoss(p=3), ValueError, "only p == 1 and p == 2"),
        (lambda x: nn.TripletMarginLoss(margin=0), ValueError, "expected margin to be greater than 0"),
    ],
)  # fmt: skip
def test_bad_arguments(call, error, text):
    with pytest.raises(error, match=text):
        call(fl.zeros(2, 3))


def test_old_flags_choose_the_reduction_and_warn():
    with pytest.warns(UserWarning, match="reduction='sum'"):
        assert nn.MSELoss(size_average=False).reduction == "sum"
    with pytest.warns(UserWarning, match="reduction='none'"):
        assert nn.MSELoss(reduce=False).reduction == "none"


def test_broadcasting_a_target_warns():
    with pytest.warns(UserWarning, match="different to the input size"):
        F.mse_loss(fl.zeros(2, 3), fl.zeros(3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        F.mse_loss(fl.zeros(2, 3), fl.zeros(2, 3))
