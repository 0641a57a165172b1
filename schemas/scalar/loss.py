"""Pointwise losses before reduction, and their derivatives. `norm` is the weight that the reduction gives an element."""

from opgen.scalar import functions as fn
from opgen.scalar import scalar
from opgen.scalar.lang import where

LOG_FLOOR = -100.0
"""Logarithms in binary cross entropy are cut here, so that a certain wrong answer costs 100 and not infinity."""


def not_below(x, floor):
    return where(x < floor, floor, x)


@scalar(dtypes="numeric")
def mse_loss(x, target):
    d = x - target
    return d * d


@scalar(dtypes="float_complex", params=("norm",))
def mse_loss_backward(grad, x, target, norm):
    return norm * (x - target) * grad


@scalar(dtypes="real_numeric")
def l1_loss(x, target):
    d = x - target
    return fn.fabs(d) if x.is_floating else where(d < 0, -d, d)


@scalar(dtypes="floating", params=("beta",))
def smooth_l1_loss(x, target, beta):
    z = fn.fabs(x - target)
    return where(z < beta, 0.5 * z * z / beta, z - 0.5 * beta)


@scalar(dtypes="floating", params=("norm", "beta"))
def smooth_l1_loss_backward(grad, x, target, norm, beta):
    d = x - target
    outer = where(d <= -beta, -norm * grad, norm * grad)
    return where((d <= -beta) | (d >= beta), outer, norm * d * grad / beta)


@scalar(dtypes="floating", params=("delta",))
def huber_loss(x, target, delta):
    z = fn.fabs(x - target)
    return where(z <= delta, 0.5 * z * z, delta * (z - 0.5 * delta))


@scalar(dtypes="floating", params=("norm", "delta"))
def huber_loss_backward(grad, x, target, norm, delta):
    d = x - target
    outer = where(d <= -delta, -norm * grad * delta, norm * grad * delta)
    return where((d <= -delta) | (d >= delta), outer, norm * d * grad)


@scalar(dtypes="floating")
def binary_cross_entropy(x, target):
    positive = not_below(fn.log(x), LOG_FLOOR)
    negative = not_below(fn.log1p(-x), LOG_FLOOR)
    return (target - 1) * negative - target * positive


@scalar(dtypes="floating")
def binary_cross_entropy_backward(grad, x, target):
    return grad * (x - target) / not_below((1 - x) * x, 1e-12)


@scalar(dtypes="floating")
def bce_with_logits(x, target):
    """(1 - target) x - log(sigmoid(x)), without overflow."""
    return (1 - target) * x + fn.log1p(fn.exp(-fn.fabs(x))) + where(x < 0, -x, where(x != x, x, 0))


@scalar(dtypes="floating")
def bce_with_logits_pos_weight(x, target, pos_weight):
    weight = (pos_weight - 1) * target + 1
    return (1 - target) * x + weight * (fn.log1p(fn.exp(-fn.fabs(x))) + where(x < 0, -x, where(x != x, x, 0)))


@scalar(dtypes="floating")
def bce_with_logits_backward(grad, x, target):
    return grad * (1 / (1 + fn.exp(-x)) - target)


@scalar(dtypes="floating")
def soft_margin_loss(x, target):
    return fn.log1p(fn.exp(-target * x))


@scalar(dtypes="floating", params=("norm",))
def soft_margin_loss_backward(grad, x, target, norm):
    z = fn.exp(-target * x)
    return -norm * target * grad * z / (1 + z)


@scalar(dtypes="floating")
def kl_div(x, target):
    """target (log(target) - x), 0 where the target is 0; x is a log-probability."""
    self_term = where(target == 0, 0, target * fn.log(target))
    return where(target != target, target, self_term - target * x)


@scalar(dtypes="floating")
def kl_div_log_target(x, target):
    return fn.exp(target) * (target - x)
