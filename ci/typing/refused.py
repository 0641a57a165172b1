"""Wrong uses that type checkers must refuse: a mark that hides nothing is an error here. Nothing here is executed."""

from __future__ import annotations

from typing import assert_type

import flambeau as torch
from flambeau import Tensor


def names(x: Tensor) -> None:
    torch.no_such_operator(x)  # type: ignore[attr-defined]
    torch.linalg.no_such_operator(x)  # type: ignore[attr-defined]
    torch.nn.NoSuchLayer()  # type: ignore[attr-defined]
    torch.nn.functional.no_such_function(x)  # type: ignore[attr-defined]
    torch.optim.NoSuchOptimizer()  # type: ignore[attr-defined]
    x.no_such_method()  # type: ignore[attr-defined]
    x.shape.no_such_attribute  # type: ignore[attr-defined]  # noqa: B018
    torch.float31  # type: ignore[attr-defined]  # noqa: B018
    torch.NAMES  # type: ignore[attr-defined]  # noqa: B018


def arguments(x: Tensor) -> None:
    torch.exp("x")  # type: ignore[arg-type]
    torch.add(x)  # type: ignore[call-arg]
    torch.add(x, x, 2)  # type: ignore[call-arg]
    torch.add(x, x, beta=2)  # type: ignore[call-arg]
    torch.zeros("2")  # type: ignore[arg-type]
    torch.zeros()  # type: ignore[call-overload]
    torch.zeros(2, dtype="float32")  # type: ignore[call-overload]
    torch.matmul(x, 2)  # type: ignore[arg-type]
    torch.cat(x)  # type: ignore[arg-type]
    torch.sum(x, keepdim="yes")  # type: ignore[call-overload]
    torch.nn.Linear(2, "3")  # type: ignore[arg-type]
    torch.nn.Linear(2)  # type: ignore[call-arg]
    x.reshape(2, "3")  # type: ignore[call-overload]
    x.topk("3")  # type: ignore[arg-type]
    x.detach(out=x)  # type: ignore[call-arg]
    x.sum(dim="rows")  # type: ignore[arg-type]
    x["row"]  # type: ignore[index]
    x @ 2  # type: ignore[operator]


def assignments(x: Tensor) -> None:
    x.shape = (2, 3)  # type: ignore[misc, assignment]
    x.grad = 1  # type: ignore[assignment]
    x.grad.sum()  # type: ignore[union-attr]
    n: int = x.sum()  # type: ignore[assignment]
    assert_type(n, int)
    x.ndim = 2  # type: ignore[misc]
