"""einsum: sums of products written in subscripts, contracted from left to right by matrix products."""

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import flambeau
from flambeau import Tensor

_ops = flambeau.ops.aten
_ELLIPSIS = "..."
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def einsum(*args: Any) -> Tensor:
    """`einsum("ij,jk->ik", a, b)` or `einsum(a, [0, 1], b, [1, 2], [0, 2])`.

    Subscripts are letters; `...` stands for dims that broadcast; a subscript twice in one operand takes its diagonal; those
    missing from the output are summed. Without `->` the output has the subscripts that occur once, in alphabetical order.

    Raises RuntimeError if the equation does not fit the operands, ValueError without any operand.
    """
    if len(args) < 2:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, "
            "or at least one operand and its subscripts list"
        )
    if isinstance(args[0], Tensor):
        terms, output, operands = _from_sublists(args)
    else:
        operands = list(args[1:])
        if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
            operands = list(operands[0])
        terms, output = _from_equation(str(args[0]))
    if len(operands) < len(terms):
        raise RuntimeError("einsum(): fewer operands were provided than specified in the equation")
    if len(operands) > len(terms):
        raise RuntimeError("einsum(): more operands were provided than specified in the equation")
    if len(operands) == 2:
        a, b = operands
        plan = _plain_product(
            tuple(terms[0]), tuple(terms[1]), None if output is None else tuple(output), a.shape, b.shape
        )
        if plan is not None:
            return _run(plan, a, b)
    return _contract(terms, output, operands)


class _Plan(NamedTuple):
    """One matrix product; None stands for what needs no change."""

    left_order: list[int] | None
    left_shape: list[int] | None
    right_order: list[int] | None
    right_shape: list[int] | None
    batched: bool
    shape: list[int] | None
    order: list[int] | None


def _identity_is_none(order: list[int]) -> list[int] | None:
    return None if order == list(range(len(order))) else order


@functools.lru_cache(maxsize=256)
def _plain_product(
    a: tuple[str, ...],
    b: tuple[str, ...],
    output: tuple[str, ...] | None,
    a_shape: tuple[int, ...],
    b_shape: tuple[int, ...],
) -> _Plan | None:
    """The plan of a product of two operands without ellipses, diagonals, broadcasting or sums of their own; else None."""
    if (
        _ELLIPSIS in a + b
        or len(set(a)) != len(a_shape)
        or len(set(b)) != len(b_shape)
        or len(a) != len(set(a))
        or len(b) != len(set(b))
    ):
        return None
    sizes = dict(zip(a, a_shape, strict=True))
    if any(sizes.setdefault(label, size) != size for label, size in zip(b, b_shape, strict=True)):
        return None
    if output is None:
        output = tuple(sorted(label for label in sizes if (label in a) != (label in b)))
    elif _ELLIPSIS in output:
        return None
    contracted = [x for x in a if x in b and x not in output]
    rows = [x for x in a if x not in b]
    columns = [x for x in b if x not in a]
    batch = [x for x in a if x in b and x in output]
    found = batch + rows + columns
    if not contracted or sorted(found) != sorted(output):  # a sum of its own, or an error that is reported elsewhere
        return None
    groups = [batch] if batch else []
    left, right = [*groups, rows, contracted], [*groups, contracted, columns]

    def shape(labels: list[list[str]]) -> list[int] | None:
        return None if all(len(g) == 1 for g in labels) else [math.prod(sizes[x] for x in g) for g in labels]

    return _Plan(
        _identity_is_none([a.index(x) for g in left for x in g]),
        shape(left),
        _identity_is_none([b.index(x) for g in right for x in g]),
        shape(right),
        bool(batch),
        None if all(len(g) == 1 for g in [*groups, rows, columns]) else [sizes[x] for x in found],
        _identity_is_none([found.index(x) for x in output]),
    )


def _run(plan: _Plan, a: Tensor, b: Tensor) -> Tensor:
    left_order, left_shape, right_order, right_shape, batched, shape, order = plan
    if left_order is not None:
        a = a.permute(left_order)
    if left_shape is not None:
        a = a.reshape(left_shape)
    if right_order is not None:
        b = b.permute(right_order)
    if right_shape is not None:
        b = b.reshape(right_shape)
    result = _ops.bmm(a, b) if batched else _ops.mm(a, b)
    if shape is not None:
        result = result.reshape(shape)
    return result if order is None else result.permute(order)


@functools.lru_cache(maxsize=256)
def _from_equation(equation: str) -> tuple[list[list[str]], list[str] | None]:
    left, arrow, right = equation.partition("->")
    terms, index = [], 0
    for position, text in enumerate(left.split(",")):
        terms.append(_subscripts(text, index, f"operand {position}"))
        index += len(text) + 1
    return terms, _subscripts(right, len(left) + 2, "the output") if arrow else None


def _subscripts(text: str, start: int, where: str) -> list[str]:
    found: list[str] = []
    i = 0
    while i < len(text):
        c = text[i]
        if c == " ":
            pass
        elif c == ".":
            if _ELLIPSIS in found:
                raise RuntimeError(f"einsum(): found '.' for {where} for which an ellipsis was already found")
            if text[i : i + 3] != _ELLIPSIS:
                raise RuntimeError(f"einsum(): found '.' for {where} that is not part of any ellipsis")
            found.append(_ELLIPSIS)
            i += 2
        elif c in _LETTERS:
            found.append(c)
        else:
            raise RuntimeError(
                f"einsum(): invalid subscript given at index {start + i} in the equation string, subscripts must be in [a-zA-Z]"
            )
        i += 1
    return found


def _from_sublists(args: Sequence[Any]) -> tuple[list[list[str]], list[str] | None, list[Tensor]]:
    def letters(sublist: Sequence[object]) -> list[str]:
        found = []
        for x in sublist:
            if x is Ellipsis:
                found.append(_ELLIPSIS)
            elif isinstance(x, int) and 0 <= x < 52:
                # Numbers sort as they are: capitals first, as in ASCII.
                found.append(chr(ord("A") + x) if x < 26 else chr(ord("a") + x - 26))
            else:
                raise ValueError(f"einsum(): expected subscript {x!r} to be within the valid range [0, 52)")
        return found

    operands = list(args[: len(args) // 2 * 2 : 2])
    terms = [letters(x) for x in args[1::2]]
    output = letters(args[-1]) if len(args) % 2 else None
    return terms, output, operands


def _contract(terms: list[list[str]], output: list[str] | None, operands: list[Tensor]) -> Tensor:
    terms, operands, broadcast = _expand_ellipses(terms, operands)
    _check_sizes(terms, operands)
    out = _output_labels(terms, output, broadcast)
    operands = [_diagonals(t, labels) for t, labels in zip(operands, terms, strict=True)]
    terms = [list(dict.fromkeys(labels)) for labels in terms]
    result, labels = operands[0], terms[0]
    for i in range(1, len(operands)):
        later = set(out).union(*terms[i + 1 :])
        result, labels = _pair(result, labels, operands[i], terms[i], later)
    gone = [d for d, label in enumerate(labels) if label not in out]
    if gone:
        result = result.sum(gone, dtype=result.dtype)
        labels = [label for label in labels if label in out]
    order = [labels.index(label) for label in out]
    return result.permute(order) if order != list(range(len(order))) else result


def _expand_ellipses(terms: list[list[str]], operands: list[Tensor]) -> tuple[list[list[str]], list[Tensor], list[str]]:
    """Gives the dims under an ellipsis labels, numbered from the last one so that they broadcast."""
    most, expanded = 0, []
    for i, (labels, t) in enumerate(zip(terms, operands, strict=True)):
        named = len(labels) - (_ELLIPSIS in labels)
        hidden = t.dim() - named
        if _ELLIPSIS not in labels and hidden:
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({named}) does not match the number of dimensions "
                f"({t.dim()}) for operand {i} and no ellipsis was given"
            )
        if hidden < 0:
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({named}) is more than the number of dimensions ({t.dim()}) for operand {i}"
            )
        most = max(most, hidden) if _ELLIPSIS in labels else most
        replaced: list[str] = []
        for label in labels:
            replaced += [f"#{k}" for k in range(hidden - 1, -1, -1)] if label == _ELLIPSIS else [label]
        expanded.append(replaced)
    return expanded, operands, [f"#{k}" for k in range(most - 1, -1, -1)]


def _check_sizes(terms: list[list[str]], operands: list[Tensor]) -> None:
    sizes: dict[str, int] = {}
    for i, (labels, t) in enumerate(zip(terms, operands, strict=True)):
        own: dict[str, int] = {}
        for label, size in zip(labels, t.shape, strict=True):
            if own.setdefault(label, size) != size:
                raise RuntimeError(
                    f"einsum(): subscript {label} is repeated for operand {i} but the sizes don't match, {size} != {own[label]}"
                )
            seen = sizes.get(label, 1)
            if size != 1 and seen not in (1, size):
                raise RuntimeError(
                    f"einsum(): subscript {label} has size {size} for operand {i} which does not broadcast with previously seen size {seen}"
                )
            sizes[label] = size if seen == 1 else seen


def _output_labels(terms: list[list[str]], output: list[str] | None, broadcast: list[str]) -> list[str]:
    labels = [label for term in terms for label in term]
    if output is None:
        once = sorted(label for label in set(labels) if label[0] != "#" and labels.count(label) == 1)
        return broadcast + once
    out: list[str] = []
    for label in output:
        if label == _ELLIPSIS:
            out += broadcast
        elif label in out:
            raise RuntimeError(f"einsum(): output subscript {label} appears more than once in the output")
        elif label not in labels:
            raise RuntimeError(
                f"einsum(): output subscript {label} does not appear in the equation for any input operand"
            )
        else:
            out.append(label)
    return out


def _diagonals(t: Tensor, labels: list[str]) -> Tensor:
    """A subscript that is repeated runs along a diagonal, which takes the place of its first occurrence."""
    labels = list(labels)
    position = 0
    while position < len(labels):
        label = labels[position]
        if label in labels[position + 1 :]:
            other = labels.index(label, position + 1)
            t = t.diagonal(0, position, other).movedim(-1, position)
            del labels[other]
        else:
            position += 1
    return t


def _pair(a: Tensor, a_labels: list[str], b: Tensor, b_labels: list[str], later: set[str]) -> tuple[Tensor, list[str]]:
    """Product of two operands, summed over what nobody needs later: one (batched) matrix product."""
    a, a_labels = _sum_alone(a, a_labels, b_labels, later)
    b, b_labels = _sum_alone(b, b_labels, a_labels, later)
    shared = [x for x in a_labels if x in b_labels]
    contracted = [x for x in shared if x not in later]
    a, a_labels, b, b_labels = _match_sizes(a, a_labels, b, b_labels, contracted)
    contracted = [x for x in contracted if x in a_labels and x in b_labels]
    batch = [x for x in a_labels if x in b_labels and x not in contracted]
    rows = [x for x in a_labels if x not in b_labels]
    columns = [x for x in b_labels if x not in a_labels]
    result_labels = batch + rows + columns
    if not contracted:
        x = _aligned(a, a_labels, result_labels)
        y = _aligned(b, b_labels, result_labels)
        return x * y, result_labels
    x = _as_matrices(a, a_labels, batch, rows, contracted)
    y = _as_matrices(b, b_labels, batch, contracted, columns)
    product = _ops.bmm(x, y) if batch else _ops.mm(x, y)
    shape = [max(_size(a, a_labels, n), _size(b, b_labels, n)) for n in batch]
    shape += [_size(a, a_labels, n) for n in rows] + [_size(b, b_labels, n) for n in columns]
    return product.reshape(shape), result_labels


def _size(t: Tensor, labels: list[str], label: str) -> int:
    return t.shape[labels.index(label)]


def _sum_alone(t: Tensor, labels: list[str], others: list[str], later: set[str]) -> tuple[Tensor, list[str]]:
    gone = [d for d, label in enumerate(labels) if label not in others and label not in later]
    if not gone:
        return t, labels
    return t.sum(gone, dtype=t.dtype), [label for d, label in enumerate(labels) if d not in gone]


def _match_sizes(
    a: Tensor, a_labels: list[str], b: Tensor, b_labels: list[str], contracted: list[str]
) -> tuple[Tensor, list[str], Tensor, list[str]]:
    """Where one size is 1: a contracted subscript is summed in the other operand; a kept one is broadcast."""
    for label in contracted:
        m, n = _size(a, a_labels, label), _size(b, b_labels, label)
        if m == n:
            continue
        if m == 1:
            b = b.sum(b_labels.index(label), dtype=b.dtype)
            a = a.squeeze(a_labels.index(label))
        else:
            a = a.sum(a_labels.index(label), dtype=a.dtype)
            b = b.squeeze(b_labels.index(label))
        a_labels = [x for x in a_labels if x != label]
        b_labels = [x for x in b_labels if x != label]
    for label in a_labels:
        if label in b_labels and label not in contracted:
            m, n = _size(a, a_labels, label), _size(b, b_labels, label)
            if m != n:
                full = max(m, n) if 0 not in (m, n) else 0
                a = a.expand([full if x == label else -1 for x in a_labels])
                b = b.expand([full if x == label else -1 for x in b_labels])
    return a, a_labels, b, b_labels


def _aligned(t: Tensor, labels: list[str], target: list[str]) -> Tensor:
    """With the dims of `target`, those that t lacks of size 1."""
    own = [x for x in target if x in labels]
    t = t.permute([labels.index(x) for x in own])
    for d, label in enumerate(target):
        if label not in labels:
            t = t.unsqueeze(d)
    return t


def _as_matrices(t: Tensor, labels: list[str], batch: list[str], rows: list[str], columns: list[str]) -> Tensor:
    groups = [batch, rows, columns] if batch else [rows, columns]
    shape = [math.prod(_size(t, labels, x) for x in group) for group in groups]
    return t.permute([labels.index(x) for x in batch + rows + columns]).reshape(shape)
