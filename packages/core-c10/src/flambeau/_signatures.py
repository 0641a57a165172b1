"""`__signature__` and `__doc__` of operators, made from their schemas when somebody asks."""

from __future__ import annotations

import inspect
import re
import string

from flambeau import _C

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PYTHON_TYPES = {
    "Tensor": "Tensor", "int": "int", "float": "float", "bool": "bool", "Scalar": "Number", "str": "str", "ScalarType": "dtype",
    "Device": "device", "Layout": "layout", "MemoryFormat": "memory_format", "Generator": "Generator",
}  # fmt: skip
_ARGUMENT = re.compile(r"(?P<type>[A-Za-z]+(?:\([^)]*\))?(?:\?|\[\d*\])*)\s+(?P<name>\w+)(?:=(?P<default>.*))?$")


def _split(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "([" and 1) or ((c in ")]" and -1) or 0)
        if c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return [p for p in [*parts, text[start:].strip()] if p]


def _annotation(type_text: str) -> str:
    base = type_text[: len(type_text) - len(type_text.lstrip(string.ascii_letters))]
    text = _PYTHON_TYPES.get(base, "object")
    if "[" in type_text:
        text = f"Sequence[{text}]"
    return f"{text} | None" if type_text.endswith("?") else text


def _default(text: str) -> object:
    values = {"None": None, "True": True, "False": False, "Mean": 1, "Sum": 2}
    if text in values:
        return values[text]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text.strip("'\"")


def signature(function: _C.OpFunction) -> inspect.Signature:
    """Signature of the first overload; `input` is the name functions give to `self`."""
    is_method = function.__qualname__.startswith("Tensor.")
    return signature_of(function._schemas[0], is_method, function._has_out and not is_method)


def signature_of(schema: str, is_method: bool, has_out: bool) -> inspect.Signature:
    """Signature of one schema, as a function of `flambeau` or a method of Tensor."""
    inside = schema[schema.index("(") + 1 : schema.rindex(")", 0, schema.rindex("->"))]
    parts = _split(inside)
    num_positional = parts.index("*") if "*" in parts else len(parts)
    parameters: list[inspect.Parameter] = []
    for part in parts[:num_positional]:
        optional = bool(parameters) and parameters[-1].default is not inspect.Parameter.empty
        parameters.append(_parameter(part, inspect.Parameter.POSITIONAL_OR_KEYWORD, is_method, optional))
    for part in parts[num_positional + 1 :]:
        parameters.append(_parameter(part, inspect.Parameter.KEYWORD_ONLY, is_method, False))
    if has_out:
        parameters.append(_keyword("out", None, "Tensor | None"))
    if _takes_requires_grad(schema[: schema.index("(")].partition("::")[2], inside):
        parameters.append(_keyword("requires_grad", False, "bool"))
    return inspect.Signature(parameters)


def _parameter(part: str, kind: Any, is_method: bool, optional: bool) -> inspect.Parameter:
    """One argument of a schema; `optional`: one before it has a default, so Python wants one here too."""
    match = _ARGUMENT.match(part)
    assert match, part
    name = "input" if match["name"] == "self" and not is_method else match["name"]
    default = inspect.Parameter.empty if match["default"] is None else _default(match["default"])
    if optional and default is inspect.Parameter.empty:
        default = None
    name = name + "_" if name in ("from", "lambda", "class") else name
    return inspect.Parameter(name, kind, default=default, annotation=_annotation(match["type"]))


def _keyword(name: str, default: object, annotation: str) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _takes_requires_grad(name: str, arguments: str) -> bool:
    """Factories take it, as the parser decides: those that make a tensor from nothing, or like another one."""
    if "ScalarType" not in arguments or "Device" not in arguments:
        return False
    return "Tensor" not in arguments or name.partition(".")[0].endswith("_like") or name.startswith("new_")


def sentence(function: _C.OpFunction) -> str:
    """What the record says; an in-place form is described as its functional one. '' where no record says anything."""
    if function._op_doc or not function.__name__.endswith("_"):
        return function._op_doc
    functional = _C._op_function("aten", function.__name__.removesuffix("_"), None, False)
    if functional is None or not functional._op_doc:
        return ""
    return f"In place, self is written and returned: {functional._op_doc}"


def docstring(function: _C.OpFunction) -> str:
    """The record's sentence and every schema the name answers to."""
    head = f"{function.__name__}{signature(function)}"
    schemas = "\n".join(f"    {s}" for s in function._schemas)
    return f"{head}\n\n{sentence(function)}\n\nSchemas, in the order they are tried:\n\n{schemas}\n"


def find(name: str, is_method: bool) -> object:
    """The callable of an operator by name: how pickles find it."""
    return getattr(_C.Tensor, name) if is_method else _C._op_function("aten", name, None, False)
