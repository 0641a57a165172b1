"""How schema types are written in C++ signatures."""

from __future__ import annotations

from opgen.schema import Schema, Type

_PLAIN = {
    "int": "int64_t", "float": "double", "bool": "bool", "Scalar": "const Scalar&", "str": "std::string_view",
    "ScalarType": "DType", "Layout": "Layout", "MemoryFormat": "MemoryFormat", "Device": "Device",
}  # fmt: skip
_LISTS = {"int": "IntList", "float": "std::span<const double>", "Tensor": "TensorList"}
_RESULTS = {"int": "int64_t", "float": "double", "bool": "bool", "Scalar": "Scalar", "ScalarType": "DType"}


def argument_type(t: Type) -> str:
    """Type of a parameter of a typed kernel or of the C++ API."""
    if t.base == "Tensor" and not t.is_list:
        return "const Tensor&"
    if t.base == "Generator":
        return "GeneratorImpl*"
    plain = _LISTS.get(t.base, "const Value&") if t.is_list else _PLAIN[t.base]
    if t.optional:
        return f"std::optional<{plain.removeprefix('const ').removesuffix('&')}>"
    return plain


def result_type(schema: Schema) -> str:
    types = [
        "Tensor"
        if t.base == "Tensor" and not t.is_list
        else "std::vector<Tensor>"
        if t.base == "Tensor"
        else _RESULTS[t.base]
        for t, _ in schema.returns
    ]
    if not types:
        return "void"
    return types[0] if len(types) == 1 else f"std::tuple<{', '.join(types)}>"


def parameters(schema: Schema) -> str:
    return ", ".join(f"{argument_type(a.type)} {cpp_name(a.name)}" for a in schema.arguments)


def cpp_name(name: str) -> str:
    """C++ keywords among argument names get an underscore."""
    return name + "_" if name in {"self_", "default", "new", "delete", "register", "auto"} else name


def default_value(t: Type, text: str) -> str | None:
    """The default of an argument as a C++ expression; None where C++ callers must say it."""
    if text == "None":
        return "{}" if t.base == "Tensor" and not t.is_list else "nullptr" if t.base == "Generator" else "std::nullopt"
    if t.is_list:
        if text.startswith("["):
            return None if t.base != "int" else "IntList{" + text[1:-1] + "}"
        return None
    if t.base == "bool":
        return text.lower()
    if t.base == "str":
        return '"' + text.strip("\"'") + '"'
    if t.base in ("int", "float", "Scalar"):
        if text in ("Mean", "Sum"):
            return {"Mean": "1", "Sum": "2"}[text]
        value = {"True": "true", "False": "false", "inf": "HUGE_VAL"}.get(text, text)
        return f"Scalar({_scalar_literal(value)})" if t.base == "Scalar" else value
    return None


def _scalar_literal(value: str) -> str:
    return value if any(c in value for c in ".eEtfH") else f"int64_t{{{value}}}"
