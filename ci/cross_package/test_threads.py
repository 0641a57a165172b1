"""A result does not depend on the number of threads, bit for bit."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import flambeau as fl
import pytest

REDUCTIONS: dict[str, Callable[[fl.Tensor], fl.Tensor]] = {
    "sum": lambda x: x.sum(),
    "sum of rows": lambda x: x.sum(1),
    "sum of columns": lambda x: x.sum(0),
    "mean": lambda x: x.mean(),
    "var": lambda x: x.var(correction=0),
    "var of columns": lambda x: x.var(0, correction=0),
    "norm": lambda x: fl.linalg.vector_norm(x),
    "prod": lambda x: (x / 100 + 1).prod(),
    "logsumexp": lambda x: x.logsumexp(1),
    "amax": lambda x: x.amax(0),
    "argmax": lambda x: x.argmax(),
    "cumsum": lambda x: x.cumsum(0),
    "softmax": lambda x: fl.softmax(x, 1),
    "layer_norm": lambda x: fl.nn.functional.layer_norm(x, (x.shape[1],)),
    "matmul": lambda x: x @ x.t(),
    "conv1d": lambda x: fl.nn.functional.conv1d(x.reshape(1, 1, -1), fl.ones(2, 1, 5, dtype=x.dtype)),
    "mse_loss": lambda x: fl.nn.functional.mse_loss(x, fl.zeros_like(x)),
    "count_nonzero": lambda x: x.count_nonzero(),
}
SHAPES = [(1, 200_000), (200_000, 1), (700, 301), (3, 70_001)]


@pytest.fixture
def restored_threads() -> Iterator[None]:
    before = fl.get_num_threads()
    yield
    fl.set_num_threads(before)


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("name", sorted(REDUCTIONS))
def test_same_bits_with_any_number_of_threads(name: str, dtype: str, restored_threads: None) -> None:
    for shape in SHAPES:
        if name == "matmul" and shape[0] > 1000:
            continue  # a result of 160 GB
        x = fl.randn(*shape, generator=fl.Generator().manual_seed(3)).to(getattr(fl, dtype))
        fl.set_num_threads(1)
        expected = REDUCTIONS[name](x)
        for threads in (2, 3, 7):
            fl.set_num_threads(threads)
            assert fl.equal(REDUCTIONS[name](x), expected), f"{shape} with {threads} threads"


def test_gradients_do_not_depend_on_threads(restored_threads: None) -> None:
    def gradient() -> fl.Tensor:
        x = fl.randn(64, 3, 12, 12, generator=fl.Generator().manual_seed(1)).requires_grad_(True)
        weight = fl.randn(8, 3, 3, 3, generator=fl.Generator().manual_seed(2)).requires_grad_(True)
        fl.nn.functional.conv2d(x, weight, padding=1).pow(2).mean().backward()
        return fl.cat([x.grad.flatten(), weight.grad.flatten()])

    fl.set_num_threads(1)
    expected = gradient()
    fl.set_num_threads(3)
    assert fl.equal(gradient(), expected)
