"""The scalar expression graph: immutable nodes, built through a Builder that shares equal sub-expressions.

An expression is a directed acyclic graph of `Node`. Equal nodes are one object (hash consing), so a sub-expression that a
body writes twice is computed once. Constants are folded only where the result is exact by IEEE 754 or by modular
arithmetic, so folding never changes a bit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from opgen.scalar.types import BOOL, F32, ScalarType, float32_of, wrap_integer

ARITHMETIC = ("add", "sub", "mul", "div")
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
BITWISE = ("and", "or", "xor", "shl", "shr")


@dataclass(frozen=True, eq=False)
class Node:
    """One operation. Nodes compare by identity: the Builder makes equal ones the same object.

    `op` is one of the words above, or
    idiv, irem     integer division that truncates; the divisor 0 gives 0, and never traps
    neg, not       `not` is logical on bool, bitwise on integers
    where, cast, bitcast, real, imag, make_complex
    call           attr: the C++ function
    const          attr: the value
    input, param   attr: position
    """

    op: str
    type: ScalarType
    args: tuple[Node, ...] = ()
    attr: Any = None  # a constant, the index of a parameter, or what else the operation needs


@dataclass
class Builder:
    """Makes nodes for one trace; shares equal ones and folds constants."""

    _seen: dict[tuple, Node] = field(default_factory=dict)

    def make(self, op: str, type: ScalarType, *args: Node, attr: object = None) -> Node:
        folded = _fold(self, op, type, args, attr)
        return folded if folded is not None else self._intern(op, type, args, attr)

    def const(self, type: ScalarType, value: object) -> Node:
        value = _canonical(type, value)
        # repr tells 0.0 from -0.0 and keeps NaN equal to itself, which == does not.
        return self._intern("const", type, (), value, repr(value))

    def _intern(self, op: str, type: ScalarType, args: tuple[Node, ...], attr: object, key: object = None) -> Node:
        full = (op, type.name, tuple(map(id, args)), key if key is not None else attr)
        node = self._seen.get(full)
        if node is None:
            node = self._seen[full] = Node(op, type, args, attr)
        return node


def _canonical(type: ScalarType, value: Any) -> Any:
    if type.is_bool:
        return bool(value)
    if type.is_integral:
        return wrap_integer(int(value), type)
    if type.is_complex:
        return complex(value)
    return float32_of(float(value)) if type is F32 else float(value)


def _is_const(node: Node, value: object) -> bool:
    return node.op == "const" and node.attr == value and not (value == 0 and _negative_zero(node.attr))


def _negative_zero(value: object) -> bool:
    return isinstance(value, float) and value == 0 and math.copysign(1.0, value) < 0


def _fold(b: Builder, op: str, type: ScalarType, args: tuple[Node, ...], attr: object) -> Node | None:
    """The simpler node that `op` on `args` equals bit for bit, or None."""
    if op in ("mul", "div", "idiv") and not type.is_complex and _is_const(args[1], 1):
        return args[0]
    if op == "mul" and not type.is_complex and _is_const(args[0], 1):
        return args[1]
    if op in ("add", "sub") and type.is_integral and _is_const(args[1], 0):
        return args[0]
    if op == "neg" and args[0].op == "neg":
        return args[0].args[0]
    if op == "not" and args[0].op == "not":
        return args[0].args[0]
    if op == "cast" and args[0].type is type:
        return args[0]
    if op in ("lt", "ge") and args[0].type.kind == "uint" and _is_const(args[1], 0):
        return b.const(BOOL, op == "ge")
    if op == "where":
        return _fold_where(*args)
    if op in ("and", "or") and type is BOOL:
        return _fold_logical(op, *args)
    if args and all(a.op == "const" for a in args):
        return _fold_constants(b, op, type, args)
    return None


def _fold_where(c: Node, x: Node, y: Node) -> Node | None:
    if c.op == "const":
        return x if c.attr else y
    return x if x is y else None


def _fold_logical(op: str, x: Node, y: Node) -> Node | None:
    if x is y:
        return x
    for this, other in ((x, y), (y, x)):
        if this.op == "const":
            absorbs = this.attr is (op == "or")
            return this if absorbs else other
    return None


def _fold_constants(b: Builder, op: str, type: ScalarType, args: tuple[Node, ...]) -> Node | None:
    if type.is_complex or any(a.type.is_complex for a in args):
        return None
    values = [a.attr for a in args]
    if op == "neg":
        return b.const(type, -values[0])
    if op == "cast" and (type.is_floating or not args[0].type.is_floating):
        return b.const(type, values[0])
    if op in ("add", "sub", "mul"):
        # float32: the double result of two float32 operands rounds to float32 correctly (53 >= 2 * 24 + 2).
        x, y = values
        return b.const(type, x + y if op == "add" else x - y if op == "sub" else x * y)
    if op == "div" and values[1] != 0:
        return b.const(type, values[0] / values[1])
    if op in COMPARISONS:
        x, y = values
        return b.const(BOOL, {"eq": x == y, "ne": x != y, "lt": x < y, "le": x <= y, "gt": x > y, "ge": x >= y}[op])
    return None


def topological(roots: list[Node]) -> list[Node]:
    """Every node that `roots` need, arguments before users, each once; iterative, so depth is no limit."""
    order: list[Node] = []
    done: set[int] = set()
    stack = [(r, False) for r in reversed(roots)]
    while stack:
        node, expanded = stack.pop()
        if id(node) in done:
            continue
        if expanded:
            done.add(id(node))
            order.append(node)
            continue
        stack.append((node, True))
        stack.extend((a, False) for a in reversed(node.args) if id(a) not in done)
    return order
