"""Prints a traced body as a C++ function over contiguous arrays: the block function of block_driver.h."""

from __future__ import annotations

from dataclasses import dataclass

from opgen.scalar.ir import Node, topological
from opgen.scalar.print_cpp import statements
from opgen.scalar.print_values import param_value, storage
from opgen.scalar.trace import Traced
from opgen.scalar.types import BF16, BOOL, F16, ScalarType


@dataclass(frozen=True)
class Lane:
    """How one operand lies in memory: bytes per element, and whether it is a half kind that is widened on the way."""

    size: int
    form: str  # member of Form in block_driver.h

    def __str__(self) -> str:
        return f"{{{self.size}, Form::k{self.form}}}"


def lanes(traced: Traced) -> list[Lane]:
    """The lanes of the outputs, then of the inputs."""
    kinds = (*traced.body.results, *traced.body.inputs)
    types = (*(r.type for r in traced.results), *traced.inputs)
    out = []
    for kind, t in zip(kinds, types, strict=True):
        half = {"float16": "Float16", "bfloat16": "BFloat16"}.get(traced.dtype.name)
        if half and kind in ("compute", "real"):
            out.append(Lane(2, half))
        else:
            out.append(Lane(t.bits // 8, "Plain"))
    return out


def block_body(traced: Traced) -> str:
    """The function's braces and what is between them. Equal text means equal code: kernels are shared by it."""
    params, names = _params(traced)
    lines = [f"  {_pointer(k, r.type, 'out', '')}" for k, r in enumerate(traced.results)]
    used = _used_inputs(traced)
    first = len(traced.results)
    lines += [f"  {_pointer(first + k, t, 'in', 'const ', k)}" for k, t in enumerate(traced.inputs) if k in used]
    lines += [f"  {p}" for p in params]
    if traced.errors:
        lines.append("  uint32_t flags = 0;")
    lines += ["#pragma GCC ivdep", "  for (int64_t i = 0; i < n; ++i) {"]
    lines += [f"    {s}" for s in _loop(traced, names)]
    lines += ["  }", f"  return {'flags' if traced.errors else '0'};"]
    return "{\n" + "\n".join(lines) + "\n}"


def _pointer(position: int, t: ScalarType, name: str, const: str, index: int | None = None) -> str:
    index = position if index is None else index
    return f"auto* {name}{index} = reinterpret_cast<{const}{storage(t)}*>(ptrs[{position}]);"


def _leaf_nodes(traced: Traced) -> list[Node]:
    roots = [*traced.results, *(e[0] for e in traced.errors)]
    return [n for n in topological(roots) if n.op in ("input", "param")]


def _used_inputs(traced: Traced) -> set[object]:
    return {n.attr for n in _leaf_nodes(traced) if n.op == "input"}


def _params(traced: Traced) -> tuple[list[str], dict[int, str]]:
    """Declarations of the parameters that are used, and their names by position."""
    lines, names = [], {}
    used = {n.attr for n in _leaf_nodes(traced) if n.op == "param"}
    for k, (record, t) in enumerate(zip(traced.body.params, traced.params, strict=True)):
        if k not in used:
            continue
        names[k] = f"{record.name}_"
        lines.append(f"const {t.cpp} {names[k]} = {_param_value(traced, k, t)};")
    return lines, names


def _param_value(traced: Traced, k: int, t: ScalarType) -> str:
    value = param_value(k, t)
    if traced.body.round_params and traced.dtype in (F16, BF16) and traced.body.params[k].kind == "compute":
        return f"round_to_{traced.dtype.name}({value})"
    return value


def _loop(traced: Traced, param_names: dict[int, str]) -> list[str]:
    leaves: dict[int, str] = {}
    lines: list[str] = []
    nodes = {(n.op, n.attr): n for n in _leaf_nodes(traced)}
    for k, t in enumerate(traced.inputs):
        if ("input", k) not in nodes:
            continue
        name = f"{traced.body.input_names[k]}_"
        leaves[id(nodes["input", k])] = name
        lines.append(f"const {t.cpp} {name} = in{k}[i]{' != 0' if t is BOOL else ''};")
    for k, name in param_names.items():
        leaves[id(nodes["param", k])] = name
    roots = [*traced.results, *(e[0] for e in traced.errors)]
    temporaries, expressions = statements(roots, leaves)
    lines += temporaries
    for k, expression in enumerate(expressions[len(traced.results) :]):
        lines.append(f"flags |= static_cast<uint32_t>({expression}) << {k};" if k else f"flags |= {expression};")
    lines += [f"out{k}[i] = {e};" for k, e in enumerate(expressions[: len(traced.results)])]
    return lines
