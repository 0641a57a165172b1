"""Minimax coefficients of packages/aten-kernels/csrc/math/bessel_jy.h. Run as `python bessel.py`; needs mpmath.

Errors are absolute, since J and Y have zeros that no polynomial hits exactly.
"""

import mpmath as mp
from minimax import Fn, Target, fit, show

mp.mp.dps = 40
TWO_OVER_PI = 2 / mp.pi


def near(t: mp.mpf) -> mp.mpf:
    """x for t = x^2 / 32 - 1."""
    return mp.sqrt(32 * (t + 1))


def y0_rest(x: mp.mpf) -> mp.mpf:
    return mp.bessely(0, x) - TWO_OVER_PI * mp.log(x) * mp.besselj(0, x)


def y1_rest(x: mp.mpf) -> mp.mpf:
    return (mp.bessely(1, x) - TWO_OVER_PI * (mp.log(x) * mp.besselj(1, x) - 1 / x)) / x


def hankel(order: int, t: mp.mpf) -> tuple[mp.mpf, mp.mpf]:
    """P and x/8 Q of J = sqrt(2/(pi x)) (P cos u - Q sin u), Y = ... (P sin u + Q cos u), at t = 2 (8/x)^2 - 1."""
    x = 8 / mp.sqrt((t + 1) / 2)
    phase = x - (2 * order + 1) * mp.pi / 4
    j, y = mp.besselj(order, x), mp.bessely(order, x)
    scale = mp.sqrt(mp.pi * x / 2)
    p = scale * (j * mp.cos(phase) + y * mp.sin(phase))
    q = scale * (y * mp.cos(phase) - j * mp.sin(phase))
    return p, q * x / 8


def show_absolute(name: str, g: Fn, low: float, degree: int) -> None:
    show(name, fit(Target(g, lambda t: mp.mpf(1)), low, 1, degree, is_single=False, grid=160), False)


if __name__ == "__main__":
    show_absolute("j0_near", lambda t: mp.besselj(0, near(t)), -1, 18)
    show_absolute("j1_near", lambda t: mp.besselj(1, near(t)) / near(t), -0.99999, 17)
    show_absolute("y0_near", lambda t: y0_rest(near(t)), -0.99999, 18)
    show_absolute("y1_near", lambda t: y1_rest(near(t)), -0.9999, 17)
    for order in (0, 1):
        for k, name in enumerate("pq"):
            show_absolute(f"{name}{order}_far", lambda t, order=order, k=k: hankel(order, t)[k], -0.9995, 12)
