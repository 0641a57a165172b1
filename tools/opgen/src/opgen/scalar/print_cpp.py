"""Prints expressions as plain branch-free C++ statements.

Names that the text relies on come from `pointwise_prelude.h` (helpers, c64, c128) and from the math headers (vm::).
"""

from __future__ import annotations

from opgen.scalar.ir import Node, topological
from opgen.scalar.types import F32, ScalarType

_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
_COMPARE = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_BITS = {"and": "&", "or": "|", "xor": "^"}
_HELPERS = {"idiv": "vm::trunc_div", "irem": "vm::trunc_mod", "shl": "vm::shift_left", "shr": "vm::shift_right"}
_MAX_INLINE = 72


def statements(roots: list[Node], leaves: dict[int, str], prefix: str = "t") -> tuple[list[str], list[str]]:
    """C++ for `roots`: lines that define temporaries, and one expression for each root.

    `leaves` names nodes that already have a name (by id). A node used more than once gets a temporary, so it is computed
    once; a node used once is written in place while the line stays readable.
    """
    order = topological(roots)
    uses: dict[int, int] = {}
    for node in order:
        for a in node.args:
            uses[id(a)] = uses.get(id(a), 0) + 1
    for root in roots:
        uses[id(root)] = uses.get(id(root), 0) + 1
    arms = {id(a) for node in order if node.op == "where" for a in node.args[1:]}
    text = dict(leaves)
    lines: list[str] = []
    for node in order:
        if id(node) in text:
            continue
        expression = print_node(node, [text[id(a)] for a in node.args])
        in_place = uses[id(node)] == 1 and id(node) not in arms and len(expression) <= _MAX_INLINE
        if node.op == "const" or in_place:
            text[id(node)] = expression
        else:
            text[id(node)] = f"{prefix}{len(lines)}"
            lines.append(f"const {node.type.cpp} {text[id(node)]} = {_bare(expression)};")
    return lines, [_bare(text[id(r)]) for r in roots]


def print_node(node: Node, args: list[str]) -> str:
    """One operation on already printed arguments; parenthesised where it is not atomic."""
    t = node.type
    if node.op == "const":
        return constant(t, node.attr)
    if node.op in _INFIX:
        return _arithmetic(node, args)
    if node.op in _COMPARE:
        return f"({args[0]} {_COMPARE[node.op]} {args[1]})"
    if node.op in _BITS:
        return (
            f"({args[0]} {_BITS[node.op]} {args[1]})" if t.is_bool or t.bits >= 32 else _narrow(t, args, _BITS[node.op])
        )
    if node.op == "neg":
        if t.is_integral:
            return f"static_cast<{t.cpp}>(0u - {_unsigned(t, args[0])})"
        return f"(-{args[0]})"
    if node.op == "not":
        return f"(!{args[0]})" if t.is_bool else f"static_cast<{t.cpp}>(~{args[0]})"
    if node.op == "where":
        return f"({args[0]} ? {args[1]} : {args[2]})"
    if node.op == "cast":
        return _cast(node.args[0].type, t, args[0])
    if node.op == "bitcast":
        return f"__builtin_bit_cast({t.cpp}, {_bare(args[0])})"
    if node.op == "real":
        return f"{args[0]}.re"
    if node.op == "imag":
        return f"{args[0]}.im"
    if node.op == "make_complex":
        return f"{t.cpp}{{{_bare(args[0])}, {_bare(args[1])}}}"
    function = _HELPERS.get(node.op, node.attr)
    return f"{function}({', '.join(map(_bare, args))})"


def constant(t: ScalarType, value: object) -> str:
    """A literal of exactly this value."""
    if t.is_bool:
        return "true" if value else "false"
    if t.is_integral:
        if value == t.min and t.kind == "int" and t.bits == 64:
            return "INT64_MIN"
        suffix = {"int64": "LL", "uint64": "ULL", "uint32": "u"}.get(t.name, "")
        literal = f"{value}{suffix}"
        return literal if t.bits >= 32 else f"{t.cpp}({literal})"
    if t.is_complex:
        assert isinstance(value, complex)
        return f"{t.cpp}{{{constant(t.real, value.real)}, {constant(t.real, value.imag)}}}"
    assert isinstance(value, float)
    if value != value:
        return f"kNaN<{t.cpp}>"
    if value in (float("inf"), float("-inf")):
        return f"kInf<{t.cpp}>" if value > 0 else f"(-kInf<{t.cpp}>)"
    digits = f"{value:.9g}" if t is F32 else repr(value)
    if not any(c in digits for c in ".en"):
        digits += ".0"
    digits += "f" if t is F32 else ""
    return f"({digits})" if digits.startswith("-") else digits


def _arithmetic(node: Node, args: list[str]) -> str:
    t, sign = node.type, _INFIX[node.op]
    if not t.is_integral:
        return f"({args[0]} {sign} {args[1]})"
    # Signed overflow is undefined in C++; unsigned arithmetic wraps, which is what torch's integers do.
    return f"static_cast<{t.cpp}>({_unsigned(t, args[0])} {sign} {_unsigned(t, args[1])})"


def _unsigned(t: ScalarType, text: str) -> str:
    wide = "uint64_t" if t.bits == 64 else "uint32_t"
    return text if t.cpp == wide else f"{wide}({_bare(text)})"


def _narrow(t: ScalarType, args: list[str], sign: str) -> str:
    return f"static_cast<{t.cpp}>({args[0]} {sign} {args[1]})"


def _cast(source: ScalarType, target: ScalarType, text: str) -> str:
    if source.is_floating and target.is_integral:
        return f"vm::convert<{target.cpp}>({_bare(text)})"
    return f"static_cast<{target.cpp}>({_bare(text)})"


def _bare(text: str) -> str:
    """`text` without one pair of enclosing parentheses, if they enclose all of it."""
    if not (text.startswith("(") and text.endswith(")")):
        return text
    depth = 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if depth == 0 and i < len(text) - 1:
            return text
    return text[1:-1]
