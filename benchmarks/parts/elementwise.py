"""Large pointwise operations; each call allocates its output."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from harness import Case

TITLE = "64 MB of float32, outputs allocated"
NUM_ELEMENTS = 16 * 1024 * 1024


def setup(fl: ModuleType) -> dict[str, Any]:
    fl.manual_seed(0)
    return {"fl": fl, "a": fl.randn(NUM_ELEMENTS), "b": fl.randn(NUM_ELEMENTS)}


def cases() -> list[Case]:
    return [
        Case("add", setup, "fl.add(a, b)", bar=2, block_s=0.2),
        Case("exp", setup, "fl.exp(a)", bar=2, block_s=0.2),
        Case("relu", setup, "fl.relu(a)", bar=2, block_s=0.2),
        Case("sum", setup, "fl.sum(a)", block_s=0.2),
        Case("tanh", setup, "fl.tanh(a)", block_s=0.2),
    ]
