"""Conditions on arguments, stated in records and printed as C++ that runs before the kernel and before the shape rule.

A check is one Python expression over the names of the arguments:

    rank(input) >= 2
    weight is None or sizes(weight) == sizes(input)[1:2]
    dtype(mean) == dtype(input)
    IndexError: -rank(self) <= dim < rank(self)

The error names the operator, the condition, and the sizes, dtypes and numbers that it looks at. It is a RuntimeError unless the check
begins with another class. Checks run in order, so a later one may rely on the earlier: `size(x, 1)` on `rank(x) >= 2`.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from opgen.cpp_types import argument_type, cpp_name
from opgen.schema import Argument, Schema

ERRORS = {
    "RuntimeError": "Shape",
    "ValueError": "Value",
    "TypeError": "Type",
    "IndexError": "Index",
    "NotImplementedError": "NotImplemented",
}
# name -> (what its arguments are, what it is, C++); an error shows dtypes where it looks at dtypes, else sizes
FUNCTIONS: dict[str, tuple[tuple[str, ...], str, str]] = {
    "rank": (("Tensor",), "int", "{}.dim()"),
    "size": (("Tensor", "int"), "int", "{}.size({})"),
    "numel": (("Tensor",), "int", "{}.numel()"),
    "sizes": (("Tensor",), "sizes", "{}.sizes()"),
    "dtype": (("Tensor",), "dtype", "{}.dtype()"),
    "is_contiguous": (("Tensor",), "bool", "{}.is_contiguous()"),
    "is_floating": (("Tensor",), "bool", "{}.is_floating_point()"),
    "is_complex": (("Tensor",), "bool", "{}.is_complex()"),
    "is_integer": (("Tensor",), "bool", "is_integral({}.dtype())"),
    "len": (("list",), "int", "length_of({})"),
    "product": (("sizes",), "int", "product_of({})"),
}
DTYPES = {
    "bool": "Bool", "uint8": "UInt8", "int8": "Int8", "int16": "Int16", "int32": "Int32", "int64": "Int64",
    "float16": "Float16", "bfloat16": "BFloat16", "float32": "Float32", "float64": "Float64",
    "complex64": "Complex64", "complex128": "Complex128",
}  # fmt: skip
_COMPARE = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
_ARITHMETIC = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "/", ast.Mod: "%"}


class CheckError(ValueError):
    """An expression that is no check; the message says what is allowed."""


@dataclass(frozen=True)
class Check:
    text: str
    error: str
    condition: str  # C++
    shown: tuple[str, ...]  # C++ expressions: the values that an error shows


@dataclass(frozen=True)
class Typed:
    kind: str  # Tensor, list, int, float, bool, sizes, dtype
    cpp: str


class _Printer:
    def __init__(self, arguments: tuple[Argument, ...]) -> None:
        self.arguments = {a.name: a for a in arguments}
        self.shown: dict[str, None] = {}

    def condition(self, node: ast.expr) -> str:
        match node:
            case ast.BoolOp(op=op, values=values):
                joined = (" || " if isinstance(op, ast.Or) else " && ").join(self.condition(v) for v in values)
                return f"({joined})"
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return f"!{self.condition(operand)}"
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                sides = [left, *comparators]
                parts = [self.comparison(a, op, b) for a, op, b in zip(sides, ops, comparators, strict=False)]
                return f"({' && '.join(parts)})"
        value = self.term(node)
        if value.kind != "bool":
            raise CheckError(f"{ast.unparse(node)!r} is no condition")
        return value.cpp

    def comparison(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> str:
        if isinstance(op, ast.Is | ast.IsNot) and isinstance(left, ast.Name) and ast.unparse(right) == "None":
            return self.absence(left.id, present=isinstance(op, ast.IsNot))
        if isinstance(op, ast.In | ast.NotIn) and isinstance(right, ast.Tuple):
            a = self.term(left)
            equal = " || ".join(f"{a.cpp} == {self.same_kind(a, b).cpp}" for b in right.elts)
            return f"{'!' if isinstance(op, ast.NotIn) else ''}({equal})"
        if type(op) not in _COMPARE:
            raise CheckError(f"unknown comparison in {ast.unparse(left)} ... {ast.unparse(right)}")
        a = self.term(left)
        return f"{a.cpp} {_COMPARE[type(op)]} {self.same_kind(a, right).cpp}"

    def same_kind(self, a: Typed, node: ast.expr) -> Typed:
        b = self.term(node)
        if a.kind != b.kind and {a.kind, b.kind} != {"int", "float"}:
            raise CheckError(f"{ast.unparse(node)!r} is of kind {b.kind}; it is compared with a {a.kind}")
        return b

    def absence(self, name: str, present: bool) -> str:
        argument = self.argument(name)
        if not argument.type.optional and not argument.type.base == "Tensor":
            raise CheckError(f"{name} is never None")
        here = f"{cpp_name(name)}.defined()" if argument.type.base == "Tensor" else f"{cpp_name(name)}.has_value()"
        return here if present else f"!{here}"

    def argument(self, name: str) -> Argument:
        if name not in self.arguments:
            raise CheckError(f"{name!r} is neither an argument nor a dtype; arguments: {', '.join(self.arguments)}")
        return self.arguments[name]

    def term(self, node: ast.expr) -> Typed:
        """A value of the call."""
        match node:
            case ast.Constant(value=bool(v)):
                return Typed("bool", str(v).lower())
            case ast.Constant(value=int(v)):
                return Typed("int", f"int64_t{{{v}}}")
            case ast.Constant(value=float(v)):
                return Typed("float", repr(v))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                value = self.term(operand)
                return Typed(value.kind, f"-{value.cpp}")
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
                a, b = self.term(left), self.term(right)
                return Typed(a.kind, f"({a.cpp} {_ARITHMETIC[type(op)]} {b.cpp})")
            case ast.Name(id=name) if name in DTYPES and name not in self.arguments:
                return Typed("dtype", f"DType::{DTYPES[name]}")
            case ast.Name(id=name):
                return self.plain(name)
            case ast.Call(func=ast.Name(id=name), args=args) if name in FUNCTIONS:
                return self.call(name, args)
            case ast.Subscript(value=value, slice=ast.Slice(lower=lower, upper=upper, step=None)):
                whole = self.term(value)
                bounds = [self.term(b).cpp if b else default for b, default in ((lower, "0"), (upper, "INT64_MAX"))]
                return Typed("sizes", f"part_of({whole.cpp}, {', '.join(bounds)})")
            case ast.Subscript(value=value, slice=index):
                return Typed("int", f"item_of({self.term(value).cpp}, {self.term(index).cpp})")
        raise CheckError(f"{ast.unparse(node)!r} is not understood; functions are {', '.join(FUNCTIONS)}")

    def show(self, name: str, what: str) -> None:
        """Have the error say `what` of an argument. Only what can always be read, so never one size or one item."""
        value = {"sizes": "shown_sizes({})", "dtype": "shown_dtype({})", "len": "length_of({})"}.get(what, "{}")
        label = f"{what}({name})" if what else name
        self.shown.setdefault(f'"{label} is ", {value.format(cpp_name(name))}')

    def plain(self, name: str) -> Typed:
        t = self.argument(name).type
        if t.base == "Tensor":
            return Typed("list" if t.is_list else "Tensor", cpp_name(name))
        if t.base == "bool" and t.is_list:
            self.show(name, "len")
            return Typed("list", cpp_name(name))
        kind = {"int": "int", "float": "float", "bool": "bool", "ScalarType": "dtype"}.get(t.base)
        if kind is None or (t.is_list and t.base != "int"):
            raise CheckError(f"checks do not read arguments of type {t.base}{'[]' if t.is_list else ''} ({name})")
        if not t.optional:
            self.show(name, "")
        return Typed("sizes" if t.is_list else kind, f"*{cpp_name(name)}" if t.optional else cpp_name(name))

    def call(self, name: str, args: list[ast.expr]) -> Typed:
        kinds, result, text = FUNCTIONS[name]
        values = [self.term(a) for a in args]
        if kinds[0] == "Tensor" and isinstance(args[0], ast.Name):
            self.show(args[0].id, "sizes" if result in ("int", "sizes") else "dtype")
        for kind, value in zip(kinds, values, strict=False):
            if len(values) != len(kinds) or (kind != value.kind and not (kind == "list" and value.kind == "sizes")):
                raise CheckError(f"{name} takes ({', '.join(kinds)}), not ({', '.join(v.kind for v in values)})")
        return Typed(result, text.format(*(v.cpp for v in values)))


def read_check(text: str, schema: Schema) -> Check:
    """Raises CheckError with what does not fit."""
    match = re.match(r"(\w+Error): (.*)", text, re.S)
    error, expression = (match[1], match[2]) if match else ("RuntimeError", text)
    if error not in ERRORS:
        raise CheckError(f"{text!r}: error is {error}; allowed: {', '.join(ERRORS)}")
    try:
        tree = ast.parse(expression, mode="eval").body
    except SyntaxError as problem:
        raise CheckError(f"{text!r} is no expression: {problem.msg}") from problem
    printer = _Printer(schema.arguments)
    condition = printer.condition(tree)
    return Check(ast.unparse(tree), ERRORS[error], condition, tuple(printer.shown))


def print_checks(function: str, checks: tuple[Check, ...], schema: Schema, where: str) -> list[str]:
    """The function that runs before the operator's kernel; `where` is the record's file and line."""
    used = " ".join(c.condition for c in checks)
    lines = [f"void {function}(const Operator& op, const Value* args) {{  // {where}"]
    for i, a in enumerate(schema.arguments):
        if re.search(rf"\b{cpp_name(a.name)}\b", used):
            t = argument_type(a.type)
            lines.append(f"  {bound_type(t)} {cpp_name(a.name)} = Arg<{t}>::get(args[{i}]);")
    for c in checks:
        condition = c.condition[1:-1] if c.condition.startswith("(") and _encloses(c.condition) else c.condition
        shown = ', ", ", '.join(c.shown) or '"it is not"'
        lines.append(f"  if (FL_UNLIKELY(!({condition})))")
        lines.append(f'    throw_check(op, ErrorKind::{c.error}, "{c.text}", concat({shown}));')
    return [*lines, "}"]


def bound_type(t: str) -> str:
    return t if t == "const Tensor&" else f"const {t.removeprefix('const ')}"


def _encloses(text: str) -> bool:
    """Whether the first bracket is closed by the last."""
    depth = 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if depth == 0:
            return i == len(text) - 1
    return False
