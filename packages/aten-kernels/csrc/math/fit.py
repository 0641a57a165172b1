"""Minimax polynomial coefficients of the scalar math library, by a discrete Remez exchange in mpmath.

Each fit minimises the weighted error max |w(x) (P(v(x)) - g(x))| over an interval. Coefficients are rounded to the
target type from the lowest order up, and the rest refitted after each, so that rounding costs almost nothing.
Run as `python fit.py [NAME ...]`; prints C++ initialisers with log2 of the error that was reached.
"""

import sys
from collections.abc import Callable

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


def fit(
    g: Fn,
    w: Fn,
    lo: float,
    hi: float,
    degree: int,
    kind: type = np.float32,
    v: Fn = lambda x: x,
    grid: int = 1200,
    at_once: bool = False,
) -> tuple[list, float]:
    """Rounded coefficients, lowest order first, and log2 of their largest weighted error."""
    k = np.arange(grid)
    x = [mp.mpf(lo) + (mp.mpf(hi) - lo) * mp.mpf((1 - np.cos(np.pi * (i + 0.5) / grid)) / 2) for i in k]
    gx = np.array([g(i) for i in x])
    wx = np.array([abs(w(i)) for i in x])
    t = np.array([v(i) for i in x])
    if kind is float or at_once:
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


def show(name: str, result: tuple[list, float], suffix: str) -> None:
    c, e = result
    digits = 9 if suffix else 17
    print(
        f"// {name}: 2^{e:.1f}\n" + ", ".join(f"{float(i):.{digits}g}{suffix}" for i in c),
        flush=True,
    )


L = mp.log(2) / 2
ONE = mp.mpf(1)
F, D = np.float32, float


def log_fit(degree: int, kind: type) -> tuple[list, float]:
    return fit(
        lambda f: (mp.log(1 + f) - f + f * f / 2) / f**3,
        lambda f: f**3 / mp.log(1 + f),
        float(mp.sqrt(0.5) - 1),
        float(mp.sqrt(2) - 1),
        degree,
        kind,
    )


def i0e(x: mp.mpf) -> mp.mpf:
    return mp.besseli(0, x) * mp.exp(-x)


def i1e(x: mp.mpf) -> mp.mpf:
    return mp.besseli(1, x) * mp.exp(-x)


def far(f: Fn, t: mp.mpf) -> mp.mpf:
    """sqrt(x) f(x) at x = 16 / (t + 1)."""
    x = 16 / (t + 1)
    return f(x) * mp.sqrt(x)


FITS: dict[str, tuple[Callable[[], tuple[list, float]], str]] = {
    # (e^r - 1 - r) / r^2 on |r| <= log(2)/2, error relative to e^r
    "exp_f": (
        lambda: fit(
            lambda r: (mp.exp(r) - 1 - r) / r**2,
            lambda r: r * r / mp.exp(r),
            -L * 1.01,
            L * 1.01,
            4,
            F,
        ),
        "f",
    ),
    "exp_d": (
        lambda: fit(
            lambda r: (mp.exp(r) - 1 - r) / r**2,
            lambda r: r * r / mp.exp(r),
            -L * 1.01,
            L * 1.01,
            9,
            D,
        ),
        "",
    ),
    "exp_mid": (
        lambda: fit(
            lambda r: (mp.exp(r) - 1 - r) / r**2,
            lambda r: r * r / mp.exp(r),
            -L * 1.01,
            L * 1.01,
            6,
            D,
        ),
        "",
    ),
    # the same, error relative to e^r - 1
    "expm1_f": (
        lambda: fit(
            lambda r: (mp.exp(r) - 1 - r) / r**2,
            lambda r: r * r / mp.expm1(r),
            -L * 1.01,
            L * 1.01,
            5,
            F,
        ),
        "f",
    ),
    "expm1_d": (
        lambda: fit(
            lambda r: (mp.exp(r) - 1 - r) / r**2,
            lambda r: r * r / mp.expm1(r),
            -L * 1.01,
            L * 1.01,
            10,
            D,
        ),
        "",
    ),
    # (2^r - 1) / r
    "exp2_f": (
        lambda: fit(lambda r: (2**r - 1) / r, lambda r: r / 2**r, -0.505, 0.505, 6, F),
        "f",
    ),
    "exp2_d": (
        lambda: fit(lambda r: (2**r - 1) / r, lambda r: r / 2**r, -0.505, 0.505, 11, D),
        "",
    ),
    # (log(1+f) - f + f^2/2) / f^3 on [sqrt(1/2), sqrt(2)]
    "log_f": (lambda: log_fit(8, F), "f"),
    "log_mid": (lambda: log_fit(11, D), ""),
    # log((1+s)/(1-s)) = 2 s + s^3 P(s^2)
    "log_d": (
        lambda: fit(
            lambda s: (mp.log((1 + s) / (1 - s)) - 2 * s) / s**3,
            lambda s: s**3 / mp.log((1 + s) / (1 - s)),
            1e-4,
            0.1717,
            6,
            D,
            lambda s: s * s,
        ),
        "",
    ),
    # the same without the term 2/3 s^3, for a logarithm in two parts
    "log_pow_d": (
        lambda: fit(
            lambda s: (mp.log((1 + s) / (1 - s)) - 2 * s - 2 * s**3 / 3) / s**5,
            lambda s: s**5 / mp.log((1 + s) / (1 - s)),
            1e-3,
            0.1717,
            7,
            D,
            lambda s: s * s,
        ),
        "",
    ),
    "tanh_f": (
        lambda: fit(
            lambda x: (mp.tanh(x) - x) / x**3,
            lambda x: x**3 / mp.tanh(x),
            1e-3,
            0.64,
            5,
            F,
            lambda x: x * x,
        ),
        "f",
    ),
    "sin_f": (
        lambda: fit(
            lambda x: (mp.sin(x) - x) / x**3,
            lambda x: x**3 / mp.sin(x),
            1e-3,
            0.79,
            3,
            F,
            lambda x: x * x,
        ),
        "f",
    ),
    "cos_f": (
        lambda: fit(
            lambda x: (mp.cos(x) - 1 + x * x / 2) / x**4,
            lambda x: x**4 / mp.cos(x),
            1e-2,
            0.79,
            2,
            F,
            lambda x: x * x,
        ),
        "f",
    ),
    "sin_mid": (
        lambda: fit(
            lambda x: (mp.sin(x) - x) / x**3,
            lambda x: x**3 / mp.sin(x),
            1e-3,
            0.79,
            3,
            D,
            lambda x: x * x,
        ),
        "",
    ),
    "cos_mid": (
        lambda: fit(
            lambda x: (mp.cos(x) - 1 + x * x / 2) / x**4,
            lambda x: x**4 / mp.cos(x),
            1e-2,
            0.79,
            2,
            D,
            lambda x: x * x,
        ),
        "",
    ),
    "sin_d": (
        lambda: fit(
            lambda x: (mp.sin(x) - x) / x**3,
            lambda x: x**3 / mp.sin(x),
            1e-3,
            0.79,
            6,
            D,
            lambda x: x * x,
        ),
        "",
    ),
    "cos_d": (
        lambda: fit(
            lambda x: (mp.cos(x) - 1 + x * x / 2) / x**4,
            lambda x: x**4 / mp.cos(x),
            1e-2,
            0.79,
            6,
            D,
            lambda x: x * x,
        ),
        "",
    ),
    # log(erfc(t)) + t, over t
    "erf_tail_f": (
        lambda: fit(
            lambda t: (mp.log(mp.erfc(t)) + t) / t,
            lambda t: t * mp.erfc(t),
            0.91,
            4.2,
            6,
            F,
        ),
        "f",
    ),
    # log(erfc(t)) + t^2 from 4 to where erfc leaves the range of float, about the middle; absolute error
    "erf_far_f": (
        lambda: fit(
            lambda u: mp.log(mp.erfc(u + 7)) + (u + 7) ** 2,
            lambda u: mp.mpf(1),
            -3.0,
            3.2,
            5,
            F,
        ),
        "f",
    ),
    # atan(q) / q and asin(a) / a - 1 over a^2
    "atan_mid": (
        lambda: fit(
            lambda q: mp.atan(q) / q,
            lambda q: q / mp.atan(q),
            1e-3,
            1,
            11,
            D,
            lambda q: q * q,
        ),
        "",
    ),
    "asin_mid": (
        lambda: fit(
            lambda a: (mp.asin(a) - a) / a**3,
            lambda a: a**3 / mp.asin(a),
            1e-2,
            0.5,
            6,
            D,
            lambda a: a * a,
        ),
        "",
    ),
    "asin_f": (
        lambda: fit(
            lambda a: (mp.asin(a) - a) / a**3,
            lambda a: a**3 / mp.asin(a),
            1e-2,
            0.5,
            4,
            F,
            lambda a: a * a,
        ),
        "f",
    ),
    "atan_d": (
        lambda: fit(
            lambda q: (mp.atan(q) - q) / q**3,
            lambda q: q**3 / mp.atan(q),
            1e-2,
            0.4143,
            10,
            D,
            lambda q: q * q,
        ),
        "",
    ),
    "asin_d": (
        lambda: fit(
            lambda a: (mp.asin(a) - a) / a**3,
            lambda a: a**3 / mp.asin(a),
            1e-2,
            0.5,
            12,
            D,
            lambda a: a * a,
        ),
        "",
    ),
    "erf_d": (
        lambda: fit(
            lambda x: mp.erf(x) / x - 1,
            lambda x: x / mp.erf(x),
            1e-3,
            1.0,
            13,
            D,
            lambda x: x * x,
        ),
        "",
    ),
    # erfinv(x) / x over w = -log(1 - x^2), and from w = 5 on over s = sqrt(w)
    "erfinv_f": (
        lambda: fit(
            lambda w: mp.erfinv(mp.sqrt(-mp.expm1(-w))) / mp.sqrt(-mp.expm1(-w)),
            lambda w: mp.sqrt(-mp.expm1(-w)) / mp.erfinv(mp.sqrt(-mp.expm1(-w))),
            1e-3,
            5.0,
            9,
            F,
            lambda w: w,
            400,
            True,
        ),
        "f",
    ),
    "erfinv_far_f": (
        lambda: fit(
            lambda s: mp.erfinv(mp.sqrt(-mp.expm1(-s * s))) / mp.sqrt(-mp.expm1(-s * s)),
            lambda s: 1 / mp.erfinv(mp.sqrt(-mp.expm1(-s * s))),
            2.236,
            4.02,
            9,
            F,
            lambda s: s - 3,
            400,
            True,
        ),
        "f",
    ),
    # I0(x) e^-x and I1(x) e^-x / x on [0, 8] over x/4 - 1; from 8 on times sqrt(x), over 16/x - 1
    "i0e_near_mid": (
        lambda: fit(i0e, lambda x: 1 / i0e(x), 1e-6, 8, 20, D, lambda x: x / 4 - 1, 300),
        "",
    ),
    "i1e_near_mid": (
        lambda: fit(
            lambda x: i1e(x) / x,
            lambda x: x / i1e(x),
            1e-6,
            8,
            20,
            D,
            lambda x: x / 4 - 1,
            300,
        ),
        "",
    ),
    "i0e_far_mid": (
        lambda: fit(
            lambda t: far(i0e, t),
            lambda t: 1 / far(i0e, t),
            -0.9999,
            1,
            8,
            D,
            lambda t: t,
            300,
        ),
        "",
    ),
    "i1e_far_mid": (
        lambda: fit(
            lambda t: far(i1e, t),
            lambda t: 1 / far(i1e, t),
            -0.9999,
            1,
            8,
            D,
            lambda t: t,
            300,
        ),
        "",
    ),
    "erf_f": (
        lambda: fit(
            lambda x: mp.erf(x) / x - 1,
            lambda x: x / mp.erf(x),
            1e-3,
            0.93,
            6,
            F,
            lambda x: x * x,
        ),
        "f",
    ),
}

if __name__ == "__main__":
    for name in sys.argv[1:] or FITS:
        make, suffix = FITS[name]
        show(name, make(), suffix)
