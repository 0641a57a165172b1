"""Calls operators with wild arguments; run by test_wild_arguments.py in a process of its own.

    python wild.py LOG NUM_EXAMPLES NAME...

NAME is a path below flambeau, such as `add`, `Tensor.view` or `nn.functional.conv2d`: it is called with anything. Or it is
`record:` and an operator record, private ones included, such as `record:_softmax`: its sample call, one that works, is made
with some of its arguments replaced, which gets past the first checks. Before each call it is written to LOG, so that after a
crash the last line says what was called. Any Python exception is a good answer.
"""

from __future__ import annotations

import contextlib
import resource
import sys
import warnings
from typing import Any, TextIO

import flambeau as fl
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from record_samples import sample
from records import BY_NAME

MEMORY_BYTES = 6 << 30  # an absurd size has to end in a MemoryError, not in the machine's end
LARGEST_NUMEL = 1 << 20

INTS = [
    0,
    1,
    -1,
    2,
    3,
    5,
    7,
    -3,
    64,
    1 << 20,
    (1 << 31) - 1,
    1 << 31,
    -(1 << 31),
    (1 << 62),
    (1 << 63) - 1,
    -(1 << 63),
    1 << 70,
]
FLOATS = [0.0, -0.0, 0.5, 1.0, -1.5, 1e-40, 1e38, 1e308, float("inf"), float("-inf"), float("nan")]
WORDS = [
    "",
    "mean",
    "sum",
    "none",
    "floor",
    "ij,jk->ik",
    "constant",
    "reflect",
    "cpu",
    "cuda:99",
    "tanh",
    "\0",
    "é" * 50,
]
SHAPES = [
    (),
    (0,),
    (1,),
    (3,),
    (2, 3),
    (3, 2),
    (0, 3),
    (3, 0),
    (2, 3, 4),
    (1, 1, 1),
    (2, 3, 5, 5),
    (1, 2, 3, 4, 5),
    (5, 5),
]
DTYPES = [
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
KEYWORDS = [
    "dim",
    "keepdim",
    "out",
    "dtype",
    "other",
    "alpha",
    "value",
    "n",
    "p",
    "size",
    "index",
    "weight",
    "bias",
    "stride",
    "padding",
    "reduction",
    "min",
    "max",
    "start",
    "end",
    "k",
]


def plain(shape: tuple[int, ...], dtype: str, fill: int) -> fl.Tensor:
    return fl.full(shape, fill, dtype=getattr(fl, dtype))


def layouts(tensor: fl.Tensor) -> list[fl.Tensor]:
    """The same values as a transposed, an expanded, a strided and an offset view, and as a leaf that wants gradients;
    without values on meta; and with a storage that was taken away."""
    found = [tensor]
    with contextlib.suppress(Exception):
        found.append(tensor.permute(*reversed(range(tensor.dim()))))
        found.append(tensor.unsqueeze(0).expand(4, *tensor.shape))
        found.append(fl.cat([tensor, tensor])[::2])
        found.append(fl.cat([tensor, tensor])[1:])
    with contextlib.suppress(Exception):
        found.append(tensor.clone().requires_grad_(True))
    found.append(fl.empty_like(tensor, device="meta"))
    shrunk = tensor.clone()
    shrunk.untyped_storage().resize_(0)
    return [*found, shrunk]


@st.composite
def tensors(draw: st.DrawFn) -> fl.Tensor:
    shape, dtype = draw(st.sampled_from(SHAPES)), draw(st.sampled_from(DTYPES))
    fill = draw(st.sampled_from([0, 1, 2, 100, -1] if not dtype.startswith("u") and dtype != "bool" else [0, 1]))
    return draw(st.sampled_from(layouts(plain(shape, dtype, fill))))


def values() -> st.SearchStrategy[Any]:
    numbers = st.one_of(st.sampled_from(INTS), st.sampled_from(FLOATS))
    small = st.integers(-4, 6)
    lists = st.one_of(
        st.lists(small, max_size=5), st.lists(st.sampled_from(INTS), max_size=4), st.lists(tensors(), max_size=3)
    )
    others = st.one_of(
        st.none(), st.booleans(), st.sampled_from(WORDS), st.sampled_from(DTYPES).map(lambda n: getattr(fl, n)),
        st.just(1 + 2j), st.just(object()), st.just({}), lists, lists.map(tuple), st.just(slice(None, None, 2)),
    )  # fmt: skip
    return st.one_of(tensors(), tensors(), small, numbers, others)


def too_large(value: Any) -> bool:
    """A legal request for very much memory or time proves nothing and costs the run."""
    if isinstance(value, int) and not isinstance(value, bool):
        return LARGEST_NUMEL < abs(value) < (1 << 61)
    return isinstance(value, list | tuple) and any(too_large(v) for v in value)


def resolve(name: str) -> Any:
    found: Any = fl
    for part in name.split("."):
        found = getattr(found, part)
    return found


def calls(name: str) -> st.SearchStrategy[tuple[list[Any], dict[str, Any]]]:
    """Arguments for the function of this name."""
    if name.startswith("record:"):
        return spoiled(name.removeprefix("record:"))
    arguments = st.lists(values(), max_size=6)
    keywords = st.dictionaries(st.sampled_from(KEYWORDS), values(), max_size=2)

    def put_first(args: list[Any], first: fl.Tensor) -> list[Any]:
        return [first, *args] if name.startswith("Tensor.") or len(args) % 2 else args

    return st.tuples(st.builds(put_first, arguments, tensors()), keywords)


def others(tensor: fl.Tensor) -> list[fl.Tensor]:
    """Tensors of another shape, other values or another dtype."""
    found = [tensor.clone().fill_(-7 if tensor.dtype.is_signed else 1), tensor.to(fl.int64), tensor.to(fl.float32)]
    for change in (lambda t: t[:0], lambda t: t[..., :1], lambda t: t.unsqueeze(0), lambda t: t.flatten()):
        with contextlib.suppress(Exception):
            found.append(change(tensor))
    return found


@st.composite
def spoiled(draw: st.DrawFn, name: str) -> tuple[list[Any], dict[str, Any]]:
    """The sample call of a record with one to three arguments replaced, or a tensor of another shape, dtype or layout."""
    call = sample(BY_NAME[name]).copy()
    places = [(call.args, i) for i in range(len(call.args))] + [(call.kwargs, k) for k in call.kwargs]
    for holder, key in (
        draw(st.lists(st.sampled_from(places), min_size=1, max_size=3, unique_by=lambda p: str(p[1]))) if places else []
    ):
        old = holder[key]
        if isinstance(old, fl.Tensor) and draw(st.booleans()):
            holder[key] = draw(st.sampled_from([*others(old), *layouts(old)]))
        else:
            holder[key] = draw(values())
    for holder, key in places:
        value = holder[key]
        if isinstance(value, fl.Tensor) and value.is_floating_point() and draw(st.booleans()):
            holder[key] = value.detach().requires_grad_(True)
    return call.args, call.kwargs


def resolve_call(name: str) -> Any:
    return BY_NAME[name.removeprefix("record:")].call if name.startswith("record:") else resolve(name)


def check(name: str, num_examples: int, log: TextIO) -> None:
    """Call one operator `num_examples` times."""
    function = resolve_call(name)

    @seed(1)
    @settings(
        max_examples=num_examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(calls(name))
    def attempt(call: tuple[list[Any], dict[str, Any]]) -> None:
        args, kwargs = call
        if any(too_large(v) for v in [*args, *kwargs.values()]):
            return
        log.seek(0)
        log.truncate()
        log.write(f"{name}(*{describe(args)}, **{describe(kwargs)})")
        log.flush()
        with contextlib.suppress(Exception):
            result = function(*args, **kwargs)
            differentiate(result)

    attempt()


def describe(value: Any) -> str:
    """Like repr, with tensors by dtype, shape and stride."""
    if isinstance(value, fl.Tensor):
        return f"<{value.dtype} {tuple(value.shape)} stride {tuple(value.stride())}{' grad' if value.requires_grad else ''}>"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(describe, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k!r}: {describe(v)}" for k, v in value.items()) + "}"
    return repr(value)


def differentiate(result: Any) -> None:
    """Backward formulas meet wild saved values, too."""
    parts = result if isinstance(result, list | tuple) else [result]
    for part in parts:
        if isinstance(part, fl.Tensor) and part.requires_grad:
            part.sum().backward()
            return


def main() -> None:
    log_file, num_examples, *names = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    warnings.simplefilter("ignore")
    with open(log_file, "w") as log:
        for name in names:
            check(name, int(num_examples), log)


if __name__ == "__main__":
    main()
