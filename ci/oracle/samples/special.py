"""Special functions."""

from __future__ import annotations

from . import calls, lines

FORMS = ("u(37)", "u(3, 4)", "u()")
UNARY = (
    "airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1 digamma entr erf erfc erfcx erfinv exp2 expit expm1 gammaln i0 i0e i1 i1e "
    "log1p log_ndtr modified_bessel_i0 modified_bessel_i1 modified_bessel_k0 modified_bessel_k1 ndtr psi round "
    "scaled_modified_bessel_k0 scaled_modified_bessel_k1 sinc spherical_bessel_j0"
)
POLYNOMIALS = (
    "chebyshev_polynomial_t chebyshev_polynomial_u chebyshev_polynomial_v chebyshev_polynomial_w hermite_polynomial_h "
    "hermite_polynomial_he laguerre_polynomial_l legendre_polynomial_p shifted_chebyshev_polynomial_t "
    "shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v shifted_chebyshev_polynomial_w"
)

SAMPLES = [
    *calls("f", UNARY, (*FORMS, "t(9) * 3"), "fl.special"),
    *calls("f", POLYNOMIALS, ("u(9), 3", "t(9), i(6, 9)", "u(3, 4), i(4, 4)"), "fl.special"),
    *calls("f", "gammainc gammaincc xlog1py xlogy", ("p(9), p(9)", "p(3, 1), p(4)"), "fl.special"),
    *calls("f", "igamma igammac", ("p(9), p(9)", "p(3, 1), p(4)")),
    *calls("f", "i0 sinc digamma lgamma logit", FORMS),
    *lines("f", """
        fl.special.ndtri(p(9) / 9)
        fl.special.logit(p(9) / 9, 0.1)
        fl.logit(p(9) / 9)
        fl.special.zeta(p(9) + 1, p(9))
        fl.special.polygamma(1, p(9))
        fl.polygamma(2, p(3, 4))
        fl.special.multigammaln(p(9) + 2, 2)
        fl.mvlgamma(p(3, 4) + 2, 3)
        fl.special.logsumexp(t(3, 4), 1)
        fl.special.softmax(t(3, 4), 1)
        fl.special.log_softmax(t(3, 4), 1)
        fl.polygamma(0, p(9))
    """),
]  # fmt: skip
