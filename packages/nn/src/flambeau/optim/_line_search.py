"""Line search for the strong Wolfe conditions, on a step length along a fixed direction.

Source: Nocedal, Wright 2006, algorithms 3.5 and 3.6, with the cubic interpolation and the
safeguards of minFunc (Schmidt 2005).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

SUFFICIENT_DECREASE = 1e-4
CURVATURE = 0.9
MAX_EVALUATIONS = 25


@dataclass(slots=True)
class Trial:
    """A step length tried, with loss, gradient and slope along the direction there."""

    t: float
    loss: float
    grad: Any
    slope: float


def cubic_minimum(a: Trial, b: Trial, bounds: tuple[float, float] | None = None) -> float:
    """Return where the cubic through both losses and slopes is least within `bounds`."""
    low, high = bounds if bounds is not None else (min(a.t, b.t), max(a.t, b.t))
    if a.t > b.t:
        a, b = b, a
    d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t)
    square = d1 * d1 - a.slope * b.slope
    if not square >= 0:
        return (low + high) / 2.0
    d2 = square**0.5
    t = b.t - (b.t - a.t) * ((b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2))
    return min(max(t, low), high)


def strong_wolfe(
    evaluate: Callable[[float], Trial], start: Trial, t: float, d_norm: float, tolerance_change: float = 1e-9
) -> tuple[Trial, int]:
    """Search from step length `t`; return the trial to take and the number of evaluations.

    Parameters
    ----------
    evaluate : returns the trial at a step length
    start : the trial at 0
    d_norm : largest magnitude in the direction; a bracket narrower than
        tolerance_change / d_norm moves no parameter by more than that
    """
    bracket, evaluations, done = _bracket(evaluate, start, t)
    if done is not None:
        return done, evaluations
    return _zoom(evaluate, start, bracket, evaluations, d_norm, tolerance_change)


def _bracket(evaluate: Callable[[float], Trial], start: Trial, t: float) -> tuple[list[Trial], int, Trial | None]:
    """Grow the step until an interval must hold a good one; the third result is one found by luck."""
    previous, trial = start, evaluate(t)
    evaluations = 1
    for _ in range(MAX_EVALUATIONS):
        too_high = trial.loss > start.loss + SUFFICIENT_DECREASE * trial.t * start.slope
        if too_high or (evaluations > 1 and trial.loss >= previous.loss):
            return [previous, trial], evaluations, None
        if abs(trial.slope) <= -CURVATURE * start.slope:
            return [trial], evaluations, trial
        if trial.slope >= 0:
            return [previous, trial], evaluations, None
        bounds = (trial.t + 0.01 * (trial.t - previous.t), trial.t * 10)
        t = cubic_minimum(previous, trial, bounds)
        previous, trial = trial, evaluate(t)
        evaluations += 1
    return [start, trial], evaluations, None


def _zoom(
    evaluate: Callable[[float], Trial],
    start: Trial,
    bracket: list[Trial],
    evaluations: int,
    d_norm: float,
    tolerance_change: float,
) -> tuple[Trial, int]:
    """Shrink the bracket; its better end is the answer when nothing more can be gained."""
    first, second = bracket
    low, high = (first, second) if first.loss <= second.loss else (second, first)
    stalled = False
    # The bracketing phase may have spent all: the sum is bounded.
    spent = evaluations if evaluations > MAX_EVALUATIONS else evaluations - 1
    while spent < MAX_EVALUATIONS:
        if abs(high.t - low.t) * d_norm < tolerance_change:
            break
        t = cubic_minimum(low, high)
        t, stalled = _away_from_ends(t, low.t, high.t, stalled)
        trial = evaluate(t)
        evaluations += 1
        spent += 1
        too_high = trial.loss > start.loss + SUFFICIENT_DECREASE * t * start.slope
        if too_high or trial.loss >= low.loss:
            high = trial
            continue
        if abs(trial.slope) <= -CURVATURE * start.slope:
            return trial, evaluations
        if trial.slope * (high.t - low.t) >= 0:
            high = low
        low = trial
    return low, evaluations


def _away_from_ends(t: float, a: float, b: float, stalled: bool) -> tuple[float, bool]:
    """Move a step that is within a tenth of an end inwards, if it was so twice or lies outside."""
    left, right = min(a, b), max(a, b)
    margin = 0.1 * (right - left)
    if min(right - t, t - left) >= margin:
        return t, False
    if stalled or t >= right or t <= left:
        return (right - margin if abs(t - right) < abs(t - left) else left + margin), False
    return t, True
