"""Adds up the results of several pytest runs from their JUnit files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree


@dataclass(frozen=True)
class Counts:
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0.0

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.passed + other.passed,
            self.failed + other.failed,
            self.skipped + other.skipped,
            self.seconds + other.seconds,
        )

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def read_junit(path: Path) -> Counts:
    """The totals of one run; a missing file (pytest died) counts as one failure."""
    if not path.exists():
        return Counts(failed=1)
    total = Counts()
    for suite in ElementTree.parse(path).getroot().iter("testsuite"):
        tests, skipped = int(suite.get("tests", 0)), int(suite.get("skipped", 0))
        failed = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
        total += Counts(tests - failed - skipped, failed, skipped, float(suite.get("time", 0)))
    return total
