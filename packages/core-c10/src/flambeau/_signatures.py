"""`__signature__` and `__doc__` of operators, made from their schemas when somebody asks."""

import inspect
import re

from flambeau import _C

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
    base = re.match(r"[A-Za-z]+", type_text)[0]
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


def signature(function: object) -> inspect.Signature:
    """Signature of the first overload; `input` is the name functions give to `self`."""
    schema = function._schemas[0]
    inside = schema[schema.index("(") + 1 : schema.rindex(")", 0, schema.rindex("->"))]
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    is_method = function.__qualname__.startswith("Tensor.")
    parameters, seen_default = [], False
    for part in _split(inside):
        if part == "*":
            kind = inspect.Parameter.KEYWORD_ONLY
            continue
        match = _ARGUMENT.match(part)
        name = "input" if match["name"] == "self" and not is_method else match["name"]
        default = inspect.Parameter.empty if match["default"] is None else _default(match["default"])
        seen_default = seen_default or default is not inspect.Parameter.empty
        if kind is inspect.Parameter.POSITIONAL_OR_KEYWORD and seen_default and default is inspect.Parameter.empty:
            default = None
        name = name + "_" if name in ("from", "lambda", "class") else name
        parameters.append(inspect.Parameter(name, kind, default=default, annotation=_annotation(match["type"])))
    if function._has_out:
        parameters.append(
            inspect.Parameter("out", inspect.Parameter.KEYWORD_ONLY, default=None, annotation="Tensor | None")
        )
    return inspect.Signature(parameters)


def sentence(function: object) -> str:
    """What the record says; an in-place form is described as its functional one. '' where no record says anything."""
    if function._op_doc or not function.__name__.endswith("_"):
        return function._op_doc
    functional = _C._op_function("aten", function.__name__.removesuffix("_"), None, False)
    if functional is None or not functional._op_doc:
        return ""
    return f"In place, self is written and returned: {functional._op_doc}"


def docstring(function: object) -> str:
    """The record's sentence and every schema the name answers to."""
    head = f"{function.__name__}{signature(function)}"
    schemas = "\n".join(f"    {s}" for s in function._schemas)
    return f"{head}\n\n{sentence(function)}\n\nSchemas, in the order they are tried:\n\n{schemas}\n"


def find(name: str, is_method: bool) -> object:
    """The callable of an operator by name: how pickles find it."""
    return getattr(_C.Tensor, name) if is_method else _C._op_function("aten", name, None, False)
