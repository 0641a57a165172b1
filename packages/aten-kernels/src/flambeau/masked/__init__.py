"""Reductions and normalisations over the elements that a mask lets through.

`mask` is a boolean tensor that broadcasts to the input; None lets everything through. Where a result has no element at
all, its value is unspecified: the identity of the operation, or NaN.
"""

from flambeau.masked._normalizations import cumprod, cumsum, log_softmax, logaddexp, normalize, softmax, softmin
from flambeau.masked._reductions import amax, amin, argmax, argmin, logsumexp, mean, median, norm, prod, std, sum, var

__all__ = [
    "amax", "amin", "argmax", "argmin", "cumprod", "cumsum", "log_softmax", "logaddexp", "logsumexp", "mean", "median",
    "norm", "normalize", "prod", "softmax", "softmin", "std", "sum", "var",
]  # fmt: skip
