"""Reductions, cumulative and sorting operators."""

from __future__ import annotations

from . import lines

DIMS = ("t()", "t(5)", "t(3, 4)", "t(3, 4), 0", "t(3, 4), 1, keepdim=True", "nc(3, 4), -1", "t(2, 3, 4), (0, 2)")
ONE_DIM = ("t(3, 4), 0", "nc(3, 4), 1", "t(2, 3, 4), -2, keepdim=True")


def calls(dtypes: str, names: str, forms: tuple[str, ...]) -> list[tuple[str, str]]:
    return [(dtypes, f"fl.{name}({form})") for name in names.split() for form in forms]


SAMPLES = [
    *calls("a", "sum", (*DIMS, "t(0, 3), 0", "t(0)", "t(3, 4), dtype=fl.float64", "t(300, 70)")),
    *calls("h", "mean var std", DIMS),
    *calls("f", "logsumexp", ("t(3, 4), 0", "t(2, 3, 4), (0, 2)", "nc(3, 4), 1, keepdim=True")),
    *calls("n", "amax amin", DIMS),
    *calls("a", "any all", DIMS[:6]),
    *calls("a", "prod", ("t(4)", "t(3, 4), 0", "nc(3, 4), 1, keepdim=True")),
    *calls("n", "max min argmax argmin", ("t(9)", *ONE_DIM)),
    *calls("n", "median", ("t(9)", "t(3, 5), 1")),
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
        fl.kthvalue(t(9), 2)
        fl.sort(sl(4, 6), 1)[0]
        fl.quantile(t(9), 0.3)
        fl.trapezoid(t(5))
        fl.diff(t(5))
    """),
    *lines("h", """
        fl.log_softmax(nc(3, 4), 0)
    """),
    *lines("n", """
        fl.sort(t(9))
        fl.sort(t(3, 5), 0, descending=True)
        fl.argsort(t(9), stable=True)
        fl.topk(t(9), 3)[0]
        fl.topk(t(3, 5), 2, dim=1, largest=False)[0]
        fl.unique(t(9))
        fl.unique(t(9), return_inverse=True, return_counts=True)
        fl.searchsorted(fl.sort(t(9))[0], t(4))
        fl.unique_consecutive(t(9))
        fl.cov(f(3, 5))
    """),
    *lines("i", """
        fl.bincount(i(5, 9))
        fl.mean(t(3))
    """),
    *lines("-", """
        fl.sum(t(3), 1)
        fl.max(t(0))
        fl.argmax(t(0))
        fl.sort(t(3), 5)
        fl.topk(t(3), 9)
        fl.kthvalue(t(3), 0)
        fl.amax(t(0, 3), 0)
        fl.sum(t(2, 2), (0, 0))
        fl.softmax(t(3), 2)
        fl.cumsum(t(3))
    """),
]  # fmt: skip
