"""float32 products: squares, and few rows through a layer of 768 x 3072."""

from __future__ import annotations

from functools import partial
from types import ModuleType
from typing import Any

from harness import Case

TITLE = "float32 matmul"
MEAN_BAR = 1.0  # on the geometric mean of the ratios
SQUARES = (128, 256, 512, 1024, 2048)
ROWS = (1, 8, 32)


def setup(fl: ModuleType, m: int, k: int, n: int, transposed: bool) -> dict[str, Any]:
    fl.manual_seed(0)
    b = fl.randn(n, k).t() if transposed else fl.randn(k, n)
    return {"a": fl.randn(m, k), "b": b, "matmul": fl.matmul}


def cases() -> list[Case]:
    shapes = [(n, n, n) for n in SQUARES] + [(m, 768, 3072) for m in ROWS]
    return [
        Case(
            f"({m}, {k}) @ ({k}, {n}){' transposed' if transposed else ''}",
            partial(setup, m=m, k=k, n=n, transposed=transposed),
            "matmul(a, b)",
            bar=0.9,
            block_s=0.1,
        )
        for m, k, n in shapes
        for transposed in (False, True)
    ]
