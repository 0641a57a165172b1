"""Timing of one statement in several frameworks, side by side in one process.

Blocks of calls of the frameworks alternate, so that a slow second of the machine hits all of them. A block's figure is
the median of its repeats; a framework's figure is the smallest of its blocks. Only ratios of one run mean anything.
"""

from __future__ import annotations

import importlib
import math
import statistics
import time
import timeit
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

FRAMEWORKS = ("flambeau", "torch")
PAUSE_S = 0.004  # lets the other framework's threads stop spinning before the next block starts


@dataclass(frozen=True)
class Case:
    """A statement to time, in names that `setup(framework)` returns."""

    name: str
    setup: Callable[[ModuleType], dict[str, Any]]
    stmt: str
    bar: float | None = None  # torch's time over ours must be at least this
    rounds: int = 7
    block_s: float = 0.04


@dataclass(frozen=True)
class Row:
    """One line of a table. `figures` are seconds per call, or what `unit` says."""

    name: str
    figures: dict[str, float]
    bar: float | None = None
    unit: str = "s"
    at_most: float | None = None  # a bar on our own figure, in `unit`

    @property
    def ratio(self) -> float | None:
        """How many times torch's figure is ours; None when one is missing."""
        if any(name not in self.figures for name in FRAMEWORKS):
            return None
        return self.figures["torch"] / self.figures["flambeau"]

    @property
    def met(self) -> bool | None:
        """Whether the bar is met; None without a bar or without figures."""
        if self.at_most is not None and "flambeau" in self.figures:
            return self.figures["flambeau"] <= self.at_most
        return None if self.bar is None or self.ratio is None else self.ratio >= self.bar


def available(threads: int | None = None) -> dict[str, ModuleType]:
    """The frameworks that can be imported, set to `threads` threads."""
    found = {}
    for name in FRAMEWORKS:
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        if threads is not None:
            module.set_num_threads(threads)
        found[name] = module
    return found


def measure(case: Case, frameworks: dict[str, ModuleType]) -> Row:
    """Time `case` in every framework that can run it."""
    timers: dict[str, tuple[timeit.Timer, int, int]] = {}
    for name, module in frameworks.items():
        try:
            timer = timeit.Timer(case.stmt, globals=case.setup(module))
            once = min(timer.timeit(1) for _ in range(3))
        except Exception as err:  # a framework that lacks the operator leaves its column empty, and says why
            print(f"# {case.name}: {name} cannot run it: {type(err).__name__}: {err}", flush=True)
            continue
        calls = calls_per_repeat(timer, once)
        repeats = max(3, min(25, round(case.block_s / max(once * calls, 1e-9))))
        timers[name] = (timer, calls, repeats)
    best = dict.fromkeys(timers, math.inf)
    for number in range(case.rounds):
        order = list(timers) if number % 2 else list(reversed(timers))
        for name in order:
            timer, calls, repeats = timers[name]
            time.sleep(PAUSE_S)
            timer.timeit(1)
            best[name] = min(best[name], statistics.median(timer.repeat(repeats, calls)) / calls)
    return Row(case.name, best, case.bar)


def calls_per_repeat(timer: timeit.Timer, once: float, least_s: float = 0.002) -> int:
    """Calls that together take about two milliseconds: the clock's own cost disappears."""
    if once >= least_s:
        return 1
    sample = timer.timeit(20) / 20
    return max(1, round(least_s / max(sample, 1e-9)))


def geometric_mean(ratios: list[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, ratios)))
