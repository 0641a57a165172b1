"""Sequential, ModuleList and ModuleDict; the parameter containers are re-exported."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from itertools import islice

from flambeau.nn.modules._parameter_containers import ParameterDict, ParameterList, checked_pairs
from flambeau.nn.modules.module import Module, _addindent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import ItemsView, Iterator, KeysView, ValuesView
    from typing import Any

__all__ = ["Container", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]


class Container(Module):
    """Keeps its keyword arguments as children. Kept for old programs; write a Module instead."""

    def __init__(self, **kwargs: Module) -> None:
        super().__init__()
        for name, module in kwargs.items():
            self.add_module(name, module)


def _position(n: int, idx: Any, low: int) -> int:
    """Turn an index, negative ones too, into 0..n-1, or raise IndexError."""
    idx = operator.index(idx)
    if not low <= idx < n:
        raise IndexError(f"index {idx} is out of range")
    return idx % n


class _Numbered(Module):
    """What Sequential and ModuleList share: children named "0", "1", ... in order."""

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def __delitem__(self, idx: int | slice) -> None:
        names = list(self._modules)
        if isinstance(idx, slice):
            for name in names[idx]:
                delattr(self, name)
        else:
            delattr(self, names[_position(len(names), idx, -len(names))])
        self._renumber(self._modules.values())

    def _renumber(self, modules: Iterable[Any]) -> None:
        self._modules = {str(i): module for i, module in enumerate(modules)}

    def append(self, module: Module) -> Any:
        """Add `module` at the end; returns self."""
        self.add_module(str(len(self)), module)
        return self


class Sequential(_Numbered):
    """Calls its children one after another, each on the result of the one before.

    `Sequential(a, b)` numbers them, `Sequential(OrderedDict(first=a, second=b))` names them.

    Shapes: input of the first child -> output of the last.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        # Only an ordered mapping: a plain dict here has always been refused.
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            for i, module in enumerate(args):
                self.add_module(str(i), module)

    def forward(self, input: Any) -> Any:
        """Run the children in order."""
        for module in self._modules.values():
            input = module(input)
        return input

    def __getitem__(self, idx: int | slice) -> Any:
        if isinstance(idx, slice):
            return type(self)(OrderedDict(list(self._modules.items())[idx]))
        n = len(self)
        return next(islice(self._modules.values(), _position(n, idx, -n), None))

    def __setitem__(self, idx: int, module: Module) -> None:
        n = len(self)
        setattr(self, list(self._modules)[_position(n, idx, -n)], module)

    def __add__(self, other: Iterable[Module]) -> Sequential:
        self._check_summand(other)
        return Sequential(*self, *other)

    def __iadd__(self, other: Iterable[Module]) -> Any:
        self._check_summand(other)
        return self.extend(other)

    def _check_summand(self, other: Any) -> None:
        if not isinstance(other, Sequential):
            raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")

    def __mul__(self, other: int) -> Sequential:
        self._check_factor(other)
        return Sequential(*(module for _ in range(other) for module in self))

    def __rmul__(self, other: int) -> Sequential:
        return self * other

    def __imul__(self, other: int) -> Any:
        self._check_factor(other)
        once = list(self)
        for _ in range(other - 1):
            self.extend(once)
        return self

    def _check_factor(self, other: Any) -> None:
        if not isinstance(other, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(other)}")
        if other <= 0:
            raise ValueError(f"Non-positive multiplication factor {other} for {type(self)}")

    def pop(self, key: int | slice) -> Module:
        """Take the child (or the slice of children) at `key` out and return it."""
        taken = self[key]
        del self[key]
        return taken

    def insert(self, index: int, module: Module) -> Any:
        """Put `module` before position `index`; returns self.

        Raises
        ------
        AssertionError  if `module` is no Module
        IndexError      if `index` is not within -len..len
        """
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        n = len(self)
        if not -n <= index <= n:
            raise IndexError(f"Index out of range: {index}")
        modules = list(self)
        modules.insert(index, module)
        self._renumber(modules)
        return self

    def extend(self, sequential: Iterable[Module]) -> Any:
        """Add every module of an iterable at the end; returns self."""
        for module in sequential:
            self.append(module)
        return self


class ModuleList(_Numbered):
    """A list of modules that are registered as children "0", "1", ..."""

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self += modules

    def __getitem__(self, idx: int | slice) -> Any:
        if isinstance(idx, slice):
            return type(self)(list(self._modules.values())[idx])
        n = len(self)
        return self._modules[str(_position(n, idx, -n))]

    def __setitem__(self, idx: int, module: Module) -> None:
        n = len(self)
        setattr(self, str(_position(n, idx, -n)), module)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return type(self)([*self, *other])

    def __iadd__(self, modules: Iterable[Module]) -> Any:
        return self.extend(modules)

    def insert(self, index: int, module: Module) -> None:
        """Put `module` before position `index`; positions beyond the ends mean the ends."""
        modules = list(self)
        modules.insert(index, module)
        self._renumber(modules)

    def pop(self, key: int | slice) -> Any:
        """Take the child (or the slice of children) at `key` out and return it."""
        taken = self[key]
        del self[key]
        return taken

    def extend(self, modules: Iterable[Module]) -> Any:
        """Add every module of an iterable at the end; returns self.

        Raises
        ------
        TypeError  if `modules` cannot be iterated over
        """
        if not isinstance(modules, Iterable):
            raise TypeError("ModuleList.extend should be called with an iterable, but got " + type(modules).__name__)
        start = len(self)
        for i, module in enumerate(modules):
            self.add_module(str(start + i), module)
        return self

    def __repr__(self) -> str:
        if not self._modules:
            return self._get_name() + "()"
        lines = [
            f"({_span(first, count)}): " + _addindent(f"{count} x {text}" if count > 1 else text, 2)
            for first, count, text in _runs([repr(module) for module in self])
        ]
        return self._get_name() + "(\n  " + "\n  ".join(lines) + "\n)"


def _runs(texts: list[str]) -> Iterator[tuple[int, int, str]]:
    """Equal neighbours as (first index, count, text)."""
    first = 0
    for i in range(1, len(texts) + 1):
        if i == len(texts) or texts[i] != texts[first]:
            yield first, i - first, texts[first]
            first = i


def _span(first: int, count: int) -> str:
    return str(first) if count == 1 else f"{first}-{first + count - 1}"


class ModuleDict(Module):
    """A dictionary of modules, in order of insertion, that are registered as children."""

    def __init__(self, modules: Mapping[str, Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Module:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Remove all children."""
        self._modules.clear()

    def pop(self, key: str) -> Module:
        """Take the child `key` out and return it."""
        return self._modules.pop(key)

    def keys(self) -> KeysView[str]:
        """The names."""
        return self._modules.keys()

    def items(self) -> ItemsView[str, Module]:
        """The (name, module) pairs."""
        return self._modules.items()

    def values(self) -> ValuesView[Module]:
        """The modules."""
        return self._modules.values()

    def update(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]]) -> None:
        """Add modules from a mapping or from an iterable of (name, module) pairs.

        Raises
        ------
        TypeError   if `modules` or one of its elements cannot be iterated over
        ValueError  if an element is not a pair
        """
        if not isinstance(modules, Iterable):
            raise TypeError(
                "ModuleDict.update should be called with an iterable of key/value pairs, but got "
                + type(modules).__name__
            )
        if isinstance(modules, (Mapping, ModuleDict)):
            pairs: Iterable[Any] = modules.items()
        else:
            pairs = checked_pairs(modules, "ModuleDict")
        for name, module in pairs:
            self[name] = module
