"""What recording and running a small backward pass costs."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from harness import Case

TITLE = "autograd on 4 elements"


def chain(fl: ModuleType, length: int) -> dict[str, Any]:
    x = fl.ones(4, requires_grad=True)
    ones = fl.ones(4)

    def step() -> None:
        y = x
        for _ in range(length):
            y = y * ones
        y.backward(ones)
        x.grad = None

    return {"step": step}


def three_nodes(fl: ModuleType) -> dict[str, Any]:
    x = fl.ones(4, requires_grad=True)

    def step() -> None:
        (x * x + x).sum().backward()
        x.grad = None

    return {"step": step}


def cases() -> list[Case]:
    return [
        Case("10 multiplications, forward and backward", lambda fl: chain(fl, 10), "step()", bar=15),
        Case("(x * x + x).sum().backward()", three_nodes, "step()"),
    ]
