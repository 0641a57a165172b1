"""The minimax polynomials of the elementary and special functions in packages/aten-kernels/csrc/math.

Run as `python elementary.py [NAME ...]`; prints C++ initialisers with log2 of the error that was reached. Needs mpmath.
A name ends with the type that evaluates the polynomial: `_f` float, `_d` double, `_mid` double for a float result.
"""

import sys

import mpmath as mp
from minimax import Fn, Target, fit, relative, show

LOG2_HALF = mp.log(2) / 2 * 1.01


def square(x: mp.mpf) -> mp.mpf:
    return x * x


def itself(x: mp.mpf) -> mp.mpf:
    return x


def zero(_: mp.mpf) -> mp.mpf:
    return mp.mpf(0)


def log_ratio(s: mp.mpf) -> mp.mpf:
    return mp.log((1 + s) / (1 - s))


def i0e(x: mp.mpf) -> mp.mpf:
    return mp.besseli(0, x) * mp.exp(-x)


def i1e(x: mp.mpf) -> mp.mpf:
    return mp.besseli(1, x) * mp.exp(-x)


def far(f: Fn) -> Fn:
    """sqrt(x) f(x) at x = 16 / (t + 1)."""
    return lambda t: f(16 / (t + 1)) * mp.sqrt(16 / (t + 1))


def erfinv_argument(w: mp.mpf) -> mp.mpf:
    """x for w = -log(1 - x^2)."""
    return mp.sqrt(-mp.expm1(-w))


def erfinv_at(w: mp.mpf) -> mp.mpf:
    return mp.erfinv(erfinv_argument(w))


EXP = relative(mp.exp, lambda r: 1 + r, 2)
EXPM1 = Target(EXP.function, lambda r: r * r / mp.expm1(r))
EXP2 = relative(lambda r: 2**r, lambda r: 1, 1)
LOG1P = relative(lambda f: mp.log(1 + f), lambda f: f - f * f / 2, 3)
# in s of log((1 + s) / (1 - s)); for a logarithm in two parts without the term 2/3 s^3
LOG_RATIO = relative(log_ratio, lambda s: 2 * s, 3)
LOG_RATIO_TAIL = relative(log_ratio, lambda s: 2 * s + 2 * s**3 / 3, 5)
TANH = relative(mp.tanh, itself, 3)
SIN = relative(mp.sin, itself, 3)
COS = relative(mp.cos, lambda x: 1 - x * x / 2, 4)
ATAN_WHOLE = relative(mp.atan, zero, 1)
ATAN = relative(mp.atan, itself, 3)
ASIN = relative(mp.asin, itself, 3)
ERF = relative(mp.erf, itself, 1)
# log(erfc(t)) + t, over t
ERF_TAIL = Target(lambda t: (mp.log(mp.erfc(t)) + t) / t, lambda t: t * mp.erfc(t))
# log(erfc(t)) + t^2 from 4 to where erfc leaves the range of float, about the middle; absolute error
ERF_FAR = Target(lambda u: mp.log(mp.erfc(u + 7)) + (u + 7) ** 2, lambda u: mp.mpf(1))
# erfinv(x) / x over w = -log(1 - x^2), and from w = 5 on over s = sqrt(w)
ERFINV = Target(lambda w: erfinv_at(w) / erfinv_argument(w), lambda w: erfinv_argument(w) / erfinv_at(w))
ERFINV_FAR = Target(lambda s: erfinv_at(s * s) / erfinv_argument(s * s), lambda s: 1 / erfinv_at(s * s))

LOG_ENDS = (float(mp.sqrt(0.5) - 1), float(mp.sqrt(2) - 1))
EXP_ENDS = (-LOG2_HALF, LOG2_HALF)
# I0(x) e^-x and I1(x) e^-x / x on [0, 8] over x/4 - 1; from 8 on times sqrt(x), over 16/x - 1
NEAR = {"v": lambda x: x / 4 - 1, "grid": 300}
FAR = {"grid": 300}

# name: target, interval, degree, and where they are not the default: the variable, the grid, whether rounded at once
FITS: dict[str, tuple] = {
    "exp_f": (EXP, EXP_ENDS, 4),
    "exp_d": (EXP, EXP_ENDS, 9),
    "exp_mid": (EXP, EXP_ENDS, 6),
    "expm1_f": (EXPM1, EXP_ENDS, 5),
    "expm1_d": (EXPM1, EXP_ENDS, 10),
    "exp2_f": (EXP2, (-0.505, 0.505), 6),
    "exp2_d": (EXP2, (-0.505, 0.505), 11),
    "log_f": (LOG1P, LOG_ENDS, 8),
    "log_mid": (LOG1P, LOG_ENDS, 11),
    "log_d": (LOG_RATIO, (1e-4, 0.1717), 6, {"v": square}),
    "log_pow_d": (LOG_RATIO_TAIL, (1e-3, 0.1717), 7, {"v": square}),
    "tanh_f": (TANH, (1e-3, 0.64), 5, {"v": square}),
    "sin_f": (SIN, (1e-3, 0.79), 3, {"v": square}),
    "cos_f": (COS, (1e-2, 0.79), 2, {"v": square}),
    "sin_mid": (SIN, (1e-3, 0.79), 3, {"v": square}),
    "cos_mid": (COS, (1e-2, 0.79), 2, {"v": square}),
    "sin_d": (SIN, (1e-3, 0.79), 6, {"v": square}),
    "cos_d": (COS, (1e-2, 0.79), 6, {"v": square}),
    "erf_tail_f": (ERF_TAIL, (0.91, 4.2), 6),
    "erf_far_f": (ERF_FAR, (-3.0, 3.2), 5),
    "atan_mid": (ATAN_WHOLE, (1e-3, 1), 11, {"v": square}),
    "asin_mid": (ASIN, (1e-2, 0.5), 6, {"v": square}),
    "asin_f": (ASIN, (1e-2, 0.5), 4, {"v": square}),
    "atan_d": (ATAN, (1e-2, 0.4143), 10, {"v": square}),
    "asin_d": (ASIN, (1e-2, 0.5), 12, {"v": square}),
    "erf_d": (ERF, (1e-3, 1.0), 13, {"v": square}),
    "erfinv_f": (ERFINV, (1e-3, 5.0), 9, {"grid": 400, "at_once": True}),
    "erfinv_far_f": (ERFINV_FAR, (2.236, 4.02), 9, {"v": lambda s: s - 3, "grid": 400, "at_once": True}),
    "i0e_near_mid": (relative(i0e, zero, 0), (1e-6, 8), 20, NEAR),
    "i1e_near_mid": (relative(i1e, zero, 1), (1e-6, 8), 20, NEAR),
    "i0e_far_mid": (relative(far(i0e), zero, 0), (-0.9999, 1), 8, FAR),
    "i1e_far_mid": (relative(far(i1e), zero, 0), (-0.9999, 1), 8, FAR),
    "erf_f": (ERF, (1e-3, 0.93), 6, {"v": square}),
}


def main(names: list[str]) -> None:
    for name in names or FITS:
        target, (low, high), degree, *rest = FITS[name]
        options = dict(*rest)
        show(name, fit(target, low, high, degree, is_single=name.endswith("_f"), **options), name.endswith("_f"))


if __name__ == "__main__":
    main(sys.argv[1:])
