"""From a list of samples to a batch."""

from __future__ import annotations

import copy
import re
import sys
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

import flambeau

__all__ = ["collate", "default_collate", "default_collate_fn_map", "default_convert"]

default_collate_err_msg_format = (
    "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"
)
_TEXT_OR_OBJECT = re.compile(r"[SaUO]")


def default_convert(data: Any) -> Any:
    """Turn NumPy arrays and numbers inside `data` into tensors; leave the rest as it is."""
    if isinstance(data, flambeau.Tensor):
        return data
    if type(data).__module__ == "numpy":
        is_text = hasattr(data, "dtype") and _TEXT_OR_OBJECT.search(data.dtype.str) is not None
        return data if is_text else flambeau.as_tensor(data)
    if isinstance(data, Mapping):
        converted = {key: default_convert(value) for key, value in data.items()}
        return _like_mapping(data, converted)
    if _is_namedtuple(data):
        return type(data)(*(default_convert(d) for d in data))
    if isinstance(data, tuple):
        return [default_convert(d) for d in data]
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return _like_sequence(data, [default_convert(d) for d in data])
    return data


def collate(
    batch: Sequence[Any], *, collate_fn_map: dict[type | tuple[type, ...], Callable[..., Any]] | None = None
) -> Any:
    """Put samples together by the type of the first one.

    Parameters
    ----------
    batch : samples of equal structure, at least one
    collate_fn_map : type -> function of (batch, *, collate_fn_map), tried in order, before the
        built-in rules for mappings and sequences

    Returns
    -------
    mappings and named tuples of the samples' type, lists for tuples, else what the functions return

    Raises
    ------
    RuntimeError  if sequences differ in length
    TypeError     if there is no rule for the type
    """
    first = batch[0]
    kind = type(first)
    rule = _rule_for(kind, first, collate_fn_map)
    if rule is not None:
        return rule(batch, collate_fn_map=collate_fn_map)
    if isinstance(first, Mapping):
        columns = {key: collate([sample[key] for sample in batch], collate_fn_map=collate_fn_map) for key in first}
        return _like_mapping(first, columns)
    if isinstance(first, Sequence):
        return _collate_sequences(batch, first, collate_fn_map)
    raise TypeError(default_collate_err_msg_format.format(kind))


def default_collate(batch: Sequence[Any]) -> Any:
    """Stack tensors, arrays and numbers along a new first dimension, through dicts and lists.

    Raises
    ------
    TypeError     if a sample holds something else, such as None
    RuntimeError  if shapes or lengths differ
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)


def _rule_for(kind: type, first: Any, rules: Any) -> Callable[..., Any] | None:
    if rules is None:
        return None
    exact = rules.get(kind)
    if exact is not None:
        return exact
    for key, rule in rules.items():
        if isinstance(first, key):
            return rule
    if kind.__module__ == "numpy" and rules is default_collate_fn_map:
        return _add_numpy_rules(rules, first)
    return None


def _collate_sequences(batch: Sequence[Any], first: Any, rules: Any) -> Any:
    if _is_namedtuple(first):
        _check_lengths(batch)
        return type(first)(*(collate(column, collate_fn_map=rules) for column in zip(*batch)))
    _check_lengths(batch)
    columns = [collate(column, collate_fn_map=rules) for column in zip(*batch)]
    return columns if isinstance(first, tuple) else _like_sequence(first, columns)


def _check_lengths(batch: Sequence[Any]) -> None:
    size = len(batch[0])
    if any(len(sample) != size for sample in batch):
        raise RuntimeError("each element in list of batch should be of equal size")


def _is_namedtuple(x: Any) -> bool:
    return isinstance(x, tuple) and hasattr(x, "_fields")


def _like_mapping(example: Any, values: dict[Any, Any]) -> Any:
    """Return `values` as the type of `example` where that type can be made so."""
    try:
        if isinstance(example, MutableMapping):
            # A copy keeps what the type has beyond its items, such as a default factory.
            clone = copy.copy(example)
            clone.update(values)
            return clone
        return type(example)(values)
    except TypeError:
        return values


def _like_sequence(example: Any, values: list[Any]) -> Any:
    if type(example) is list:
        return values
    try:
        if isinstance(example, MutableSequence):
            clone = copy.copy(example)
            for i, value in enumerate(values):
                clone[i] = value
            return clone
        return type(example)(values)  # type: ignore[call-arg]
    except TypeError:
        return values


def collate_tensor_fn(batch: Sequence[Any], *, collate_fn_map: Any = None) -> Any:
    """Stack tensors of equal shape."""
    return flambeau.stack(list(batch), 0)


def collate_numpy_array_fn(batch: Sequence[Any], *, collate_fn_map: Any = None) -> Any:
    """Stack arrays of equal shape."""
    first = batch[0]
    if _TEXT_OR_OBJECT.search(first.dtype.str) is not None:
        raise TypeError(default_collate_err_msg_format.format(first.dtype))
    return collate([flambeau.as_tensor(b) for b in batch], collate_fn_map=collate_fn_map)


def collate_numpy_scalar_fn(batch: Sequence[Any], *, collate_fn_map: Any = None) -> Any:
    """Make a vector of NumPy numbers."""
    import numpy

    return flambeau.as_tensor(numpy.asarray(batch))


def collate_float_fn(batch: Sequence[Any], *, collate_fn_map: Any = None) -> Any:
    """Make a float64 vector: Python's floats are doubles."""
    return flambeau.tensor(list(batch), dtype=flambeau.float64)


def collate_int_fn(batch: Sequence[Any], *, collate_fn_map: Any = None) -> Any:
    """Make a vector of the dtype that the values ask for."""
    return flambeau.tensor(list(batch))


def collate_str_fn(batch: Sequence[Any], *, collate_fn_map: Any = None) -> Any:
    """Leave texts as they are."""
    return batch


default_collate_fn_map: dict[Any, Callable[..., Any]] = {
    flambeau.Tensor: collate_tensor_fn,
    float: collate_float_fn,
    int: collate_int_fn,
    str: collate_str_fn,
    bytes: collate_str_fn,
}


def _add_numpy_rules(rules: dict[Any, Callable[..., Any]], first: Any) -> Callable[..., Any] | None:
    """Add the rules for NumPy's types, once a NumPy object turns up: NumPy is not ours to import."""
    numpy = sys.modules["numpy"]
    rules.setdefault(numpy.ndarray, collate_numpy_array_fn)
    scalars = (numpy.bool_, numpy.number)
    rules.setdefault(scalars, collate_numpy_scalar_fn)
    if isinstance(first, numpy.ndarray):
        return collate_numpy_array_fn
    return collate_numpy_scalar_fn if isinstance(first, scalars) else None
