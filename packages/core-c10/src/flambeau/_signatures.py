"""`__signature__` and `__doc__` of operators, written when somebody asks from what the native half knows of them."""

from __future__ import annotations

import keyword
from collections.abc import Mapping, Sequence
from inspect import Parameter, Signature
from typing import NamedTuple

from flambeau import _C

_PYTHON_TYPES = {
    "Scalar": "Number", "number": "Number", "str": "str", "ScalarType": "dtype", "Device": "device", "Layout": "layout",
    "MemoryFormat": "memory_format", "SymInt": "int", "Any": "object",
}  # fmt: skip


class Argument(NamedTuple):
    """An argument as the native parser read it from the schema; `default` is `...` where there is none."""

    name: str
    type: str
    is_list: bool
    optional: bool
    optional_items: bool
    length: int
    kwarg_only: bool
    numbers: bool
    default: object

    @property
    def annotation(self) -> str:
        text = _PYTHON_TYPES.get(self.type, self.type)
        if self.is_list:
            item = f"{text} | None" if self.optional_items else text
            text = f"Sequence[{item}]" + (f" | {text}" if self.length else "")
        elif self.numbers:
            text = "Tensor | Number"
        return f"{text} | None" if self.optional else text


class Overload(NamedTuple):
    """One schema of an operator: its text, arguments, facts of its record, and decomposition "module:function" or ""."""

    schema: str
    arguments: Sequence[Argument]
    facts: dict[str, bool]
    doc: str
    decomposition: str


def overloads(function: _C._OpFunction) -> list[Overload]:
    """What an operator answers to, in the order that calls try."""
    return [
        Overload(schema, [Argument(*a) for a in arguments], facts, doc, decomposition)
        for schema, arguments, facts, doc, decomposition in function._overloads
    ]


def signature(function: _C._OpFunction) -> Signature:
    """What calls may look like: the union over the overloads.

    Positional arguments stand as in the overload that has most of them; what only other overloads know is taken by name.
    What some overload does without has a default.
    """
    each = signatures(function)
    return each[0] if len(each) == 1 else Signature(_union([s.parameters for s in each]))


def signatures(function: _C._OpFunction) -> list[Signature]:
    """Those of the overloads, in the order that calls try."""
    is_method = function.__qualname__.startswith("Tensor.")
    return [_signature(o, is_method) for o in overloads(function)]


def _signature(overload: Overload, is_method: bool) -> Signature:
    """`input` is the name that functions give to `self`."""
    parameters: list[Parameter] = []
    seen_default = False
    for a in overload.arguments:
        kind = Parameter.KEYWORD_ONLY if a.kwarg_only else Parameter.POSITIONAL_OR_KEYWORD
        default = Parameter.empty if a.default is ... else a.default
        if not a.kwarg_only:
            seen_default = seen_default or default is not Parameter.empty
            if seen_default and default is Parameter.empty:
                default = None  # Python wants no required argument behind an optional one
        name = "input" if a.name == "self" and not is_method else a.name
        name += "_" if keyword.iskeyword(name) else ""
        parameters.append(Parameter(name, kind, default=default, annotation=a.annotation))
    if overload.facts["out"] and not is_method:
        parameters.append(Parameter("out", Parameter.KEYWORD_ONLY, default=None, annotation="Tensor | None"))
    if overload.facts["requires_grad"]:
        parameters.append(Parameter("requires_grad", Parameter.KEYWORD_ONLY, default=False, annotation="bool"))
    return Signature(parameters)


def _union(each: list[Mapping[str, Parameter]]) -> list[Parameter]:
    longest = max(each, key=lambda ps: sum(p.kind is Parameter.POSITIONAL_OR_KEYWORD for p in ps.values()))
    names = [n for n, p in longest.items() if p.kind is Parameter.POSITIONAL_OR_KEYWORD]
    positional, by_name = set(names), dict.fromkeys(n for ps in each for n in ps)
    names += [n for n in by_name if n not in positional and n != "out"]
    names += ["out"] * ("out" in by_name)
    merged: list[Parameter] = []
    seen_default = False
    for name in names:
        found = [ps[name] for ps in each if name in ps]
        default = next((p.default for p in found if p.default is not Parameter.empty), Parameter.empty)
        is_positional = name in positional
        if default is Parameter.empty and (len(found) < len(each) or (is_positional and seen_default)):
            default = None
        seen_default = seen_default or (is_positional and default is not Parameter.empty)
        annotation = " | ".join(dict.fromkeys(w for p in found for w in p.annotation.split(" | ")))
        kind = Parameter.POSITIONAL_OR_KEYWORD if is_positional else Parameter.KEYWORD_ONLY
        merged.append(Parameter(name, kind, default=default, annotation=annotation))
    return merged


def sentence(function: _C._OpFunction) -> str:
    """What the records say the operator gives; an in-place form is described as its functional one."""
    known = overloads(function)
    text = "\n\n".join(dict.fromkeys(o.doc for o in known if o.doc))
    return f"In place, self is written and returned: {text}" if known[0].facts["derived"] and text else text


def docstring(function: _C._OpFunction) -> str:
    """What calls look like, what the records say, what follows from their facts, the schemas."""
    known = overloads(function)
    calls = "\n".join(f"{function.__name__}{s}" for s in signatures(function))
    schemas = "Schemas, in the order they are tried:\n\n" + "\n".join(f"    {o.schema}" for o in known)
    parts = (calls, sentence(function), " ".join(_facts(known[0], function.__name__)), schemas)
    return "\n\n".join(p for p in parts if p) + "\n"


def _facts(overload: Overload, name: str) -> list[str]:
    facts = overload.facts
    sentences: list[str] = []
    if facts["writes"] and not facts["derived"]:
        sentences.append("Writes to its first argument.")
    elif facts["view"]:
        sentences.append("The result shares memory with the first argument.")
    if facts["inplace"]:
        sentences.append(f"`{name}_` is its in-place form.")
    if facts["out"]:
        sentences.append("`out` takes the result and is resized where its shape is another one.")
    if not facts["differentiable"]:
        sentences.append("Results carry no gradient.")
    if overload.decomposition:
        sentences.append(f"Composed of other operators by {overload.decomposition.replace(':', '.')}.")
    return sentences


def find(name: str, is_method: bool) -> object:
    """The callable of an operator by name: how pickles find it."""
    return getattr(_C.Tensor, name) if is_method else _C._op_function("aten", name, None, False)
