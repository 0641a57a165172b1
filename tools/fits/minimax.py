"""Minimax polynomial coefficients for csrc/math, by a discrete Remez exchange in mpmath.

Each fit minimises the weighted error max |w(x) (P(v(x)) - g(x))| over an interval. Coefficients are rounded to the
target type from the lowest order up, and the rest refitted after each, so that rounding costs almost nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass

import mpmath as mp
import numpy as np

mp.mp.dps = 50
Fn = Callable[[mp.mpf], mp.mpf]


def remez(g: np.ndarray, w: np.ndarray, t: np.ndarray, powers: list[int], rounds: int = 30) -> tuple[list, mp.mpf]:
    """Coefficients of t**powers nearest to g under weight w on the grid; and the error reached."""
    n = len(powers) + 1
    basis = [t**p for p in powers]
    size = len(t)
    nodes = [round((size - 1) * (1 - np.cos(np.pi * i / (n - 1))) / 2) for i in range(n)]
    best: tuple[list, mp.mpf] | None = None
    for _ in range(rounds):
        a = mp.matrix(n, n)
        b = mp.matrix(n, 1)
        for row, k in enumerate(nodes):
            for col in range(n - 1):
                a[row, col] = basis[col][k]
            a[row, n - 1] = (-1) ** row / w[k]
            b[row] = g[k]
        solved = mp.lu_solve(a, b)
        c = [solved[i] for i in range(n - 1)]
        err = w * (sum(ci * bi for ci, bi in zip(c, basis)) - g)
        top = max(abs(e) for e in err)
        if best is None or top < best[1]:
            best = (c, top)
        if top <= abs(solved[n - 1]) * mp.mpf("1.001"):
            break
        # One extremum per run of equal sign, then the n best consecutive ones.
        runs: list[int] = [0]
        for k in range(1, size):
            if (err[k] > 0) == (err[runs[-1]] > 0):
                if abs(err[k]) > abs(err[runs[-1]]):
                    runs[-1] = k
            else:
                runs.append(k)
        if len(runs) < n:
            break
        while len(runs) > n:
            runs.pop(0 if abs(err[runs[0]]) < abs(err[runs[-1]]) else -1)
        nodes = runs
    assert best is not None
    return best


@dataclass(frozen=True)
class Target:
    """What a polynomial shall be near to, and the weight of its error."""

    function: Fn
    weight: Fn


def relative(f: Fn, head: Fn, power: int) -> Target:
    """f(x) as head(x) + x**power P, with the error relative to f."""
    return Target(lambda x: (f(x) - head(x)) / x**power, lambda x: x**power / f(x))


def fit(
    target: Target,
    low: float | mp.mpf,
    high: float | mp.mpf,
    degree: int,
    *,
    is_single: bool,
    v: Fn = lambda x: x,
    grid: int = 1200,
    at_once: bool = False,
) -> tuple[list, float]:
    """Rounded coefficients, lowest order first, and log2 of their largest weighted error."""
    k = np.arange(grid)
    x = [mp.mpf(low) + (mp.mpf(high) - low) * mp.mpf((1 - np.cos(np.pi * (i + 0.5) / grid)) / 2) for i in k]
    gx = np.array([target.function(i) for i in x])
    wx = np.array([abs(target.weight(i)) for i in x])
    t = np.array([v(i) for i in x])
    kind = np.float32 if is_single else float
    if at_once or not is_single:
        # Where v passes 0 inside the interval, the rounding of the first coefficient is an error that refitting cannot
        # spread; and for double it is larger than that of the fit.
        c, _ = remez(gx, wx, t, list(range(degree + 1)))
        fixed = [float(kind(float(i))) for i in c]
        rest = gx - sum(mp.mpf(f) * t**i for i, f in enumerate(fixed))
        return fixed, float(mp.log(max(abs(e) for e in rest * wx), 2))
    fixed = []
    rest = gx
    for i in range(degree + 1):
        c, _ = remez(rest, wx, t, list(range(i, degree + 1)))
        fixed.append(np.float32(float(c[0])))
        rest = rest - mp.mpf(float(fixed[-1])) * t**i
    return fixed, float(mp.log(max(abs(e) for e in rest * wx), 2))


def show(name: str, result: tuple[list, float], is_single: bool) -> None:
    c, e = result
    digits, suffix = (9, "f") if is_single else (17, "")
    print(f"// {name}: 2^{e:.1f}\n" + ", ".join(f"{float(i):.{digits}g}{suffix}" for i in c), flush=True)
