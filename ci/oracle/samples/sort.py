"""Sorting, selection and counting. Ties leave indices undefined unless the sort is stable: only values are compared there."""

from __future__ import annotations

from . import calls, lines

ONE_DIM = ("t(9)", "t(3, 5), 1", "nc(3, 5), 0")

SAMPLES = [
    *calls("f", "sort", (*ONE_DIM, "t()", "t(0)", "t(300)", "t(3, 5), 0, descending=True")),
    *calls("n", "argsort", ("t(9), stable=True", "t(3, 5), dim=0, stable=True", "t(3, 5), dim=1, descending=True, stable=True")),
    *calls("f", "kthvalue", ("t(9), 2", "t(3, 5), 3, 1, keepdim=True", "nc(3, 5), 1, 0")),
    *calls("f", "topk", ("t(9), 3", "t(3, 5), 2, 1, False", "nc(3, 5), 2, 0", "t(), 1")),
    *calls("f", "median nanmedian", ("t(9)", "t(3, 5), 1", "t(3, 4), 0, keepdim=True", "t()")),
    *calls("n", "msort unique unique_consecutive", ("t(9)", "t(3, 4)", "t(0)")),
    *lines("n", """
        fl.sort(t(9), stable=True)
        fl.sort(t(3, 5), dim=0, descending=True, stable=True)
        fl.sort(t(3, 5), 1)[0]
        fl.argsort(t(9), stable=True)
        fl.topk(t(9), 3)[0]
        fl.topk(t(3, 5), 2, dim=1, largest=False)[0]
        fl.kthvalue(t(9), 4)[0]
        fl.median(t(9))
        fl.median(t(3, 5), 1)[0]
        fl.mode(t(3, 5), 1)[0]
        fl.unique(t(9), return_inverse=True, return_counts=True)
        fl.unique(t(4, 2), dim=0)
        fl.unique_consecutive(t(9), return_inverse=True, return_counts=True)
        fl.searchsorted(fl.sort(t(9))[0], t(4))
        fl.searchsorted(fl.sort(t(9))[0], 1)
        fl.searchsorted(fl.sort(t(9))[0], t(2, 2), right=True, out_int32=True)
        fl.argsort(t(9)).shape
    """),
    *lines("f", """
        fl.sort(sl(4, 6), 1)[0]
        fl.quantile(t(9), 0.3)
        fl.quantile(t(3, 5), f(2).sigmoid().to(dt).detach(), 1, interpolation='nearest')
        fl.nanquantile(t(9), 0.3)
        fl.histc(t(20), 5, -1, 1)
        fl.histc(t(20))
        fl.histogram(t(20), 4)
    """),
    *lines("-", """
        fl.sort(t(3), 5)
        fl.topk(t(3), 9)
        fl.topk(t(3), -1)
        fl.kthvalue(t(3), 0)
        fl.kthvalue(t(3), 4)
        fl.median(t(3), 2)
        fl.unique(t(3, 4), dim=5)
        fl.searchsorted(t(2, 3), t(3, 2))
        fl.quantile(t(3), 1.5)
        fl.mode(t(0))
    """),
]  # fmt: skip
