"""The Markdown page of the comparison, and the summary that is printed."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import NamedTuple

from expected import reason_for
from plan import Case, operator_of

Found = list[tuple[str, str]]  # kind of comparison, difference or ''
KINDS = ("value", "dtype", "stride", "gradient", "error", "crash")


class Report(NamedTuple):
    document: str
    summary: str
    percent: float


class Tally:
    """Comparisons and how many were equal, by kind."""

    def __init__(self) -> None:
        self.all = Counter[str]()
        self.equal = Counter[str]()

    def add(self, kind: str, difference: str) -> None:
        self.all[kind] += 1
        self.equal[kind] += not difference

    @property
    def percent(self) -> float:
        return 100 * self.equal.total() / max(self.all.total(), 1)

    def cells(self) -> str:
        return " | ".join(f"{self.equal[k]}/{self.all[k]}" if self.all[k] else "" for k in KINDS[:-1])


def report(cases: list[Case], results: dict[int, Found], missing: list[str]) -> Report:
    total, families, operators = Tally(), defaultdict[str, Tally](Tally), defaultdict[str, Tally](Tally)
    differences: dict[tuple[str, str, str, str], list[str]] = defaultdict(list)
    for number, case in enumerate(cases):
        for kind, difference in results.get(number, []):
            for tally in (total, families[case.family], operators[f"{case.family} | {operator_of(case.text)}"]):
                tally.add(kind, difference)
            if difference:
                differences[(case.text, case.form, kind, difference)].append(case.dtype)
    expected, others = listed(differences)
    last = f"{total.equal.total():,} of {total.all.total():,} comparisons equal ({total.percent:.2f} %)"
    summary = [
        *table("family", families),
        "",
        *section("Differences with a reason", expected),
        *section("Differences", others),
        *section("Operators without a sample", missing),
        f"{last}; {len(operators)} operators, {len(cases):,} evaluations",
    ]
    page = ["# flambeau beside torch", "", last, "", *summary[:-1], *table("family | operator", operators)]
    return Report("\n".join(page) + "\n", "\n".join(summary), total.percent)


def table(head: str, tallies: dict[str, Tally]) -> list[str]:
    columns = [*head.split(" | "), *KINDS[:-1], "all", "equal"]
    rows = [
        f"| {name} | {t.cells()} | {t.equal.total()}/{t.all.total()} | {t.percent:.2f} % |"
        for name, t in sorted(tallies.items())
    ]
    return [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|", *rows]


def section(title: str, lines: list[str]) -> list[str]:
    return [f"## {title}", "", *(lines or ["none"]), ""]


def listed(differences: dict[tuple[str, str, str, str], list[str]]) -> tuple[list[str], list[str]]:
    """Those with a known reason, grouped by it; and the others."""
    known: dict[str, list[str]] = defaultdict(list)
    others = []
    for (text, form, kind, difference), dtypes in sorted(differences.items()):
        line = f"`{text}`{f' {form}' if form else ''} ({', '.join(dtypes)}) {kind}: {difference}"
        reason = reason_for(text, form, kind, difference)
        if reason:
            known[reason].append(line)
        else:
            others.append(f"- {line}")
    return [f"- {reason}\n" + "\n".join(f"  - {line}" for line in lines) for reason, lines in known.items()], others
