"""A schema from the annotations of a Python function."""

from __future__ import annotations

import functools
import inspect
import operator
import types
import typing
from collections.abc import Callable, Iterable, Sequence

import flambeau

__all__ = ["infer_schema"]

_LISTS = (list, Sequence, tuple)
_RETURNS = ("Tensor", "Tensor[]", "SymInt", "float", "bool", "Scalar")  # what a kernel can give back


def _base_types() -> dict[object, str]:
    """Annotation -> type of the schema language."""
    return {
        flambeau.Tensor: "Tensor",
        int: "SymInt",
        float: "float",
        bool: "bool",
        str: "str",
        complex: "Scalar",
        int | float | bool: "Scalar",
        int | float | bool | complex: "Scalar",
        int | float: "Scalar",
        flambeau.dtype: "ScalarType",
        flambeau.device: "Device",
    }


def infer_schema(
    prototype_function: Callable,
    /,
    *,
    mutates_args: str | Iterable[str],
    op_name: str | None = None,
    tags: object = (),
) -> str:
    """The schema that a function's annotations state.

    Parameters
    ----------
    prototype_function : every parameter and the result need annotations: Tensor, int, float, bool, str, dtype, device,
        `int | float | bool` (a Scalar), `X | None`, `list[X]` or `Sequence[X]`
    mutates_args : names of the arguments it writes to, or "unknown": all tensors may be written to
    op_name : put in front, as in "twice(Tensor x) -> Tensor"

    Raises
    ------
    ValueError : naming the parameter, and what is allowed
    """
    signature = _resolved(prototype_function)
    unknown = mutates_args == "unknown"
    names = set() if unknown else {mutates_args} if isinstance(mutates_args, str) else set(mutates_args)
    parts, letters, seen_star = [], iter("abcdefghijklmnopqrstuvwxyz"), False
    for p in signature.parameters.values():
        where = f"infer_schema(func): Parameter {p.name}"
        if p.kind not in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY):
            raise ValueError(f"{where} must be passed by position or by name, not as {p.kind.description}. {signature}")
        if p.annotation is p.empty:
            raise ValueError(f"{where} must have a type annotation. Got func with signature {signature}")
        kind = _schema_type(p.annotation)
        if kind is None:
            raise ValueError(
                f"{where} has unsupported type {p.annotation}. The valid types are: "
                f"{', '.join(_shown(t) for t in _base_types())}, lists of them, and `| None`. Got func with signature {signature}"
            )
        written = p.name in names or (unknown and kind.startswith("Tensor"))
        if written:
            kind = _marked(kind, f"{next(letters)}!", where)
        if p.kind is p.KEYWORD_ONLY and not seen_star:
            parts.append("*")
            seen_star = True
        default = "" if p.default is p.empty else f"={_default(_of_kind(p.default, kind, where), where, signature)}"
        parts.append(f"{kind} {p.name}{default}")
    if missing := names - set(signature.parameters):
        raise ValueError(
            f"infer_schema(func): {sorted(missing)} in mutates_args are not arguments of the operator: {list(signature.parameters)}"
        )
    returned = _returns(signature)
    return f"{op_name or ''}({', '.join(parts)}) -> {returned}"


def _resolved(function: Callable) -> inspect.Signature:
    try:
        hints = typing.get_type_hints(function)
    except Exception:  # a name that cannot be looked up from here: the annotations as they stand
        return inspect.signature(function)
    signature = inspect.signature(function)
    parameters = [p.replace(annotation=hints.get(p.name, p.annotation)) for p in signature.parameters.values()]
    returned = hints.get("return", signature.return_annotation)
    if signature.return_annotation is None:
        returned = None
    return signature.replace(parameters=parameters, return_annotation=returned)


def _shown(annotation: object) -> str:
    return getattr(annotation, "__name__", None) or str(annotation)


def _schema_type(annotation: object) -> str | None:
    """None where the schema language has no such type."""
    base = _base_types()
    try:
        if annotation in base:
            return base[annotation]
    except TypeError:  # not hashable: no type
        return None
    origin, args = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        rest = [a for a in args if a is not type(None)]
        if len(rest) == len(args):
            return None
        inner = _schema_type(functools.reduce(operator.or_, rest))
        return f"{inner}?" if inner and not inner.endswith("?") else None
    if origin in _LISTS and args:
        if origin is tuple and not (len(args) == 2 and args[1] is ...):
            return None
        inner = _schema_type(args[0])
        return f"{inner}[]" if inner and "[" not in inner else None
    return None


def _marked(kind: str, alias: str, where: str) -> str:
    if not kind.startswith("Tensor"):
        raise ValueError(f"{where} is in mutates_args but only Tensors or collections of Tensors can be mutated")
    return kind.replace("Tensor", f"Tensor({alias})", 1)


def _of_kind(value: object, kind: str, where: str) -> object:
    """The default as its schema type writes it: a bool for an int is a number, and the other way round."""
    kind = kind.removesuffix("?")
    fits = True
    if kind == "SymInt" and isinstance(value, bool | int):
        value = int(value)
        fits = -(2**63) <= value < 2**63
    elif kind == "bool" and isinstance(value, int):
        fits = value in (0, 1)
        value = bool(value)
    elif kind == "float" and isinstance(value, bool | int):
        value = float(value)
    elif kind in ("SymInt", "bool", "float", "str", "ScalarType"):
        allowed = {"float": float, "str": str, "ScalarType": flambeau.dtype}.get(kind, ())
        fits = value is None or isinstance(value, allowed)
    if not fits:
        raise ValueError(f"{where} has the default {value!r}, which its type {kind} cannot hold")
    return value


def _default(value: object, where: str, signature: inspect.Signature) -> str:
    if isinstance(value, float):
        return {"inf": "inf", "-inf": "-inf"}.get(str(value), repr(value))
    if value is None or isinstance(value, bool | int):
        return str(value)
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, flambeau.dtype):
        return str(value).removeprefix("torch.").removeprefix("flambeau.")
    if isinstance(value, flambeau.device):
        return f'"{value}"'
    raise ValueError(
        f"{where} has an unsupported default value type {type(value)}; defaults are numbers, strings, None, dtypes and "
        f"devices. Got func with signature {signature}"
    )


def _returns(signature: inspect.Signature) -> str:
    annotation = signature.return_annotation
    if annotation is inspect.Signature.empty:
        raise ValueError(
            f"infer_schema(func): No return type annotation was provided. Please add one. Got func with signature {signature}"
        )
    if annotation is None or annotation is type(None):
        return "()"
    origin, args = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is tuple and not (len(args) == 2 and args[1] is ...):
        kinds = [k for k in map(_schema_type, args) if k in _RETURNS]
        if len(kinds) == len(args):
            return kinds[0] if len(kinds) == 1 else f"({', '.join(kinds)})"
    elif (kind := _schema_type(annotation)) in _RETURNS:
        return kind
    raise ValueError(
        f"infer_schema(func): Return has unsupported type {annotation}. The valid types are Tensor, int, float, bool, "
        f"int | float | bool, list[Tensor], None, and tuples of them. Got func with signature {signature}"
    )
