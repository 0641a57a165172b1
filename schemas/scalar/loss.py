"""Pointwise losses before reduction."""

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


@scalar(dtypes="floating", params=("beta",))
def smooth_l1_loss(x, target, beta):
    z = fn.fabs(x - target)
    return where(z < beta, 0.5 * z * z / beta, z - 0.5 * beta)


@scalar(dtypes="floating", params=("delta",))
def huber_loss(x, target, delta):
    z = fn.fabs(x - target)
    return where(z <= delta, 0.5 * z * z, delta * (z - 0.5 * delta))


@scalar(dtypes="floating")
def binary_cross_entropy(x, target):
    positive = not_below(fn.log(x), LOG_FLOOR)
    negative = not_below(fn.log1p(-x), LOG_FLOOR)
    return (target - 1) * negative - target * positive


@scalar(dtypes="floating")
def bce_with_logits(x, target):
    """(1 - target) x - log(sigmoid(x)), without overflow."""
    return (1 - target) * x + fn.log1p(fn.exp(-fn.fabs(x))) + where(x < 0, -x, where(x != x, x, 0))


@scalar(dtypes="floating")
def bce_with_logits_pos_weight(x, target, pos_weight):
    weight = (pos_weight - 1) * target + 1
    return (1 - target) * x + weight * (fn.log1p(fn.exp(-fn.fabs(x))) + where(x < 0, -x, where(x != x, x, 0)))


@scalar(dtypes="floating")
def soft_margin_loss(x, target):
    return fn.log1p(fn.exp(-target * x))
