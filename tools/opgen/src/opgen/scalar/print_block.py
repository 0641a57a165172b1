"""Prints a traced body as a C++ function over contiguous arrays: the block function of block_driver.h."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from opgen.scalar.ir import Node, topological
from opgen.scalar.print_cpp import statements
from opgen.scalar.print_values import param_value, storage
from opgen.scalar.trace import Traced
from opgen.scalar.types import BF16, BOOL, F16, ScalarType

_SCAN_BLOCK = 1024
"""Elements that are looked at before one of two loops is chosen for them: they stay in the L1 cache."""


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
    if traced.narrow:
        lines += _two_loops(traced, names)
    else:
        lines += ["#pragma GCC ivdep", "  for (int64_t i = 0; i < n; ++i) {"]
        lines += [f"    {s}" for s in _loop(traced, names)]
        lines.append("  }")
    lines.append(f"  return {'flags' if traced.errors else '0'};")
    return "{\n" + "\n".join(lines) + "\n}"


def _two_loops(traced: Traced, names: dict[int, str]) -> list[str]:
    """Block by block: look whether all elements are in the narrow range, then the loop for that or the general one."""
    condition, *results = traced.narrow
    scan = _assignments(traced, names, [condition], ["outside |= {} ? 0 : 1;"])
    narrow = _assignments(traced, names, results, [f"out{k}[i] = {{}};" for k in range(len(results))])
    head = "    for (int64_t i = begin; i < end; ++i) {"
    return [
        f"  for (int64_t begin = 0; begin < n; begin += {_SCAN_BLOCK}) {{",
        f"    const int64_t end = n - begin < {_SCAN_BLOCK} ? n : begin + {_SCAN_BLOCK};",
        "    int outside = 0;  // g++ vectorises this reduction, and not one of bool",
        head,
        *(f"      {s}" for s in scan),
        "    }",
        "    if (outside == 0) {",
        "#pragma GCC ivdep",
        "  " + head,
        *(f"        {s}" for s in narrow),
        "      }",
        "      continue;",
        "    }",
        "#pragma GCC ivdep",
        head,
        *(f"      {s}" for s in _loop(traced, names)),
        "    }",
        "  }",
    ]


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
    roots = [*traced.results, *(e[0] for e in traced.errors)]
    stores = [f"out{k}[i] = {{}};" for k in range(len(traced.results))]
    flags = [
        f"flags |= static_cast<uint32_t>({{}}) << {k};" if k else "flags |= {};" for k in range(len(traced.errors))
    ]
    lines = _assignments(traced, param_names, roots, [*stores, *flags])
    # The flags first: an output may lie where an input does.
    split = len(lines) - len(roots)
    return lines[:split] + lines[split + len(stores) :] + lines[split : split + len(stores)]


def _assignments(
    traced: Traced, param_names: dict[int, str], roots: Sequence[Node], templates: Sequence[str]
) -> list[str]:
    """Loads of the inputs that `roots` use, temporaries, and one line for each root by its template."""
    leaves: dict[int, str] = {}
    lines: list[str] = []
    nodes = {(n.op, n.attr): n for n in topological(list(roots)) if n.op in ("input", "param")}
    for k, t in enumerate(traced.inputs):
        if ("input", k) not in nodes:
            continue
        name = f"{traced.body.input_names[k]}_"
        leaves[id(nodes["input", k])] = name
        lines.append(f"const {t.cpp} {name} = in{k}[i]{' != 0' if t is BOOL else ''};")
    for k, name in param_names.items():
        if ("param", k) in nodes:
            leaves[id(nodes["param", k])] = name
    temporaries, expressions = statements(list(roots), leaves)
    return lines + temporaries + [t.format(e) for t, e in zip(templates, expressions, strict=True)]
