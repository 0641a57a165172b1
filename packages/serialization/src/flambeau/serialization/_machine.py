"""A pickle machine that runs no code of the file's choosing.

Python's own unpickler calls whatever the file names and can be made to exhaust the memory or the C stack before any
hook is asked. This one knows the opcodes of protocols 2 to 5, calls only what `find_global` hands out as callable, and
checks each length against what is left of the file.

Source: the `pickletools` documentation of the opcodes.
"""

from __future__ import annotations

import struct
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

from ._errors import UnpicklingError, shown
from ._hashable import check_hashable

FindGlobal = Callable[[str, str], Any]
Handler = Callable[["Machine", int], int]

_HANDLERS: dict[int, Handler] = {}
_NAMES = {ord("S"): "STRING", ord("i"): "INST", ord("o"): "OBJ", ord("P"): "PERSID", 0x82: "EXT1", 0x83: "EXT2"}


def _opcode(code: bytes) -> Callable[[Handler], Handler]:
    def register(handler: Handler) -> Handler:
        _HANDLERS[code[0]] = handler
        return handler

    return register


class CutShort(UnpicklingError):
    """The pickle goes on after the bytes that were given."""


class Callee:
    """A function or class of the allow-list.

    `value` is what files get, `call` what happens when they call it. `is_user` says that the user allowed it.
    """

    __slots__ = ("call", "dotted", "is_user", "value")

    def __init__(self, dotted: str, value: Any, call: Callable[..., Any] | None = None, is_user: bool = False) -> None:
        self.dotted = dotted
        self.value = value
        self.call = value if call is None else call
        self.is_user = is_user


class Machine:
    """Runs one pickle.

    Parameters
    ----------
    find_global : (module, name) -> Callee, or a plain value such as a dtype; raises for what is refused
    load_persistent : persistent id -> object
    encoding : for the byte strings of Python 2; "bytes" leaves them as they are
    shortcut : (machine, position of a MARK) -> position after, or None: handles a common sequence at once
    """

    def __init__(
        self,
        find_global: FindGlobal,
        load_persistent: Callable[[Any], Any],
        encoding: str = "utf-8",
        errors: str = "strict",
        shortcut: Callable[[Machine, int], int | None] | None = None,
    ) -> None:
        self._find_global = find_global
        self._load_persistent = load_persistent
        self._encoding = encoding
        self._errors = errors
        self._shortcut = shortcut
        self.data = b""
        self.stack: list[Any] = []
        self._below: list[list[Any]] = []
        # Keys are the operands as they stand in the file: one byte below 256, four above.
        self.memo: dict[bytes, Any] = {}
        # By id; the memo or the allow-list keeps the objects alive, so ids are not used again.
        self._callees: dict[int, Callee] = {}
        self._built: dict[int, Any] = {}

    def run(self, data: bytes, position: int = 0) -> tuple[Any, int]:
        """Run the pickle at `position`; return its object and where it ends.

        Raises
        ------
        UnpicklingError  naming the opcode, its position and what is wrong; CutShort where bytes are missing
        """
        self.data, at, handlers = data, position, _HANDLERS
        try:
            while (code := data[at]) != 0x2E:
                at = handlers[code](self, at + 1)
            result = self.stack.pop()
        except KeyError as err:
            raise self._explain(err, at) from err
        except IndexError as err:
            raise self._explain_index(at) from err
        if self._below or self.stack:
            raise UnpicklingError(
                f"[load] the pickle stops at byte {at} with {len(self.stack)} objects left on its stack"
            )
        return result, at + 1

    def _explain(self, err: KeyError, at: int) -> UnpicklingError:
        code = self.data[at]
        if code in _HANDLERS:
            return UnpicklingError(f"[load] the pickle refers at byte {at} to object {err} that it has not stored")
        name = _NAMES.get(code, "unknown")
        return UnpicklingError(
            f"[load] opcode 0x{code:02x} ({name}) at byte {at} of the pickle is not allowed; "
            "files of tensors and plain containers in protocols 2 to 5 do not need it"
        )

    def _explain_index(self, at: int) -> UnpicklingError:
        if at >= len(self.data) - 8:
            return CutShort(f"[load] the pickle ends after {len(self.data)} bytes without its STOP opcode")
        return UnpicklingError(
            f"[load] opcode 0x{self.data[at]:02x} at byte {at} of the pickle takes objects that are not there"
        )

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

    @_opcode(b"\x80")
    def _proto(self, at: int) -> int:
        if self.data[at] > 5:
            raise self._fail(at, f"protocol {self.data[at]} is not known; 2 to 5 are")
        return at + 1

    @_opcode(b"\x95")
    def _frame(self, at: int) -> int:
        return at + 8

    @_opcode(b"(")
    def _mark(self, at: int) -> int:
        if self._shortcut is not None and (after := self._shortcut(self, at)) is not None:
            return after
        self._below.append(self.stack)
        self.stack = []
        return at

    @_opcode(b"0")
    def _pop(self, at: int) -> int:
        if self.stack:
            self.stack.pop()
        else:
            self._pop_mark()
        return at

    @_opcode(b"1")
    def _pop_to_mark(self, at: int) -> int:
        self._pop_mark()
        return at

    @_opcode(b"2")
    def _dup(self, at: int) -> int:
        self.stack.append(self.stack[-1])
        return at

    # Memo.

    @_opcode(b"q")
    def _binput(self, at: int) -> int:
        self.memo[self.data[at : at + 1]] = self.stack[-1]
        return at + 1

    @_opcode(b"r")
    def _long_binput(self, at: int) -> int:
        self.memo[_memo_key(self.data[at : at + 4])] = self.stack[-1]
        return at + 4

    @_opcode(b"\x94")
    def _memoize(self, at: int) -> int:
        self.memo[_memo_key(len(self.memo).to_bytes(4, "little"))] = self.stack[-1]
        return at

    @_opcode(b"h")
    def _binget(self, at: int) -> int:
        self.stack.append(self.memo[self.data[at : at + 1]])
        return at + 1

    @_opcode(b"j")
    def _long_binget(self, at: int) -> int:
        self.stack.append(self.memo[_memo_key(self.data[at : at + 4])])
        return at + 4

    # Numbers and constants.

    @_opcode(b"N")
    def _none(self, at: int) -> int:
        self.stack.append(None)
        return at

    @_opcode(b"\x88")
    def _true(self, at: int) -> int:
        self.stack.append(True)
        return at

    @_opcode(b"\x89")
    def _false(self, at: int) -> int:
        self.stack.append(False)
        return at

    @_opcode(b"K")
    def _binint1(self, at: int) -> int:
        self.stack.append(self.data[at])
        return at + 1

    @_opcode(b"M")
    def _binint2(self, at: int) -> int:
        return self._push_int(at, 2, False)

    @_opcode(b"J")
    def _binint(self, at: int) -> int:
        return self._push_int(at, 4, True)

    def _push_int(self, at: int, width: int, signed: bool) -> int:
        self.data[at + width - 1]
        self.stack.append(int.from_bytes(self.data[at : at + width], "little", signed=signed))
        return at + width

    @_opcode(b"\x8a")
    def _long1(self, at: int) -> int:
        raw, at = self._take(at, 1)
        self.stack.append(int.from_bytes(raw, "little", signed=True))
        return at

    @_opcode(b"\x8b")
    def _long4(self, at: int) -> int:
        raw, at = self._take(at, 4)
        self.stack.append(int.from_bytes(raw, "little", signed=True))
        return at

    @_opcode(b"G")
    def _binfloat(self, at: int) -> int:
        self.data[at + 7]
        self.stack.append(struct.unpack_from(">d", self.data, at)[0])
        return at + 8

    # Text and bytes.

    @_opcode(b"X")
    def _binunicode(self, at: int) -> int:
        raw, end = self._take(at, 4)
        self.stack.append(_text(raw, at))
        return end

    @_opcode(b"\x8c")
    def _short_binunicode(self, at: int) -> int:
        raw, end = self._take(at, 1)
        self.stack.append(_text(raw, at))
        return end

    @_opcode(b"\x8d")
    def _binunicode8(self, at: int) -> int:
        raw, end = self._take(at, 8)
        self.stack.append(_text(raw, at))
        return end

    @_opcode(b"U")
    def _short_binstring(self, at: int) -> int:
        raw, end = self._take(at, 1)
        self.stack.append(self._decode(raw, at))
        return end

    @_opcode(b"T")
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

    @_opcode(b"C")
    def _short_binbytes(self, at: int) -> int:
        raw, end = self._take(at, 1)
        self.stack.append(raw)
        return end

    @_opcode(b"B")
    def _binbytes(self, at: int) -> int:
        raw, end = self._take(at, 4)
        self.stack.append(raw)
        return end

    @_opcode(b"\x8e")
    def _binbytes8(self, at: int) -> int:
        raw, end = self._take(at, 8)
        self.stack.append(raw)
        return end

    @_opcode(b"\x96")
    def _bytearray8(self, at: int) -> int:
        raw, end = self._take(at, 8)
        self.stack.append(bytearray(raw))
        return end

    # Containers.

    @_opcode(b")")
    def _empty_tuple(self, at: int) -> int:
        self.stack.append(())
        return at

    @_opcode(b"\x85")
    def _tuple1(self, at: int) -> int:
        self.stack[-1] = (self.stack[-1],)
        return at

    @_opcode(b"\x86")
    def _tuple2(self, at: int) -> int:
        self.stack[-2:] = [(self.stack[-2], self.stack[-1])]
        return at

    @_opcode(b"\x87")
    def _tuple3(self, at: int) -> int:
        self.stack[-3:] = [(self.stack[-3], self.stack[-2], self.stack[-1])]
        return at

    @_opcode(b"t")
    def _tuple(self, at: int) -> int:
        items = self._pop_mark()
        self.stack.append(tuple(items))
        return at

    @_opcode(b"]")
    def _empty_list(self, at: int) -> int:
        self.stack.append([])
        return at

    @_opcode(b"a")
    def _append(self, at: int) -> int:
        value = self.stack.pop()
        self._list(at).append(value)
        return at

    @_opcode(b"e")
    def _appends(self, at: int) -> int:
        items = self._pop_mark()
        self._list(at).extend(items)
        return at

    def _list(self, at: int) -> list[Any]:
        if type(self.stack[-1]) is not list:
            raise self._fail(at, f"items are appended to {shown(self.stack[-1])}; only lists take them")
        return self.stack[-1]

    @_opcode(b"}")
    def _empty_dict(self, at: int) -> int:
        self.stack.append({})
        return at

    @_opcode(b"s")
    def _setitem(self, at: int) -> int:
        value, key = self.stack.pop(), self.stack.pop()
        self._set_items(at, (key, value))
        return at

    @_opcode(b"u")
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

    @_opcode(b"\x8f")
    def _empty_set(self, at: int) -> int:
        self.stack.append(set())
        return at

    @_opcode(b"\x90")
    def _additems(self, at: int) -> int:
        items = self._pop_mark()
        if type(self.stack[-1]) is not set:
            raise self._fail(at, f"items are added to {shown(self.stack[-1])}; only sets take them")
        for item in items:
            check_hashable(item)
            self.stack[-1].add(item)
        return at

    @_opcode(b"\x91")
    def _frozenset(self, at: int) -> int:
        items = self._pop_mark()
        for item in items:
            check_hashable(item)
        self.stack.append(frozenset(items))
        return at

    # Globals and what is made of them.

    @_opcode(b"c")
    def _global(self, at: int) -> int:
        module, at = self._line(at)
        name, at = self._line(at)
        self._push_global(module, name)
        return at

    def _push_global(self, module: str, name: str) -> None:
        found = self._find_global(module, name)
        if type(found) is Callee:
            self._callees[id(found.value)] = found
            found = found.value
        self.stack.append(found)

    @_opcode(b"\x93")
    def _stack_global(self, at: int) -> int:
        name, module = self.stack.pop(), self.stack.pop()
        if type(name) is not str or type(module) is not str:
            raise self._fail(at, f"a global must be named by two strings, got {shown(module)} and {shown(name)}")
        self._push_global(module, name)
        return at

    @_opcode(b"R")
    def _reduce(self, at: int) -> int:
        args, callee = self.stack.pop(), self.stack.pop()
        known = self._callees.get(id(callee))
        if known is None or type(args) is not tuple:
            raise self._fail(
                at, f"{shown(callee)} is called with {shown(args)}; functions of the allow-list are, with a tuple"
            )
        self._call(at, known, known.call, args, {})
        return at

    @_opcode(b"\x81")
    def _newobj(self, at: int) -> int:
        args, cls = self.stack.pop(), self.stack.pop()
        self._new(at, cls, args, {})
        return at

    @_opcode(b"\x92")
    def _newobj_ex(self, at: int) -> int:
        kwargs, args, cls = self.stack.pop(), self.stack.pop(), self.stack.pop()
        if type(kwargs) is not dict or not all(type(key) is str for key in kwargs):
            raise self._fail(at, f"keyword arguments must be a dict with names as keys, got {shown(kwargs)}")
        self._new(at, cls, args, kwargs)
        return at

    def _new(self, at: int, cls: Any, args: Any, kwargs: dict[str, Any]) -> None:
        known = self._callees.get(id(cls))
        if (
            known is None
            or not (isinstance(cls, type) and (known.is_user or cls in (OrderedDict, Counter)))
            or type(args) is not tuple
        ):
            raise self._fail(at, f"an object is made of {shown(cls)}; classes of the allow-list are instantiated")
        self._call(at, known, cls.__new__, (cls, *args), kwargs)

    def _call(self, at: int, known: Callee, call: Callable[..., Any], args: tuple[Any, ...], kwargs: Any) -> None:
        try:
            result = call(*args, **kwargs)
        except (UnpicklingError, MemoryError):
            raise
        except Exception as err:
            # The arguments come from the file: whatever they provoke is the file's fault.
            raise self._fail(at, f"{known.dotted} does not take the arguments in the file: {err}") from err
        if known.is_user:
            self._built[id(result)] = result
        self.stack.append(result)

    @_opcode(b"b")
    def _build(self, at: int) -> int:
        state, target = self.stack.pop(), self.stack[-1]
        if type(target) is OrderedDict:
            if type(state) is not dict or not all(type(key) is str for key in state):
                raise self._fail(
                    at, f"the state of an OrderedDict must be a dict with names as keys, got {shown(state)}"
                )
            target.__dict__.update(state)
        elif id(target) in self._built:
            set_state(target, state)
        else:
            raise self._fail(at, f"state is set on {shown(target)}; only objects of allowed classes take it")
        return at

    @_opcode(b"Q")
    def _binpersid(self, at: int) -> int:
        self.stack.append(self._load_persistent(self.stack.pop()))
        return at


def set_state(target: Any, state: Any) -> None:
    """Give an object of a class that the user allowed its state, as `pickle` documents it."""
    if (setter := getattr(target, "__setstate__", None)) is not None:
        setter(state)
        return
    slots = None
    if isinstance(state, tuple) and len(state) == 2:
        state, slots = state
    target.__dict__.update(state or {})
    for name, value in (slots or {}).items():
        setattr(target, name, value)


def _memo_key(operand: bytes) -> bytes:
    return operand[:1] if operand[1:] == b"\0\0\0" else operand


def _text(raw: bytes, at: int) -> str:
    try:
        return raw.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as err:
        raise UnpicklingError(f"[load] the text at byte {at} of the pickle is not UTF-8: {shown(raw)}") from err
