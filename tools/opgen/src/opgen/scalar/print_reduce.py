"""Prints a traced reduction as the block functions of reduce_blocks.h."""

from __future__ import annotations

from opgen.scalar.ir import Node, topological
from opgen.scalar.print_cpp import constant, statements
from opgen.scalar.print_values import param_value, storage
from opgen.scalar.reduction import Leaf, TracedReduction
from opgen.scalar.types import ScalarType

_UNROLL = 4
"""Rows combined for each load and store of the lanes: with one, the loop waits for its own stores."""


def print_init(t: TracedReduction) -> str:
    lines = [_lanes("acc", k, ty, "a") for k, ty in enumerate(t.accumulators)]
    fills = [f"a{k}[j] = {constant(n.type, n.attr)};" for k, n in enumerate(t.identity)]
    return _function("(char* const* acc, int64_t n)", lines, "n", fills)


def print_merge(t: TracedReduction) -> str:
    lines = [
        _lanes(source, k, ty, name)
        for source, name in (("acc", "a"), ("other", "b"))
        for k, ty in enumerate(t.accumulators)
    ]
    body = _loads(t, "a") + _loads(t, "b")
    body += _assign(t.merge, "a", _leaves(t, t.merge))
    return _function("(char* const* acc, char* const* other, int64_t n)", lines, "n", body)


def print_finish(t: TracedReduction) -> str:
    lines = [_lanes("acc", k, ty, "a", "const ") for k, ty in enumerate(t.accumulators)]
    lines += [_lanes("out", k, n.type, "out") for k, n in enumerate(t.finish)]
    lines += _params(t, t.finish)
    body = _loads(t, "a", used=_used(t.finish)) + _assign(t.finish, "out", _leaves(t, t.finish))
    head = f"(char* const* out, char* const* acc, int64_t n, {_argument('int64_t', 'count', body)}, {_argument('const Param*', 'params', lines)})"
    return _function(head, [s for s in lines if not _is_idle(s, body)], "n", body)


def print_rows(t: TracedReduction) -> str:
    """The loop over rows. Plain reductions take four rows at a time, which changes no order: a lane's elements still join
    it one after another."""
    lines = [_lanes("acc", k, ty, "a") for k, ty in enumerate(t.accumulators)]
    lines += _params(t, t.step)
    lines += ["const int64_t width = rows.width;", "const int64_t num_rows = rows.num_rows;", "int64_t r = 0;"]
    plain = not (t.record.is_indexed or t.record.is_counted)
    if plain:
        lines += _row_loop(t, _UNROLL)
    lines += _row_loop(t, 1)
    head = f"(char* const* acc, const ReduceRows& rows, {_argument('const Param*', 'params', lines)})"
    return head + " {\n" + "\n".join(f"  {s}" if not s.startswith("#") else s for s in lines) + "\n}"


def print_runs(t: TracedReduction) -> str:
    """The loop over short contiguous runs, with lanes in local arrays that g++ keeps in registers."""
    x, params = storage(t.dtype.compute), _params(t, t.step)
    lines = [_lanes("acc", k, ty, "out") for k, ty in enumerate(t.accumulators)]
    lines += [*params, "const int64_t n = runs.n;", "for (int64_t k = 0; k < runs.num_runs; ++k) {"]
    lines.append(f"  const auto* x = reinterpret_cast<const {x}*>(runs.x + k * runs.run_stride);")
    lines += [f"  {storage(ty)} a{k}[kRunLanes];" for k, ty in enumerate(t.accumulators)]
    fills = [f"a{k}[j] = {constant(n.type, n.attr)};" for k, n in enumerate(t.identity)]
    lines += [f"  for (int j = 0; j < kRunLanes; ++j) {{ {' '.join(fills)} }}", "  int64_t r = 0;"]
    step = _run_step(t)
    count = [f"    {_count(t, 'r / kRunLanes + 1')}"] if t.record.is_counted else []
    lines += ["  for (; r + kRunLanes <= n; r += kRunLanes) {", *count]
    # Unrolled before it is vectorised, a loop with a choice in it stays scalar.
    lines += ["#pragma GCC unroll 1", "#pragma GCC ivdep"]
    lines += ["    for (int j = 0; j < kRunLanes; ++j) {", *step, "    }", "  }"]
    lines += ["  {", *count, "    for (int j = 0; r + j < n; ++j) {", *step, "    }", "  }"]
    lines += ["#pragma GCC unroll 4", "  for (int width = kRunLanes / 2; width > 0; width /= 2) {", "#pragma GCC ivdep"]
    lines += ["    for (int j = 0; j < width; ++j) {", *(f"      {s}" for s in _fold(t)), "    }", "  }"]
    lines += [f"  out{k}[k] = a{k}[0];" for k in range(len(t.accumulators))]
    lines.append("}")
    head = f"(char* const* acc, const ReduceRuns& runs, {_argument('const Param*', 'params', lines)})"
    return head + " {\n" + "\n".join(f"  {s}" if not s.startswith("#") else s for s in lines) + "\n}"


def _run_step(t: TracedReduction) -> list[str]:
    lines = _loads(t, "a", used=_used(t.step))
    lines.append(f"const {t.dtype.compute.cpp} x_ = x[r + j]{' != 0' if t.dtype.compute.is_bool else ''};")
    if t.record.is_indexed:
        lines.append("const int64_t index_ = (r + j) * runs.index_step;")
    leaves = _leaves(t, t.step)
    for node in topological(list(t.step)):
        if node.op == "input" and isinstance(node.attr, Leaf) and node.attr.name in ("x", "n", "index"):
            leaves[id(node)] = f"{node.attr.name}_"
    return [f"      {s}" for s in lines + _assign(t.step, "a", leaves)]


def _fold(t: TracedReduction) -> list[str]:
    loads = [
        f"const {ty.cpp} {name}{k}_ = a{k}[j{offset}]{' != 0' if ty.is_bool else ''};"
        for name, offset in (("a", ""), ("b", " + width"))
        for k, ty in enumerate(t.accumulators)
    ]
    return loads + _assign(t.merge, "a", _leaves(t, t.merge))


def _count(t: TracedReduction, expression: str) -> str:
    real = t.accumulators[0].real.cpp
    return f"const {real} n_ = static_cast<{real}>({expression});"


def _row_loop(t: TracedReduction, count: int) -> list[str]:
    x = storage(t.dtype.compute)
    lines = [f"for (; r + {count} <= num_rows; r += {count}) {{"]
    lines += [
        f"  const auto* x{u} = reinterpret_cast<const {x}*>(rows.x + (r + {u}) * rows.row_stride);"
        for u in range(count)
    ]
    if t.record.is_counted:
        lines.append(f"  {_count(t, 'rows.count + r + 1')}")
    if t.record.is_indexed:
        lines.append("  const int64_t row_index = rows.index + r * rows.row_step;")
    lines += ["#pragma GCC ivdep", "  for (int64_t j = 0; j < width; ++j) {"]
    lines += [f"    {s}" for s in _row_body(t, count)]
    return [*lines, "  }", "}"]


def _row_body(t: TracedReduction, count: int) -> list[str]:
    lines = _loads(t, "a", used=_used(t.step))
    names = [f"a{k}_" for k in range(len(t.accumulators))]
    is_bool = t.dtype.compute.is_bool
    for u in range(count):
        leaves = _leaves(t, t.step)
        for node in topological(list(t.step)):
            if node.op != "input":
                continue
            assert isinstance(node.attr, Leaf)
            fixed = {"x": f"x{u}_", "n": "n_", "index": "index_"}
            leaves[id(node)] = fixed.get(node.attr.name) or names[node.attr.position]
        lines.append(f"const {t.dtype.compute.cpp} x{u}_ = x{u}[j]{' != 0' if is_bool else ''};")
        if t.record.is_indexed:
            lines.append("const int64_t index_ = row_index + j * rows.col_step;")
        temporaries, results = statements(list(t.step), leaves, prefix=f"t{u}_")
        lines += temporaries
        if u == count - 1:
            return [*lines, *(f"a{k}[j] = {r};" for k, r in enumerate(results))]
        names = [f"s{u}_{k}" for k in range(len(results))]
        for name, result, ty in zip(names, results, t.accumulators, strict=True):
            lines.append(f"const {ty.cpp} {name} = {result};")
    raise AssertionError("count is positive")


def _function(head: str, lines: list[str], bound: str, body: list[str]) -> str:
    text = [f"  {s}" for s in lines]
    text += ["#pragma GCC ivdep", f"  for (int64_t j = 0; j < {bound}; ++j) {{", *(f"    {s}" for s in body), "  }"]
    return head + " {\n" + "\n".join(text) + "\n}"


def _lanes(array: str, k: int, t: ScalarType, name: str, const: str = "") -> str:
    return f"auto* {name}{k} = reinterpret_cast<{const}{storage(t)}*>({array}[{k}]);"


def _loads(t: TracedReduction, name: str, used: set[Leaf] | None = None) -> list[str]:
    return [
        f"const {ty.cpp} {name}{k}_ = {name}{k}[j]{' != 0' if ty.is_bool else ''};"
        for k, ty in enumerate(t.accumulators)
        if used is None or Leaf(name, k) in used
    ]


def _used(roots: tuple[Node, ...]) -> set[Leaf]:
    return {n.attr for n in topological(list(roots)) if n.op == "input" and isinstance(n.attr, Leaf)}


def _leaves(t: TracedReduction, roots: tuple[Node, ...]) -> dict[int, str]:
    names = {}
    for node in topological(list(roots)):
        if node.op == "param":
            assert isinstance(node.attr, int)
            names[id(node)] = f"{t.record.params[node.attr].name}_"
        elif node.op == "input":
            assert isinstance(node.attr, Leaf)
            leaf = node.attr
            names[id(node)] = f"{leaf.name}{leaf.position}_" if leaf.name in "ab" else leaf.name
    return names


def _assign(roots: tuple[Node, ...], target: str, leaves: dict[int, str]) -> list[str]:
    temporaries, results = statements(list(roots), leaves)
    return temporaries + [f"{target}{k}[j] = {r};" for k, r in enumerate(results)]


def _params(t: TracedReduction, roots: tuple[Node, ...]) -> list[str]:
    used = sorted({n.attr for n in topological(list(roots)) if n.op == "param"})
    return [f"const {t.params[k].cpp} {t.record.params[k].name}_ = {param_value(k, t.params[k])};" for k in used]


def _argument(type: str, name: str, lines: list[str]) -> str:
    return f"{type} {name}" if any(name in s for s in lines) else type


def _is_idle(line: str, body: list[str]) -> bool:
    """Whether `line` declares lanes that `body` does not touch."""
    if not line.startswith("auto* "):
        return False
    name = line.split()[1]
    return not any(f"{name}[" in s for s in body)
