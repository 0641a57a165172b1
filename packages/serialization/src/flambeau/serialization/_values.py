"""The opcodes of a pickle that make numbers, text and containers, and the stack and memo that they work on."""

from __future__ import annotations

import struct
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

from ._errors import UnpicklingError, shown
from ._hashable import check_hashable

# (machine, position after the opcode) -> position after the operands
Handler = Callable[[Any, int], int]

HANDLERS: dict[int, Handler] = {}


def opcode(code: bytes) -> Callable[[Handler], Handler]:
    """Register a handler."""

    def register(handler: Handler) -> Handler:
        HANDLERS[code[0]] = handler
        return handler

    return register


class CutShort(UnpicklingError):
    """The pickle goes on after the bytes that were given."""


class ValueMachine:
    """The part of `Machine` that knows nothing of globals, and calls nothing but its shortcut."""

    def __init__(self, encoding: str, errors: str, shortcut: Callable[[Any, int], int | None] | None) -> None:
        self._encoding = encoding
        self._errors = errors
        self._shortcut = shortcut
        self.data = b""
        self.stack: list[Any] = []
        self._below: list[list[Any]] = []
        # Keys are the operands as they stand in the file: one byte below 256, four above.
        self.memo: dict[bytes, Any] = {}
        # Objects of classes that the user allowed, by id.
        self._built: dict[int, Any] = {}

    # Operands.

    def _take(self, at: int, width: int) -> tuple[bytes, int]:
        """The bytes of an operand that follows its length of `width` bytes."""
        begin = at + width
        end = begin + int.from_bytes(self.data[at:begin], "little")
        if end > len(self.data):
            raise CutShort(
                f"[load] the pickle declares {end - begin:,} bytes at byte {at}, {max(0, len(self.data) - begin):,} are left"
            )
        return self.data[begin:end], end

    def _line(self, at: int) -> tuple[str, int]:
        end = self.data.find(b"\n", at)
        if end < 0:
            raise CutShort(f"[load] the pickle ends inside the name at byte {at}")
        return _text(self.data[at:end], at), end + 1

    def _pop_mark(self) -> list[Any]:
        items, self.stack = self.stack, self._below.pop()
        return items

    def _fail(self, at: int, problem: str) -> UnpicklingError:
        return UnpicklingError(f"[load] byte {at - 1} of the pickle: {problem}")

    # Framing.

    @opcode(b"\x80")
    def _proto(self, at: int) -> int:
        if self.data[at] > 5:
            raise self._fail(at, f"protocol {self.data[at]} is not known; 2 to 5 are")
        return at + 1

    @opcode(b"\x95")
    def _frame(self, at: int) -> int:
        return at + 8

    @opcode(b"(")
    def _mark(self, at: int) -> int:
        if self._shortcut is not None and (after := self._shortcut(self, at)) is not None:
            return after
        self._below.append(self.stack)
        self.stack = []
        return at

    @opcode(b"0")
    def _pop(self, at: int) -> int:
        if self.stack:
            self.stack.pop()
        else:
            self._pop_mark()
        return at

    @opcode(b"1")
    def _pop_to_mark(self, at: int) -> int:
        self._pop_mark()
        return at

    @opcode(b"2")
    def _dup(self, at: int) -> int:
        self.stack.append(self.stack[-1])
        return at

    # Memo.

    @opcode(b"q")
    def _binput(self, at: int) -> int:
        self.memo[self.data[at : at + 1]] = self.stack[-1]
        return at + 1

    @opcode(b"r")
    def _long_binput(self, at: int) -> int:
        self.memo[_memo_key(self.data[at : at + 4])] = self.stack[-1]
        return at + 4

    @opcode(b"\x94")
    def _memoize(self, at: int) -> int:
        self.memo[_memo_key(len(self.memo).to_bytes(4, "little"))] = self.stack[-1]
        return at

    @opcode(b"h")
    def _binget(self, at: int) -> int:
        self.stack.append(self.memo[self.data[at : at + 1]])
        return at + 1

    @opcode(b"j")
    def _long_binget(self, at: int) -> int:
        self.stack.append(self.memo[_memo_key(self.data[at : at + 4])])
        return at + 4

    # Numbers and constants.

    @opcode(b"N")
    def _none(self, at: int) -> int:
        self.stack.append(None)
        return at

    @opcode(b"\x88")
    def _true(self, at: int) -> int:
        self.stack.append(True)
        return at

    @opcode(b"\x89")
    def _false(self, at: int) -> int:
        self.stack.append(False)
        return at

    @opcode(b"K")
    def _binint1(self, at: int) -> int:
        self.stack.append(self.data[at])
        return at + 1

    @opcode(b"M")
    def _binint2(self, at: int) -> int:
        return self._push_int(at, 2, False)

    @opcode(b"J")
    def _binint(self, at: int) -> int:
        return self._push_int(at, 4, True)

    def _push_int(self, at: int, width: int, signed: bool) -> int:
        self.data[at + width - 1]
        self.stack.append(int.from_bytes(self.data[at : at + width], "little", signed=signed))
        return at + width

    @opcode(b"\x8a")
    def _long1(self, at: int) -> int:
        raw, at = self._take(at, 1)
        self.stack.append(int.from_bytes(raw, "little", signed=True))
        return at

    @opcode(b"\x8b")
    def _long4(self, at: int) -> int:
        raw, at = self._take(at, 4)
        self.stack.append(int.from_bytes(raw, "little", signed=True))
        return at

    @opcode(b"G")
    def _binfloat(self, at: int) -> int:
        self.data[at + 7]
        self.stack.append(struct.unpack_from(">d", self.data, at)[0])
        return at + 8

    # Text and bytes.

    @opcode(b"X")
    def _binunicode(self, at: int) -> int:
        raw, end = self._take(at, 4)
        self.stack.append(_text(raw, at))
        return end

    @opcode(b"\x8c")
    def _short_binunicode(self, at: int) -> int:
        raw, end = self._take(at, 1)
        self.stack.append(_text(raw, at))
        return end

    @opcode(b"\x8d")
    def _binunicode8(self, at: int) -> int:
        raw, end = self._take(at, 8)
        self.stack.append(_text(raw, at))
        return end

    @opcode(b"U")
    def _short_binstring(self, at: int) -> int:
        raw, end = self._take(at, 1)
        self.stack.append(self._decode(raw, at))
        return end

    @opcode(b"T")
    def _binstring(self, at: int) -> int:
        raw, end = self._take(at, 4)
        self.stack.append(self._decode(raw, at))
        return end

    def _decode(self, raw: bytes, at: int) -> str | bytes:
        if self._encoding == "bytes":
            return raw
        try:
            return raw.decode(self._encoding, self._errors)
        except UnicodeDecodeError as err:
            raise self._fail(at, f"{shown(raw)} is not {self._encoding}; pass encoding='latin1' or 'bytes'") from err

    @opcode(b"C")
    def _short_binbytes(self, at: int) -> int:
        raw, end = self._take(at, 1)
        self.stack.append(raw)
        return end

    @opcode(b"B")
    def _binbytes(self, at: int) -> int:
        raw, end = self._take(at, 4)
        self.stack.append(raw)
        return end

    @opcode(b"\x8e")
    def _binbytes8(self, at: int) -> int:
        raw, end = self._take(at, 8)
        self.stack.append(raw)
        return end

    @opcode(b"\x96")
    def _bytearray8(self, at: int) -> int:
        raw, end = self._take(at, 8)
        self.stack.append(bytearray(raw))
        return end

    # Containers.

    @opcode(b")")
    def _empty_tuple(self, at: int) -> int:
        self.stack.append(())
        return at

    @opcode(b"\x85")
    def _tuple1(self, at: int) -> int:
        self.stack[-1] = (self.stack[-1],)
        return at

    @opcode(b"\x86")
    def _tuple2(self, at: int) -> int:
        self.stack[-2:] = [(self.stack[-2], self.stack[-1])]
        return at

    @opcode(b"\x87")
    def _tuple3(self, at: int) -> int:
        self.stack[-3:] = [(self.stack[-3], self.stack[-2], self.stack[-1])]
        return at

    @opcode(b"t")
    def _tuple(self, at: int) -> int:
        items = self._pop_mark()
        self.stack.append(tuple(items))
        return at

    @opcode(b"]")
    def _empty_list(self, at: int) -> int:
        self.stack.append([])
        return at

    @opcode(b"a")
    def _append(self, at: int) -> int:
        value = self.stack.pop()
        self._list(at).append(value)
        return at

    @opcode(b"e")
    def _appends(self, at: int) -> int:
        items = self._pop_mark()
        self._list(at).extend(items)
        return at

    def _list(self, at: int) -> list[Any]:
        if type(self.stack[-1]) is not list:
            raise self._fail(at, f"items are appended to {shown(self.stack[-1])}; only lists take them")
        return self.stack[-1]

    @opcode(b"}")
    def _empty_dict(self, at: int) -> int:
        self.stack.append({})
        return at

    @opcode(b"s")
    def _setitem(self, at: int) -> int:
        value, key = self.stack.pop(), self.stack.pop()
        self._set_items(at, (key, value))
        return at

    @opcode(b"u")
    def _setitems(self, at: int) -> int:
        self._set_items(at, self._pop_mark())
        return at

    def _set_items(self, at: int, items: Sequence[Any]) -> None:
        target = self.stack[-1]
        if type(target) not in (dict, OrderedDict, Counter) and id(target) not in self._built:
            raise self._fail(at, f"items are set in {shown(target)}; only dicts take them")
        if len(items) % 2:
            raise self._fail(at, f"{len(items)} keys and values are set in a dict; they must come in pairs")
        for index in range(0, len(items), 2):
            key = items[index]
            if type(key) is not str:
                check_hashable(key)
            target[key] = items[index + 1]

    @opcode(b"\x8f")
    def _empty_set(self, at: int) -> int:
        self.stack.append(set())
        return at

    @opcode(b"\x90")
    def _additems(self, at: int) -> int:
        items = self._pop_mark()
        if type(self.stack[-1]) is not set:
            raise self._fail(at, f"items are added to {shown(self.stack[-1])}; only sets take them")
        for item in items:
            check_hashable(item)
            self.stack[-1].add(item)
        return at

    @opcode(b"\x91")
    def _frozenset(self, at: int) -> int:
        items = self._pop_mark()
        for item in items:
            check_hashable(item)
        self.stack.append(frozenset(items))
        return at


def _memo_key(operand: bytes) -> bytes:
    return operand[:1] if operand[1:] == b"\0\0\0" else operand


def _text(raw: bytes, at: int) -> str:
    try:
        return raw.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as err:
        raise UnpicklingError(f"[load] the text at byte {at} of the pickle is not UTF-8: {shown(raw)}") from err
