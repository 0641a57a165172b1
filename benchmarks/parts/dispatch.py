"""What one small operation costs from Python."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from harness import Case

TITLE = "one operation on 4 elements, called from Python"


def setup(fl: ModuleType) -> dict[str, Any]:
    return {
        "a": fl.ones(4),
        "b": fl.ones(4),
        "add": fl.add,
        "mul": fl.mul,
        "relu": fl.relu,
        "fl": fl,
        "m": fl.ones(2, 2),
    }


def cases() -> list[Case]:
    return [
        Case("add(a, b)", setup, "add(a, b)", bar=10),
        Case("a + b", setup, "a + b", bar=10),
        Case("a.add(b)", setup, "a.add(b)", bar=10),
        Case("add_ in place", setup, "a.add_(b)"),
        Case("a * 2.0", setup, "a * 2.0"),
        Case("relu(a)", setup, "relu(a)"),
        Case("a.sum()", setup, "a.sum()"),
        Case("a.view(2, 2)", setup, "a.view(2, 2)"),
        Case("a[1:3]", setup, "a[1:3]"),
        Case("m @ m", setup, "m @ m"),
        Case("a.sum().item()", setup, "a.sum().item()"),
        Case("empty(4)", setup, "fl.empty(4)"),
        Case("zeros(4)", setup, "fl.zeros(4)"),
    ]
