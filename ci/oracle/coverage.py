"""Which operators no comparison covers: every public operator of the framework, and every name that the first release lists."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from pathlib import Path

FIRST_LIGHT = Path(__file__).resolve().parents[1] / "conformance/first_light.txt"
PLACES = ("function", "method", "nn", "linalg", "special", "fft")  # where users find an operator
PREFIXES = ("linalg_", "special_", "fft_")
# operators that are reached under another name only
SPELLINGS = {
    "log_sigmoid": "logsigmoid", "cross_entropy_loss": "cross_entropy", "rnn_tanh_cell": "RNNCell",
    "im2col": "unfold", "col2im": "fold", "unique_dim": "unique",
}  # fmt: skip


def uncovered(expressions: Iterable[str]) -> list[str]:
    """Names that none of the expressions, all of which gave results that were compared, reads or calls."""
    called = {name for expression in set(expressions) for name in names_in(expression)}
    operators = [f"`{n}`, an operator" for n in public_operators() if not is_called(n, called)]
    listed = [f"`{n}` of {FIRST_LIGHT.name}" for n in first_light() if not is_called(n, called)]
    return operators + listed


def is_called(name: str, called: set[str]) -> bool:
    short = next((name.removeprefix(p) for p in PREFIXES if name.startswith(p)), name)
    return bool({name, short, SPELLINGS.get(name, name), f"{name}_"} & called)


def names_in(expression: str) -> Iterable[str]:
    for node in ast.walk(ast.parse(expression, mode="eval")):
        if isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Subscript):
            yield "__getitem__"


def public_operators() -> list[str]:
    from flambeau import _C

    public = sum(_C._OP_FLAGS[place] for place in PLACES)
    return [n for n in _C._op_names("aten") if _C._op_flags("aten", n) & public and not n.startswith("_")]


def first_light() -> list[str]:
    """The operators of the list, without the variants that follow a name."""
    lines = (line.split("#")[0] for line in FIRST_LIGHT.read_text().splitlines())
    names = (w.removeprefix("nn.functional.").removeprefix("linalg.") for line in lines for w in line.split())
    return list(dict.fromkeys(n if n.startswith("__") else n.split(".")[0] for n in names))
