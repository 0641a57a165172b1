"""A pickle machine that runs no code of the file's choosing.

Python's own unpickler calls whatever the file names and can be made to exhaust the memory or the C stack before any
hook is asked. This one knows the opcodes of protocols 2 to 5, calls only what `find_global` hands out as callable, and
checks each length against what is left of the file.

Source: the `pickletools` documentation of the opcodes.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any

from ._errors import UnpicklingError, shown
from ._values import HANDLERS, CutShort, ValueMachine, opcode

FindGlobal = Callable[[str, str], Any]

_NAMES = {ord("S"): "STRING", ord("i"): "INST", ord("o"): "OBJ", ord("P"): "PERSID", 0x82: "EXT1", 0x83: "EXT2"}


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


class Machine(ValueMachine):
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
        super().__init__(encoding, errors, shortcut)
        self._find_global = find_global
        self._load_persistent = load_persistent
        # By id; the memo or the allow-list keeps the objects alive, so ids are not used again.
        self._callees: dict[int, Callee] = {}

    def run(self, data: bytes, position: int = 0) -> tuple[Any, int]:
        """Run the pickle at `position`; return its object and where it ends.

        Raises
        ------
        UnpicklingError  naming the opcode, its position and what is wrong; CutShort where bytes are missing
        """
        self.data, at, handlers = data, position, HANDLERS
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
        if code in HANDLERS:
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

    # Globals and what is made of them.

    @opcode(b"c")
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

    @opcode(b"\x93")
    def _stack_global(self, at: int) -> int:
        name, module = self.stack.pop(), self.stack.pop()
        if type(name) is not str or type(module) is not str:
            raise self._fail(at, f"a global must be named by two strings, got {shown(module)} and {shown(name)}")
        self._push_global(module, name)
        return at

    @opcode(b"R")
    def _reduce(self, at: int) -> int:
        args, callee = self.stack.pop(), self.stack.pop()
        known = self._callees.get(id(callee))
        if known is None or type(args) is not tuple:
            raise self._fail(
                at, f"{shown(callee)} is called with {shown(args)}; functions of the allow-list are, with a tuple"
            )
        self._call(at, known, known.call, args, {})
        return at

    @opcode(b"\x81")
    def _newobj(self, at: int) -> int:
        args, cls = self.stack.pop(), self.stack.pop()
        self._new(at, cls, args, {})
        return at

    @opcode(b"\x92")
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

    @opcode(b"b")
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

    @opcode(b"Q")
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
