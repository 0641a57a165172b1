"""Reductions of meta tensors: sizes and dtypes as of real ones, and the same refusals."""

import flambeau as fl
import pytest

CALLS = {
    "sum": lambda x: fl.sum(x),
    "sum of a dim": lambda x: fl.sum(x, 1, keepdim=True),
    "sum in another dtype": lambda x: fl.sum(x, dtype=fl.float64),
    "nansum": lambda x: fl.nansum(x, 0),
    "mean": lambda x: fl.mean(x.float(), (0, 1)),
    "prod": lambda x: fl.prod(x, 2),
    "amax": lambda x: fl.amax(x, (0, 2)),
    "amin": lambda x: fl.amin(x),
    "aminmax": lambda x: fl.aminmax(x, dim=1),
    "max": lambda x: fl.max(x),
    "max of a dim": lambda x: fl.max(x, 0),
    "min of a dim": lambda x: fl.min(x, 0, keepdim=True),
    "argmax": lambda x: fl.argmax(x, 1),
    "argmin": lambda x: fl.argmin(x),
    "any": lambda x: fl.any(x),
    "all": lambda x: fl.all(x, 1),
    "count_nonzero": lambda x: fl.count_nonzero(x, (0, 1)),
    "var": lambda x: fl.var(x.float(), 1),
    "std": lambda x: fl.std(x.float()),
    "var_mean": lambda x: fl.var_mean(x.float(), (0,)),
    "norm": lambda x: fl.linalg.vector_norm(x.float(), 3, 1),
    "logsumexp": lambda x: fl.logsumexp(x.float(), 1),
}


def described(result: object) -> list[tuple[fl.Size, fl.dtype]]:
    tensors = result if isinstance(result, tuple) else (result,)
    return [(t.shape, t.dtype) for t in tensors]


@pytest.mark.parametrize("dtype", [fl.float32, fl.int32, fl.uint8], ids=str)
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_results_are_those_of_real_tensors(call, dtype):
    x = fl.ones(2, 3, 4, dtype=dtype)
    meta = call(x.to("meta"))
    assert described(meta) == described(call(x))
    assert all(t.is_meta for t in (meta if isinstance(meta, tuple) else (meta,)))


def test_refusals_are_those_of_real_tensors():
    empty = fl.ones(0, 3, device="meta")
    with pytest.raises(IndexError):
        fl.amax(empty, 0)
    with pytest.raises(IndexError):
        fl.sum(empty, 2)
    with pytest.raises(RuntimeError):
        fl.mean(fl.ones(2, dtype=fl.int64, device="meta"))
