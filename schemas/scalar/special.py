"""Special functions. One build serves every instruction set where a loop over the function is not vectorised."""

from opgen.scalar import functions as fn
from opgen.scalar import scalar
from opgen.scalar.lang import error_if, where


def short_phase(function):
    """`function` where its argument is small enough for the short reduction of sine and cosine."""

    def narrow(x):
        return fn.trig_is_narrow(x), function(x)

    return narrow


@scalar(dtypes="floating", promote="int_to_float")
def erf(x):
    return fn.erf(x)


@scalar(dtypes="floating", promote="int_to_float")
def erfc(x):
    return where(x != x, x, fn.erfc(x))  # the NaN itself: its sign must not depend on the instruction chosen


@scalar(dtypes="floating", promote="int_to_float")
def erfinv(x):
    return fn.erfinv(x)


@scalar(dtypes="floating", promote="int_to_float")
def lgamma(x):
    return fn.lgamma(x)


@scalar(dtypes="floating", promote="int_to_float")
def digamma(x):
    return fn.digamma(x)


@scalar(dtypes="floating", promote="int_to_float")
def i0(x):
    return fn.bessel_i0(x)


@scalar(dtypes="floating", promote="int_to_float")
def special_i0e(x):
    return fn.bessel_i0e(x)


@scalar(dtypes="floating", promote="int_to_float")
def special_i1(x):
    return fn.bessel_i1(x)


@scalar(dtypes="floating", promote="int_to_float")
def special_i1e(x):
    return fn.bessel_i1e(x)


@scalar(dtypes="floating", promote="int_to_float", narrow=short_phase(fn.bessel_j0_narrow))
def special_bessel_j0(x):
    return fn.bessel_j0(x)


@scalar(dtypes="floating", promote="int_to_float", narrow=short_phase(fn.bessel_j1_narrow))
def special_bessel_j1(x):
    return fn.bessel_j1(x)


@scalar(dtypes="floating", promote="int_to_float", narrow=short_phase(fn.bessel_y0_narrow))
def special_bessel_y0(x):
    return fn.bessel_y0(x)


@scalar(dtypes="floating", promote="int_to_float", narrow=short_phase(fn.bessel_y1_narrow))
def special_bessel_y1(x):
    return fn.bessel_y1(x)


@scalar(dtypes="floating", promote="int_to_float")
def special_erfcx(x):
    return fn.erfcx(x)


@scalar(dtypes="floating", promote="int_to_float")
def special_ndtri(x):
    return fn.ndtri(x)


@scalar(dtypes="floating", promote="int_to_float")
def special_log_ndtr(x):
    return fn.log_ndtr(x)


@scalar(dtypes="floating", isa="base")
def igamma(a, x):
    return fn.igamma(a, x)


@scalar(dtypes="floating", isa="base")
def igammac(a, x):
    return fn.igammac(a, x)


@scalar(dtypes="floating", promote="int_to_float", isa="base")
def special_zeta(x, q):
    return fn.zeta(x, q)


@scalar(dtypes="floating", promote="int_to_float", params=("n:int",), isa="base")
def polygamma(x, n):
    return fn.polygamma(n, x)


@scalar(dtypes="floating", promote="int_to_float")
def special_ndtr(x):
    return where(x != x, x, 0.5 * fn.erfc(x * -0.7071067811865476))  # the NaN that came in, whatever computes it


@scalar(dtypes="floating", promote="int_to_float")
def special_entr(x):
    return where(x != x, x, where(x > 0, -x * fn.log(x), where(x == 0, x.like(0), -float("inf"))))


@scalar(dtypes="floating", promote="int_to_float", isa="base")
def special_modified_bessel_k0(x):
    return fn.modified_bessel_k0(x)


@scalar(dtypes="floating", promote="int_to_float", isa="base")
def special_modified_bessel_k1(x):
    return fn.modified_bessel_k1(x)


@scalar(dtypes="floating", promote="int_to_float", isa="base")
def special_scaled_modified_bessel_k0(x):
    return fn.scaled_modified_bessel_k0(x)


@scalar(dtypes="floating", promote="int_to_float", isa="base")
def special_scaled_modified_bessel_k1(x):
    return fn.scaled_modified_bessel_k1(x)


@scalar(dtypes="floating", promote="int_to_float", isa="base")
def special_spherical_bessel_j0(x):
    return fn.spherical_bessel_j0(x)


@scalar(dtypes="floating", promote="int_to_float", isa="base")
def special_airy_ai(x):
    return fn.airy_ai(x)


@scalar(dtypes="floating", promote="int_to_float", isa="base")
def special_chebyshev_polynomial_t(x, n):
    return fn.chebyshev_polynomial_t(x, n)


@scalar(dtypes="floating", promote="int_to_float", isa="base")
def special_chebyshev_polynomial_u(x, n):
    return fn.chebyshev_polynomial_u(x, n)


@scalar(dtypes="floating", promote="int_to_float", isa="base")
def special_chebyshev_polynomial_v(x, n):
    return fn.chebyshev_polynomial_v(x, n)


@scalar(dtypes="floating", promote="int_to_float", isa="base")
def special_chebyshev_polynomial_w(x, n):
    return fn.chebyshev_polynomial_w(x, n)


@scalar(dtypes="floating", promote="int_to_float", isa="base")
def special_shifted_chebyshev_polynomial_t(x, n):
    return fn.shifted_chebyshev_polynomial_t(x, n)


@scalar(dtypes="floating", promote="int_to_float", isa="base")
def special_shifted_chebyshev_polynomial_u(x, n):
    return fn.shifted_chebyshev_polynomial_u(x, n)


@scalar(dtypes="floating", promote="int_to_float", isa="base")
def special_shifted_chebyshev_polynomial_v(x, n):
    return fn.shifted_chebyshev_polynomial_v(x, n)


@scalar(dtypes="floating", promote="int_to_float", isa="base")
def special_shifted_chebyshev_polynomial_w(x, n):
    return fn.shifted_chebyshev_polynomial_w(x, n)


@scalar(dtypes="floating", promote="int_to_float", isa="base")
def special_hermite_polynomial_h(x, n):
    return fn.hermite_polynomial_h(x, n)


@scalar(dtypes="floating", promote="int_to_float", isa="base")
def special_hermite_polynomial_he(x, n):
    return fn.hermite_polynomial_he(x, n)


def check_degree(n):
    """Their recurrences neither end nor overflow, and have no closed form."""
    error_if(n > 1048576, "RuntimeError", "the degree n is above 1048576, the largest that is computed")


@scalar(dtypes="floating", promote="int_to_float", isa="base")
def special_laguerre_polynomial_l(x, n):
    check_degree(n)
    return fn.laguerre_polynomial_l(x, n)


@scalar(dtypes="floating", promote="int_to_float", isa="base")
def special_legendre_polynomial_p(x, n):
    check_degree(n)
    return fn.legendre_polynomial_p(x, n)
