"""Prints rows as a table of figures, ratios and bars."""

from __future__ import annotations

from harness import FRAMEWORKS, Row


def show(value: float | None, unit: str) -> str:
    """1.2e-7, 's' -> '120 ns'."""
    if value is None:
        return "-"
    if unit != "s":
        return f"{value:,.1f} {unit}"
    for scale, name in ((1e-9, "ns"), (1e-6, "us"), (1e-3, "ms")):
        if value < 1000 * scale:
            return f"{value / scale:,.1f} {name}"
    return f"{value:.2f} s"


def verdict(row: Row) -> str:
    if row.met is None:
        return ""
    return "met" if row.met else "MISSED"


def bar(row: Row) -> str:
    if row.at_most is not None:
        return f"<= {show(row.at_most, row.unit)}"
    return "" if row.bar is None else f">= {row.bar:g}x"


def print_table(title: str, rows: list[Row]) -> None:
    width = max(len(r.name) for r in rows)
    heads = "".join(f"{name:>14}" for name in FRAMEWORKS)
    print(f"\n{title}\n  {'':{width}}{heads}{'torch/ours':>12}{'bar':>14}")
    for row in rows:
        figures = "".join(f"{show(row.figures.get(name), row.unit):>14}" for name in FRAMEWORKS)
        ratio = "-" if row.ratio is None else f"{row.ratio:.2f}x"
        print(f"  {row.name:{width}}{figures}{ratio:>12}{bar(row):>14}  {verdict(row)}".rstrip())


def summary(rows: list[Row]) -> str:
    judged = [r for r in rows if r.met is not None]
    missed = [r.name for r in judged if not r.met]
    return f"bars met: {len(judged) - len(missed)} of {len(judged)}" + (
        f"; missed: {', '.join(missed)}" if missed else ""
    )
