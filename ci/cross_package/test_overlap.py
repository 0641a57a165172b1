"""`out=` or an in-place target that overlaps an input: the right numbers, or an error; never wrong ones."""

from __future__ import annotations

from collections.abc import Callable

import flambeau as fl
import pytest

F = fl.nn.functional
N = 12
OUT: dict[str, Callable[[fl.Tensor, fl.Tensor | None], fl.Tensor]] = {
    "add": lambda x, out: fl.add(x, 1, out=out),
    "add tensors": lambda x, out: fl.add(x, x.flip(0), out=out),
    "exp": lambda x, out: fl.exp(x, out=out),
    "maximum": lambda x, out: fl.maximum(x, x.flip(0), out=out),
    "clamp": lambda x, out: fl.clamp(x, 3, 9, out=out),
    "where": lambda x, out: fl.where(x > 5, x, -x, out=out),
    "addcmul": lambda x, out: fl.addcmul(x, x, x, out=out),
    "cumsum": lambda x, out: fl.cumsum(x, 0, out=out),
    "cumprod": lambda x, out: fl.cumprod(x, 0, out=out),
    "softmax": lambda x, out: fl.softmax(x, 0, out=out) if out is not None else fl.softmax(x, 0),
    "sort": lambda x, out: (
        fl.sort(-x, out=(out, fl.empty(0, dtype=fl.int64)))[0] if out is not None else fl.sort(-x)[0]
    ),
    "cat": lambda x, out: fl.cat([x[6:], x[:6]], out=out),
    "index_select": lambda x, out: fl.index_select(x, 0, fl.arange(N - 1, -1, -1), out=out),
    "gather": lambda x, out: fl.gather(x, 0, fl.arange(N - 1, -1, -1), out=out),
    "take_along_dim": lambda x, out: fl.take_along_dim(x, fl.arange(N - 1, -1, -1), 0, out=out),
    "mv": lambda x, out: fl.mv(fl.ones(N, N).tril(), x, out=out),
    "tril": lambda x, out: fl.tril(x.reshape(3, 4), out=None if out is None else out.view(3, 4)),
    "mm": lambda x, out: fl.mm(x.view(3, 4), fl.ones(4, 4).tril(), out=None if out is None else out.view(3, 4)),
    "sum": lambda x, out: fl.sum(x.view(3, 4), 0, out=None if out is None else out[:4]),
    "amax": lambda x, out: fl.amax(x.view(4, 3), 1, out=None if out is None else out[:4]),
    "outer": lambda x, out: fl.outer(x[:3], x[3:7], out=None if out is None else out.view(3, 4)),
}


@pytest.mark.parametrize("shift", [0, 1, 3, 5])
@pytest.mark.parametrize("name", sorted(OUT))
def test_out_that_overlaps_an_input(name: str, shift: int) -> None:
    base = fl.arange(2 * N, dtype=fl.float32) + 1
    x, out = base[4 : 4 + N], base[4 + shift : 4 + shift + N]
    expected = OUT[name](x.clone(), None)
    try:
        found = OUT[name](x, out)
    except RuntimeError as err:
        assert "overlap" in str(err) or "memory" in str(err)
        return
    assert fl.equal(found, expected)


IN_PLACE: dict[str, Callable[[fl.Tensor, fl.Tensor], fl.Tensor]] = {
    "add_": lambda x, other: x.add_(other),
    "mul_": lambda x, other: x.mul_(other),
    "copy_": lambda x, other: x.copy_(other),
    "addcmul_": lambda x, other: x.addcmul_(other, other),
    "index_add_": lambda x, other: x.index_add_(0, fl.arange(N), other),
    "masked_fill_": lambda x, other: x.masked_fill_(other > 5, 0),
    "scatter_": lambda x, other: x.scatter_(0, fl.arange(N - 1, -1, -1), other),
}


@pytest.mark.parametrize("shift", [0, 1, 3])
@pytest.mark.parametrize("name", sorted(IN_PLACE))
def test_in_place_on_an_overlapping_operand(name: str, shift: int) -> None:
    base = fl.arange(2 * N, dtype=fl.float32) + 1
    x, other = base[4 : 4 + N], base[4 + shift : 4 + shift + N]
    expected = IN_PLACE[name](x.clone(), other.clone())
    try:
        found = IN_PLACE[name](x, other)
    except RuntimeError as err:
        assert "overlap" in str(err) or "memory" in str(err)
        return
    assert fl.equal(found, expected)


def test_writing_to_an_expanded_tensor_is_refused() -> None:
    with pytest.raises(RuntimeError):
        fl.zeros(1).expand(4).add_(1)
    with pytest.raises(RuntimeError):
        fl.add(fl.ones(4), 1, out=fl.zeros(1).expand(4))
