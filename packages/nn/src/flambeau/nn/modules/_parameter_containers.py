"""ParameterList and ParameterDict."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping

import flambeau as torch
from flambeau.nn.modules._registration import typename
from flambeau.nn.modules.module import Module
from flambeau.nn.parameter import Parameter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_STRING_KEYS = "Index given to ParameterDict cannot be used as a key as it is not a string (type is '{kind}')."


def _as_parameter(value: Any) -> Any:
    """Tensors become Parameters; anything else is kept as it is."""
    if isinstance(value, torch.Tensor) and not isinstance(value, Parameter):
        return Parameter(value)
    return value


def _line(key: Any, value: Any, type_name: str) -> str:
    if not isinstance(value, torch.Tensor):
        return f"  ({key}): Object of type: {type(value).__name__}"
    size = "x".join(str(s) for s in value.size())
    place = "" if value.device.type == "cpu" else f" ({value.device})"
    kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
    return f"  ({key}): {kind} containing: [{type_name} of size {size}{place}]"


class ParameterList(Module):
    """A list of parameters that are registered as "0", "1", ...

    Tensors become Parameters when they are put in; other objects are kept as plain attributes.
    """

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self += values

    def _name(self, idx: Any) -> str:
        idx = operator.index(idx)
        n = len(self)
        if not -n <= idx < n:
            raise IndexError(f"index {idx} is out of range")
        return str(idx % n)

    def __getitem__(self, idx: int | slice) -> Any:
        if isinstance(idx, slice):
            out = type(self)()
            out.extend(getattr(self, str(i)) for i in range(*idx.indices(len(self))))
            return out
        return getattr(self, self._name(idx))

    def __setitem__(self, idx: int, param: Any) -> None:
        setattr(self, self._name(idx), _as_parameter(param))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter([self[i] for i in range(len(self))])

    def __iadd__(self, parameters: Iterable[Any]) -> Any:
        return self.extend(parameters)

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def append(self, value: Any) -> Any:
        """Add `value` at the end; returns self."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values: Iterable[Any]) -> Any:
        """Add every value of an iterable at the end; returns self.

        Raises
        ------
        TypeError  if `values` is no iterable, or is a single tensor
        """
        if not isinstance(values, Iterable) or isinstance(values, torch.Tensor):
            raise TypeError("ParameterList.extend should be called with an iterable, but got " + type(values).__name__)
        for value in values:
            self.append(value)
        return self

    def extra_repr(self) -> str:
        return "\n".join(_line(i, p, str(p.dtype) if isinstance(p, torch.Tensor) else "") for i, p in enumerate(self))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Module):
    """A dictionary of parameters, in order of insertion, that are registered by their keys.

    Tensors become Parameters when they are put in; other objects are kept as plain attributes.
    Keys are strings.
    """

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def _key_to_attr(self, key: Any) -> str:
        if not isinstance(key, str):
            raise TypeError(_STRING_KEYS.format(kind=type(key).__name__))
        return key

    def __getitem__(self, key: str) -> Any:
        return getattr(self, self._key_to_attr(key))

    def __setitem__(self, key: str, value: Any) -> None:
        attr = self._key_to_attr(key)
        setattr(self, attr, _as_parameter(value))
        self._keys[key] = None

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, self._key_to_attr(key))

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(list(self._keys))

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def copy(self) -> ParameterDict:
        """A new ParameterDict with the same parameters."""
        return ParameterDict({key: self[key] for key in self._keys})

    def setdefault(self, key: str, default: Any = None) -> Any:
        """Return the value of `key`; put `default` there first if there is none."""
        if key not in self:
            self[key] = default
        return self[key]

    def clear(self) -> None:
        """Remove everything."""
        for key in list(self._keys):
            del self[key]

    def pop(self, key: str) -> Any:
        """Take the value of `key` out and return it."""
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, Any]:
        """Take the last (key, value) out and return it."""
        key = next(reversed(self))
        return key, self.pop(key)

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of `key`, or `default`."""
        return self[key] if key in self._keys else default

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """A new ParameterDict with these keys, all of the value `default`."""
        return ParameterDict((key, default) for key in keys)

    def keys(self) -> Any:
        """The keys."""
        return self._keys.keys()

    def items(self) -> Iterable[tuple[str, Any]]:
        """The (key, value) pairs."""
        return ((key, self[key]) for key in self._keys)

    def values(self) -> Iterable[Any]:
        """The values."""
        return (self[key] for key in self._keys)

    def update(self, parameters: Any) -> None:
        """Add values from a mapping or from an iterable of (key, value) pairs.

        Raises
        ------
        TypeError   if `parameters` or one of its elements cannot be iterated over
        ValueError  if an element is not a pair
        """
        if not isinstance(parameters, Iterable):
            raise TypeError(
                "ParametersDict.update should be called with an iterable of key/value pairs, "
                f"but got {typename(parameters)}"
            )
        if isinstance(parameters, (Mapping, ParameterDict)):
            pairs: Iterable[Any] = parameters.items()
        else:
            pairs = checked_pairs(parameters, "ParameterDict")
        for key, value in pairs:
            self[key] = value

    def extra_repr(self) -> str:
        return "\n".join(_line(k, p, typename(p) if isinstance(p, torch.Tensor) else "") for k, p in self.items())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("ParameterDict should not be called.")

    def __or__(self, other: ParameterDict) -> ParameterDict:
        out = self.copy()
        out.update(other)
        return out

    def __ror__(self, other: ParameterDict) -> ParameterDict:
        out = ParameterDict(other)
        out.update(self)
        return out

    def __ior__(self, other: ParameterDict) -> Any:
        self.update(other)
        return self


def checked_pairs(given: Iterable[Any], owner: str) -> Iterator[tuple[Any, Any]]:
    """Yield the pairs that an `update` was given; refuse what is no pair."""
    for i, pair in enumerate(given):
        if not isinstance(pair, Iterable):
            raise TypeError(f"{owner} update sequence element #{i} should be Iterable; is{type(pair).__name__}")
        pair = tuple(pair)
        if len(pair) != 2:
            raise ValueError(f"{owner} update sequence element #{i} has length {len(pair)}; 2 is required")
        yield pair
