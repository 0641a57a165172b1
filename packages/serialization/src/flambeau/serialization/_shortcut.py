"""The sequence of opcodes that describes one tensor, handled in one step.

A tensor takes about thirty opcodes, and a checkpoint may have ten thousands of them. The sequence is always the
same, so one regular expression recognises it and finds its operands; whatever deviates goes the ordinary way.
"""

from __future__ import annotations

import math
import re
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import _tensor_bridge as bridge
from ._machine import Machine
from ._rebuild import MAX_DIMS, build, rebuild_tensor_v2, with_grad
from ._typed_storage import StorageKind, TypedStorage

if TYPE_CHECKING:
    from flambeau import UntypedStorage

    LoadStorage = Callable[[StorageKind, str, str, int], UntypedStorage]

# One byte below 256, four above; four with a small value would be a second spelling of the same memo slot.
_SLOT = rb"((?<=[qh]).|(?<=[rj])(?!.\x00\x00\x00).{4})"
_PUT = rb"(?:[qr]" + _SLOT + rb")?"
_GET = rb"[hj]" + _SLOT
_INT = rb"(?:K.|M..|J...[\x00-\x7f])"
_TUPLE = rb"((?:" + _INT + rb"){0,3}[)\x85\x86\x87]|\((?:" + _INT + rb")+t)" + _PUT
_PATTERN = re.compile(
    rb"\(\(" + _GET + _GET  # MARK, then the persistent id: MARK "storage", the class,
    + rb"(?:X(.)\x00\x00\x00([0-9]{1,18})" + _PUT + rb"|" + _GET + rb")"  # the key, new or seen before,
    + _GET + rb"(" + _INT + rb")t" + _PUT + rb"Q"  # the location, the number of elements;
    + rb"(" + _INT + rb")" + _TUPLE + _TUPLE  # offset, sizes, strides,
    + rb"([\x88\x89])" + _GET + rb"\)R" + _PUT  # requires_grad, an OrderedDict;
    + rb"t" + _PUT + rb"R",
    re.DOTALL,
)  # fmt: skip

# Overlapping on purpose: the operand of one candidate may hold the next.
_LONG_BINGET = re.compile(rb"j(?=(.{4}))", re.DOTALL)
_MAX_CACHED = 4096
_NUM_MARKS = {0x29: 0, 0x85: 1, 0x86: 2, 0x87: 3}


def _integers(raw: bytes) -> tuple[int, ...] | None:
    """The integers of a tuple as the pattern found it; None where its length is not what its opcode says."""
    body = raw[1:-1] if raw[0] == 0x28 else raw[:-1]
    values, at = [], 0
    while at < len(body):
        width = {0x4B: 1, 0x4D: 2, 0x4A: 4}[body[at]]
        values.append(int.from_bytes(body[at + 1 : at + 1 + width], "little"))
        at += 1 + width
    return tuple(values) if len(values) == _NUM_MARKS.get(raw[-1], len(values)) else None


class TensorShortcut:
    """Called by the machine at each MARK; `load_storage` is (kind, key, location, number of elements) -> storage."""

    def __init__(self, load_storage: LoadStorage) -> None:
        self._load_storage = load_storage
        self._geometries: dict[tuple[bytes, bytes], tuple[tuple[int, ...], tuple[int, ...], int] | None] = {}
        self._numbers: dict[bytes, int] = {}
        self._slots: set[bytes] | None = None

    def __call__(self, machine: Machine, at: int) -> int | None:
        stack = machine.stack
        if not stack or stack[-1] is not rebuild_tensor_v2:
            return None
        found = _PATTERN.match(machine.data, at - 1)
        if found is None:
            return None
        (
            word, kind_slot, length, key, put_key, get_key, location_slot, count, put_id,
            offset, size, put_size, stride, put_stride, grad, hooks, put_hooks, put_args,
        ) = found.groups()  # fmt: skip
        memo = machine.memo
        geometry = self._geometry(size, stride)
        kind: Any = memo.get(kind_slot)
        location: Any = memo.get(location_slot)
        is_plain = type(kind) is StorageKind and kind.dtype is not None and type(location) is str
        if geometry is None or not is_plain or memo.get(word) != "storage" or memo.get(hooks) is not OrderedDict:
            return None
        if key is None:
            key = memo.get(get_key)
        else:
            key = key.decode() if length[0] == len(key) else None
        if type(key) is not str:
            return None
        count = self._number(count)
        storage = self._load_storage(kind, key, location, count)
        offset = self._number(offset)
        size, stride, extent = geometry
        if (offset + extent) * kind.itemsize <= bridge.storage_nbytes(storage):
            tensor = bridge.tensor_over(storage, kind.dtype, offset, size, stride)
        else:
            tensor = build(storage, kind.dtype, offset, size, stride, False)  # raises, and says what is wrong
        if grad == b"\x88":
            with_grad(tensor, True)
        stack[-1] = tensor
        puts = (put_key, put_id, put_size, put_stride, put_hooks, put_args)
        if not self._read_slots(machine.data).isdisjoint(puts):
            no_hooks: OrderedDict[Any, Any] = OrderedDict()
            identity = ("storage", kind, key, location, count)
            args = (TypedStorage(storage, kind.dtype), offset, size, stride, grad == b"\x88", no_hooks)
            for slot, value in zip(puts, (key, identity, size, stride, no_hooks, args)):
                if slot is not None:
                    memo[slot] = value
        return found.end()

    def _read_slots(self, data: bytes) -> set[bytes]:
        """Memo slots that the pickle may read; the parts of a tensor almost never are."""
        if self._slots is None:
            # Every byte that could be the opcode counts, so the set is too large rather than too small.
            self._slots = {bytes((slot,)) for slot in range(256)}
            self._slots.update(_LONG_BINGET.findall(data))
        return self._slots

    def _number(self, raw: bytes) -> int:
        number = self._numbers.get(raw)
        if number is None:
            number = int.from_bytes(raw[1:], "little")
            if len(self._numbers) < _MAX_CACHED:
                self._numbers[raw] = number
        return number

    def _geometry(self, size: bytes, stride: bytes) -> tuple[tuple[int, ...], tuple[int, ...], int] | None:
        """Sizes, strides and how many elements they span; None where the ordinary way must look at them."""
        key = (size, stride)
        try:
            return self._geometries[key]
        except KeyError:
            geometry = _geometry_of(_integers(size), _integers(stride))
            if len(self._geometries) < _MAX_CACHED:
                self._geometries[key] = geometry
            return geometry


def _geometry_of(
    size: tuple[int, ...] | None, stride: tuple[int, ...] | None
) -> tuple[tuple[int, ...], tuple[int, ...], int] | None:
    if size is None or stride is None or len(size) != len(stride) or len(size) > MAX_DIMS or math.prod(size) >= 2**63:
        return None
    extent = 0 if 0 in size else 1 + sum((n - 1) * step for n, step in zip(size, stride))
    return size, stride, extent
