"""Rational approximations P/Q of the scalar math library, by reweighted linear least squares in mpmath.

`|P/Q / f - 1|` is made small on an interval, Q monic. Each round solves the linear problem |P - f Q| / (f Q_previous) with
weights raised where the error was large (Lawson). Run as `python rational.py`; prints coefficients, lowest order
first, with log2 of the error that was reached.
"""

from collections.abc import Callable

import mpmath as mp

mp.mp.dps = 60
Fn = Callable[[mp.mpf], mp.mpf]


def fit(f: Fn, low: float, high: float, degree: int, points: int = 160, rounds: int = 12) -> tuple[mp.mpf, list, list]:
    """Error reached and the coefficients of P, of this degree, and of Q, one degree higher."""
    # Chebyshev nodes in (a - 3) / (a + 3), so that a long interval does not starve its lower end.
    ends = [(mp.mpf(a) - 3) / (mp.mpf(a) + 3) for a in (low, high)]
    nodes = [
        sum(ends) / 2 + (ends[1] - ends[0]) / 2 * mp.cos(mp.pi * (k + mp.mpf(0.5)) / points) for k in range(points)
    ]
    xs = [3 * (1 + t) / (1 - t) for t in nodes]
    fs = [f(x) for x in xs]
    n = degree + 1
    weights = [mp.mpf(1)] * points
    previous = [(1 + x) ** n for x in xs]
    best: tuple[mp.mpf, list, list] | None = None
    for _ in range(rounds):
        a = mp.matrix(points, 2 * n)
        b = mp.matrix(points, 1)
        for i, x in enumerate(xs):
            scale = mp.sqrt(weights[i]) / (previous[i] * fs[i])
            for j in range(n):
                a[i, j] = scale * x**j
                a[i, n + j] = -scale * fs[i] * x**j
            b[i] = scale * fs[i] * x**n
        solved = mp.qr_solve(a, b)[0]
        p = [solved[j] for j in range(n)]
        q = [solved[n + j] for j in range(n)] + [mp.mpf(1)]
        previous = [mp.polyval(q[::-1], x) for x in xs]
        errors = [abs(mp.polyval(p[::-1], x) / d / v - 1) for x, d, v in zip(xs, previous, fs, strict=True)]
        top = max(errors)
        if best is None or top < best[0]:
            best = (top, p, q)
        weights = [w * (e / top + mp.mpf("1e-6")) for w, e in zip(weights, errors, strict=True)]
        total = sum(weights)
        weights = [w / total * points for w in weights]
    assert best is not None
    return best


def erfcx(a: mp.mpf) -> mp.mpf:
    """erfc(a) e^(a^2)."""
    return mp.exp(a * a) * mp.erfc(a)


def erfcx_excess(a: mp.mpf) -> mp.mpf:
    """S of erfcx(a) = (1 + a S(a)) / (1 + 2a)."""
    return ((1 + 2 * a) * erfcx(a) - 1) / a


if __name__ == "__main__":
    for name, f, high, degree in (("erfcx_mid", erfcx, 10.5, 5), ("erfcx_excess", erfcx_excess, 28.0, 9)):
        top, p, q = fit(f, 0.0, high, degree)
        print(f"// {name}: 2^{float(mp.log(top, 2)):.1f}")
        print("P", ", ".join(repr(float(c)) for c in p))
        print("Q", ", ".join(repr(float(c)) for c in q), flush=True)
