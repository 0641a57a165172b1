"""Reductions and cumulative operators."""

from __future__ import annotations

from . import calls, lines

DIMS = ("t()", "t(5)", "t(3, 4)", "t(3, 4), 0", "t(3, 4), 1, keepdim=True", "nc(3, 4), -1", "t(2, 3, 4), (0, 2)")
ONE_DIM = ("t(3, 4), 0", "nc(3, 4), 1", "t(2, 3, 4), -2, keepdim=True")


SAMPLES = [
    *calls("a", "sum", (*DIMS, "t(0, 3), 0", "t(0)", "t(3, 4), dtype=fl.float64", "t(300, 70)")),
    *calls("h", "mean var std", DIMS),
    *calls("f", "logsumexp", ("t(3, 4), 0", "t(2, 3, 4), (0, 2)", "nc(3, 4), 1, keepdim=True")),
    *calls("n", "amax amin", DIMS),
    *calls("a", "any all", DIMS[:6]),
    *calls("a", "prod", ("t(4)", "t(3, 4), 0", "nc(3, 4), 1, keepdim=True")),
    *calls("n", "max min argmax argmin", ("t(9)", *ONE_DIM)),
    *calls("a", "count_nonzero", ("t(9)", "t(3, 4), 1", "t(3, 4), (0, 1)")),
    *calls("n", "cumsum cumprod", ("t(5), 0", "t(3, 4), 0", "nc(3, 4), -1")),
    *calls("f", "norm", ("t(5)", "t(3, 4), 2, 1", "t(3, 4), 1, 0", "t(3, 4), float('inf'), 1")),
    *calls("f", "var_mean std_mean", ("t(5)", "t(3, 4), 1", "t(3, 4), 0, keepdim=True")),
    *calls("f", "nansum", ("t(5)", "t(3, 4), 1")),
    *calls("f", "aminmax", ("t(5)",)),
    *calls("f", "cummax cummin logcumsumexp", ("t(5), 0", "t(3, 4), 1")),
    *lines("f", """
        fl.var(t(3, 4), 1, correction=0)
        fl.std(t(5), unbiased=False)
        t(3, 4).mean((0, 1))
        fl.softmax(t(3, 4), 1)
        fl.softmax(t(5), 0, dtype=fl.float64)
        fl.trapezoid(t(5))
        fl.diff(t(5))
    """),
    *calls("f", "nanmean", ("t(5)", "t(3, 4), 1")),
    *calls("f", "dist", ("t(5), t(5)", "t(3, 4), t(4), 1")),
    *calls("f", "aminmax", ("t(3, 4), dim=1", "t()")),
    *calls("n", "cummax cummin", ("t(5), 0", "nc(3, 4), 1")),
    *calls("h", "softmax log_softmax", ("t(3, 4), 1", "t(2, 3, 4), 1", "nc(3, 4), 0", "t(5), -1, dtype=fl.float64", "t(), 0")),
    *lines("f", """
        fl.all(t(3, 4), (0, 1))
        fl.segment_reduce(t(6), 'sum', lengths=fl.tensor([2, 1, 3]))
        fl.segment_reduce(t(6, 2), 'max', lengths=fl.tensor([2, 4]))
        fl.hash_tensor(t(5))
        fl.any(t(3, 4), (0, 1), keepdim=True)
        fl.nansum(t(4) / 0 * 0)
        fl.frobenius_norm(t(3, 4), (0, 1))
        fl.nuclear_norm(t(3, 4))
        fl.renorm(t(3, 4), 2, 0, 0.5)
        fl.norm(t(3, 4), 'fro', (0, 1))
        fl.norm(t(3, 4), 'nuc')
        fl.norm(t(3, 4), 0, 1)
        fl.norm(t(3, 4), 3.5)
        fl.cumulative_trapezoid(t(5))
        fl.corrcoef(t(3, 5))
        fl.cov(t(3, 5))
        fl.gradient(t(6))
        fl.cross(t(2, 3), t(2, 3), 1)
        fl.cumsum(t(3, 4), 0, dtype=fl.float64)
        fl.var(t(1))
        fl.std(t(0))
        fl.mean(t(0))
    """),
    *lines("a", """
        fl.sum(t(3, 4), (0, 1), keepdim=True)
        fl.prod(t(2, 3))
        fl.all(t(0, 3), 0)
        fl.diff(t(3, 5), dim=1)
        fl.cumsum(t(), 0)
    """),
    *lines("h", """
        fl.log_softmax(nc(3, 4), 0)
    """),
    *lines("n", """
        fl.cov(f(3, 5))
    """),
    *lines("i", """
        fl.mean(t(3))
    """),
    *lines("-", """
        fl.sum(t(3), 1)
        fl.max(t(0))
        fl.argmax(t(0))
        fl.amax(t(0, 3), 0)
        fl.sum(t(2, 2), (0, 0))
        fl.softmax(t(3), 2)
        fl.cumsum(t(3))
    """),
]  # fmt: skip
