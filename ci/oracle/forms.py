"""Further forms of a sample, derived from its text or its inputs: so that no table has to repeat them.

other dtypes     the sample in every dtype that its table does not name; what torch refuses does not count
transposed       every input stored in the reverse order of its dimensions
strided          every input with gaps between its elements
size 0           every size n of the inputs replaced by 0, for each n in turn
0-d              every input without dimensions
method, function `fl.op(x, ...)` as `x.op(...)`, and the other way round
in-place         `x.op_(...)`
out              `out=` empty tensors, which the operator resizes
out strided      `out=` tensors of the right shape, transposed in memory, whose strides must stay
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

MAKERS = ("t", "p", "u", "nc", "sl", "f", "spd")
SIZED = (*MAKERS, "m", "i")
LAYOUTS = ("transposed", "strided")


def forms_of(expression: str) -> Iterator[tuple[str, str]]:
    """(name of the form, expression to evaluate); the first is the sample itself, named ''."""
    yield "", expression
    tree = ast.parse(expression, mode="eval").body
    shapes = list(shapes_in(tree))
    if "manual_seed" in expression or not shapes:
        return
    if any(len(shape) for shape in shapes):
        if any(len(shape) > 1 for shape in shapes):
            yield "transposed", expression
        yield "strided", expression
        for size in sorted({n for shape in shapes for n in shape} - {0}):
            yield f"size 0 for {size}", expression
        yield "0-d", expression
    yield from spellings(tree)


def shapes_in(tree: ast.expr) -> Iterator[tuple[int, ...]]:
    """The shapes of the inputs that the expression makes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SIZED:
            sizes = node.args[1:] if node.func.id == "i" else node.args
            yield tuple(a.value for a in sizes if isinstance(a, ast.Constant) and isinstance(a.value, int))


def spellings(tree: ast.expr) -> Iterator[tuple[str, str]]:
    """Other ways to write a call of an operator on a tensor."""
    if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Attribute):
        return
    owner, name = tree.func.value, tree.func.attr
    written = {k.arg for k in tree.keywords}
    if ast.unparse(owner) in ("fl", "fl.linalg", "fl.special", "fl.fft"):
        if "out" in written:
            return
        yield "out", call(owner, name, tree, out=True)
        yield "out strided", call(owner, name, tree, out=True)
        if ast.unparse(owner) == "fl" and tree.args and is_input(tree.args[0]):
            yield "method", call(tree.args[0], name, tree, skip=1)
            yield "in-place", call(tree.args[0], f"{name}_", tree, skip=1)
    elif is_input(owner):
        yield "function", ast.unparse(ast.Call(attribute("fl", name), [owner, *tree.args], tree.keywords))


def call(owner: ast.expr, name: str, like: ast.Call, skip: int = 0, out: bool = False) -> str:
    keywords = [*like.keywords, ast.keyword("out", ast.Name("OUT"))] if out else like.keywords
    return ast.unparse(ast.Call(ast.Attribute(owner, name), like.args[skip:], keywords))


def attribute(owner: str, name: str) -> ast.Attribute:
    return ast.Attribute(ast.Name(owner), name)


def is_input(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in MAKERS


def is_out(form: str) -> bool:
    return form.startswith("out")
