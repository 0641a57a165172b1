"""Generates the reference page from the records."""

from __future__ import annotations

from opgen.records import Record


def page(records: list[Record], by_name: dict[str, list[Record]]) -> str:
    """Markdown: a head with counts, then an entry a name in the order of `by_name`."""
    return "\n".join([*_head(records), *(entry(rows) for rows in by_name.values())])


def _head(records: list[Record]) -> list[str]:
    counts = {c: sum(r.op_class == c for r in records) for c in ("core", "fused", "composite")}
    total = len(records)
    return [
        "# Operators",
        "",
        "Generated from `schemas/ops/`; every entry names the record it comes from.",
        f"{total} records: {counts['core']} core, {counts['fused']} fused, {counts['composite']} composite.",
        "",
    ]


def entry(rows: list[Record]) -> str:
    lines = [f"## {rows[0].schema.name}", ""]
    if doc := next((r.doc for r in rows if r.doc), ""):
        lines += [doc, ""]
    for r in rows:
        extras = [
            w
            for w, on in (
                ("in place", r.inplace),
                ("out=", r.out),
                ("a view", r.view),
                ("writes its first argument", r.mutates),
                (f"composed by `{r.python}`", r.python),
                (f"dtypes: {r.dtypes}", r.dtypes),
            )
            if on
        ]
        lines.append(f"* `{r.schema.text}`: {r.op_class}{', ' + ', '.join(extras) if extras else ''} ({r.where})")
    return "\n".join([*lines, ""])
