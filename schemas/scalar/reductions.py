"""Reductions. Sums of half kinds accumulate in float32, of integers and bool in int64."""

from opgen.scalar import functions as fn
from opgen.scalar.lang import cast, make_complex, where
from opgen.scalar.reduction import reduction
from opgen.scalar.types import BOOL, I64

LAST = (1 << 63) - 1
"""An index that comes after every other."""


def lowest(t):
    return False if t.is_bool else -float("inf") if t.is_floating else t.min


def highest(t):
    return True if t.is_bool else float("inf") if t.is_floating else t.max


def over(a, count):
    """a / count"""
    n = cast(count, a.type.real)
    return make_complex(a.real / n, a.imag / n) if a.is_complex else a / n


def modulus(x):
    if x.is_complex:
        return fn.cabs(x)
    return fn.fabs(x) if x.is_floating else where(x < 0, -x, x)


@reduction(dtypes="all", accumulators=("sum",))
class sum_:
    def identity(t):
        return 0

    def combine(a, b):
        return a + b


@reduction(dtypes="floating|complex", accumulators=("sum",))
class nansum(sum_):
    def load(x):
        return where(x != x, 0, x)


@reduction(dtypes="float_complex", accumulators=("sum",))
class mean(sum_):
    def finish(a, count):
        return over(a, count)


@reduction(dtypes="all", accumulators=("sum",))
class prod:
    def identity(t):
        return 1

    def combine(a, b):
        return a * b


def larger(a, b):
    if a.is_bool:
        return a | b
    r = where(a > b, a, b)
    return where(a != a, a, r) if a.is_floating else r


def smaller(a, b):
    if a.is_bool:
        return a & b
    r = where(a < b, a, b)
    return where(a != a, a, r) if a.is_floating else r


@reduction(dtypes="real")
class amax:
    def identity(t):
        return lowest(t)

    def combine(a, b):
        return larger(a, b)


@reduction(dtypes="real")
class amin:
    def identity(t):
        return highest(t)

    def combine(a, b):
        return smaller(a, b)


@reduction(dtypes="real", accumulators=("compute", "compute"))
class aminmax:
    def identity(t):
        return highest(t), lowest(t)

    def load(x):
        return x, x

    def combine(a, b):
        return smaller(a[0], b[0]), larger(a[1], b[1])


def first_of(a, b, is_better):
    """Of two (value, index) pairs the better one; NaN beats all, and of equals the one with the lower index wins."""
    (x, i), (y, j) = a, b
    better, same = is_better(y, x), y == x
    if x.is_floating:
        x_is_nan, y_is_nan = x != x, y != y
        better = (better & ~x_is_nan) | (y_is_nan & ~x_is_nan)
        same = same | (x_is_nan & y_is_nan)
    take = better | (same & (j < i))
    return where(take, y, x), where(take, j, i)


def is_larger(y, x):
    return y & ~x if x.is_bool else y > x


def is_smaller(y, x):
    return x & ~y if x.is_bool else y < x


@reduction(dtypes="real", accumulators=("compute", "int64"))
class max_:
    def identity(t):
        return lowest(t), LAST

    def load(x, index):
        return x, index

    def combine(a, b):
        return first_of(a, b, is_larger)


@reduction(dtypes="real", accumulators=("compute", "int64"))
class min_:
    def identity(t):
        return highest(t), LAST

    def load(x, index):
        return x, index

    def combine(a, b):
        return first_of(a, b, is_smaller)


@reduction(dtypes="real", accumulators=("compute", "int64"), results=("int64",))
class argmax(max_):
    def finish(a, count):
        return a[1]


@reduction(dtypes="real", accumulators=("compute", "int64"), results=("int64",))
class argmin(min_):
    def finish(a, count):
        return a[1]


@reduction(dtypes="all", accumulators=("bool",))
class any_:
    def identity(t):
        return False

    def load(x):
        return cast(x, BOOL)

    def combine(a, b):
        return a | b


@reduction(dtypes="all", accumulators=("bool",))
class all_:
    def identity(t):
        return True

    def load(x):
        return cast(x, BOOL)

    def combine(a, b):
        return a & b


@reduction(dtypes="all", accumulators=("int64",))
class count_nonzero(sum_):
    def load(x):
        return cast(cast(x, BOOL), I64)


@reduction(dtypes="float_complex", accumulators=("real",))
class norm0(sum_):
    def load(x):
        return cast(cast(x, BOOL), x.type.real)


@reduction(dtypes="float_complex", accumulators=("real",))
class norm1(sum_):
    def load(x):
        return modulus(x)


@reduction(dtypes="float_complex", accumulators=("real",))
class norm2(sum_):
    def load(x):
        return x.real * x.real + x.imag * x.imag if x.is_complex else x * x

    def finish(a, count):
        return fn.sqrt(a)


@reduction(dtypes="float_complex", accumulators=("real",))
class norm_inf:
    def identity(t):
        return 0

    def load(x):
        return modulus(x)

    def combine(a, b):
        return larger(a, b)


@reduction(dtypes="float_complex", accumulators=("real",))
class norm_neg_inf:
    def identity(t):
        return float("inf")

    def load(x):
        return modulus(x)

    def combine(a, b):
        return smaller(a, b)


@reduction(dtypes="float_complex", accumulators=("real",), params=("p:double",))
class norm_p(sum_):
    def load(x, p):
        return fn.pow(modulus(x), cast(p, x.type.real))

    def finish(a, count, p):
        return fn.pow(a, 1 / cast(p, a.type))


def join_moments(a, b):
    """(mean, sum of squared deviations, count) of two parts together: Chan, Golub, LeVeque 1983."""
    (mean_a, m_a, n_a), (mean_b, m_b, n_b) = a, b
    n = n_a + n_b
    share = where(n == 0, 0, n_b / n)
    d = mean_b - mean_a
    return mean_a + d * share, m_a + m_b + d * d * n_a * share, n


def add_to_moments(a, x, n):
    """One element more: Welford 1962. The division is by a number that whole rows share."""
    mean, m, _ = a
    d = x - mean
    updated = mean + d * (1 / n)
    return updated, m + d * (x - updated), n


def variance_of(a, count, correction):
    """NaN where no degree of freedom is left."""
    degrees = cast(count, correction.type) - correction
    degrees = cast(where(degrees < 0, 0, degrees), a[1].type)
    return a[1] / degrees


@reduction(dtypes="floating", accumulators=("compute",) * 3, results=("compute",), params=("correction:double",))
class var:
    def identity(t):
        return 0, 0, 0

    def combine(a, b):
        return join_moments(a, b)

    def accumulate(a, x, n):
        return add_to_moments(a, x, n)

    def finish(a, count, correction):
        return variance_of(a, count, correction)


@reduction(
    dtypes="floating", accumulators=("compute",) * 3, results=("compute", "compute"), params=("correction:double",)
)
class var_mean(var):
    def finish(a, count, correction):
        return variance_of(a, count, correction), where(cast(count, correction.type) == 0, float("nan"), a[0])
