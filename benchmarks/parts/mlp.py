"""One training step of a tiny network: nearly all of it is overhead."""

from __future__ import annotations

from functools import partial
from types import ModuleType
from typing import Any

from harness import Case

TITLE = "training step of a 16-32-4 network, 8 rows"


def setup(fl: ModuleType, optimizer: str) -> dict[str, Any]:
    fl.manual_seed(0)
    nn = fl.nn
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))
    x, y = fl.randn(8, 16), fl.randint(0, 4, (8,))
    chosen = getattr(fl.optim, optimizer)(model.parameters(), lr=1e-3)
    loss_fn = nn.CrossEntropyLoss()

    def step() -> None:
        chosen.zero_grad()
        loss_fn(model(x), y).backward()
        chosen.step()

    return {"step": step, "forward": lambda: model(x)}


def cases() -> list[Case]:
    return [
        Case("forward", partial(setup, optimizer="SGD"), "forward()"),
        Case("step, SGD", partial(setup, optimizer="SGD"), "step()"),
        Case("step, Adam", partial(setup, optimizer="Adam"), "step()"),
    ]
