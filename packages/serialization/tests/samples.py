"""What the tests save, and how they compare what comes back."""

from __future__ import annotations

import io
from collections import Counter, OrderedDict
from typing import Any

import flambeau
from flambeau.serialization import _tensor_bridge as bridge

ALL_DTYPES = [
    *("bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64"),
    *("float16", "bfloat16", "float32", "float64", "complex32", "complex64", "complex128"),
    *("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"),
]


def from_bytes(data: bytes, dtype: str, size: tuple[int, ...], stride: tuple[int, ...], offset: int = 0) -> Any:
    """A tensor on a storage with the given bytes."""
    storage = bridge.new_storage(len(data))
    bridge.storage_bytes(storage)[:] = data
    return bridge.tensor_over(storage, getattr(flambeau, dtype), offset, size, stride)


def over(storage: Any, dtype: str, size: tuple[int]) -> Any:
    """A tensor of one dimension on the memory of another one."""
    return bridge.tensor_over(storage, getattr(flambeau, dtype), 0, size, (1,))


def memory(storage: Any) -> memoryview:
    """The bytes of a storage, writable."""
    return bridge.storage_bytes(storage)


def raw(tensor: Any) -> bytes:
    """All bytes of the storage under a tensor."""
    return bytes(bridge.storage_bytes(tensor.untyped_storage()))


def shares_memory(a: Any, b: Any) -> bool:
    return bridge.storage_key(a.untyped_storage()) == bridge.storage_key(b.untyped_storage())


def saved(obj: Any, **options: Any) -> io.BytesIO:
    stream = io.BytesIO()
    flambeau.save(obj, stream, **options)
    stream.seek(0)
    return stream


def round_trip(obj: Any, **options: Any) -> Any:
    return flambeau.load(saved(obj), **options)


def assert_same(a: Any, b: Any, where: str = "") -> None:
    """Same types, values, geometry and attributes, recursively."""
    assert type(a) is type(b), (where, type(a), type(b))
    if isinstance(a, flambeau.Tensor):
        assert (a.dtype, a.shape, a.stride(), a.storage_offset()) == (
            b.dtype,
            b.shape,
            b.stride(),
            b.storage_offset(),
        ), where
        assert (a.requires_grad, str(a.device)) == (b.requires_grad, str(b.device)), where
        assert bridge.attributes_of(a) == bridge.attributes_of(b), where
        if a.device.type != "meta":
            assert raw(a) == raw(b), where
    elif isinstance(a, dict):
        assert list(a) == list(b), where
        for key in a:
            assert_same(a[key], b[key], f"{where}[{key!r}]")
        assert_same(getattr(a, "__dict__", None), getattr(b, "__dict__", None), f"{where}.__dict__")
    elif isinstance(a, (list, tuple)):
        assert len(a) == len(b), where
        for index, (x, y) in enumerate(zip(a, b)):
            assert_same(x, y, f"{where}[{index}]")
    else:
        assert a == b, (where, a, b)


def checkpoint() -> OrderedDict[str, Any]:
    """A state dict as training leaves it, with everything that may stand beside the weights."""
    weight = flambeau.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    state = OrderedDict(weight=weight, row=weight[1], column=weight[:, 2], bias=flambeau.tensor([0.5, -0.5]))
    state._metadata = OrderedDict({"": {"version": 1}})
    return OrderedDict(
        model=state,
        optimizer={
            "state": {0: {"step": flambeau.tensor(3.0), "exp_avg": flambeau.tensor([0.0, 1.0])}},
            "groups": [{"lr": 0.1}],
        },
        epoch=7,
        big=2**70,
        negative=-5,
        loss=0.25,
        done=False,
        nothing=None,
        name="Flammenwerfer äöü \u4e2d",
        raw=b"\x00\xff",
        array=bytearray(b"xy"),
        pair=(1, (2.5, "x"), ()),
        tags={"a", "b"},
        fixed=frozenset({1, 2}),
        counts=Counter("aab"),
        z=1 + 2j,
        dtype=flambeau.bfloat16,
        device=flambeau.device("cpu"),
        size=flambeau.tensor([[1, 2]]).shape,
        layout=flambeau.strided,
    )
