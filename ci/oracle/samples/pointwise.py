"""Pointwise operators: each with several shapes and memory layouts."""

from __future__ import annotations

from . import calls, lines

UNARY_ALL = "abs neg positive square sgn isnan isfinite isinf logical_not clone"
UNARY_NUM = "sign ceil floor trunc round relu"
UNARY_FLOAT = (
    "exp exp2 expm1 sin cos tan asin acos atan sinh cosh tanh asinh atanh erf erfc erfinv sigmoid frac reciprocal "
    "digamma lgamma"
)
UNARY_POSITIVE = "log log2 log10 log1p sqrt rsqrt"
BINARY_ALL = "add mul eq ne logical_and logical_or logical_xor"
BINARY_NUM = "sub maximum minimum lt le gt ge fmax fmin"
BINARY_DIVIDE = "div remainder fmod floor_divide pow"
BINARY_FLOAT = "atan2 logaddexp"
BINARY_BITS = "bitwise_and bitwise_or bitwise_xor"
ACTIVATIONS = "relu silu softplus elu leaky_relu hardswish hardtanh mish gelu relu6 selu celu logsigmoid softsign tanhshrink hardsigmoid"

ALIASES_UNARY = "absolute negative fix arcsin arccos arctan arcsinh arctanh"
ALIASES_BINARY = "subtract multiply greater greater_equal less less_equal not_equal"

UNARY_FORMS = ("t()", "t(0, 3)", "t(37)", "nc(3, 4)", "sl(5, 6)")
BINARY_FORMS = ("t(), t()", "t(3, 1), t(4)", "t(65), t(65)", "nc(3, 4), t(3, 4)", "t(0, 3), t(3)", "sl(4, 6), nc(4, 6)")


def with_maker(forms: tuple[str, ...], maker: str) -> tuple[str, ...]:
    return tuple(f.replace("t(", f"{maker}(").replace("nc(", f"{maker}(").replace("sl(", f"{maker}(") for f in forms)


SAMPLES = [
    *calls("a", UNARY_ALL, UNARY_FORMS),
    *calls("n", UNARY_NUM, UNARY_FORMS),
    *calls("n", UNARY_FLOAT, with_maker(UNARY_FORMS, "u")),
    *calls("n", UNARY_POSITIVE, with_maker(UNARY_FORMS, "p")),
    *calls("c", "exp sin cos tanh sqrt log sigmoid", ("t(7)", "nc(3, 4)")),
    *calls("a", BINARY_ALL, BINARY_FORMS),
    *calls("n", BINARY_NUM, BINARY_FORMS),
    *calls("n", BINARY_DIVIDE, tuple(f.split(", t(")[0] + ", p(" + f.split(", t(")[1] for f in BINARY_FORMS[:3])),
    *calls("f", BINARY_FLOAT, BINARY_FORMS),
    *calls("b", BINARY_BITS, BINARY_FORMS[:4]),
    *calls("b", "bitwise_not", UNARY_FORMS),
    *calls("h", ACTIVATIONS, UNARY_FORMS, "F"),
    *calls("n", "deg2rad rad2deg signbit", UNARY_FORMS[:3]),
    *calls("f", "isposinf isneginf i0 sinc nan_to_num logit", UNARY_FORMS[:3]),
    *calls("a", "conj_physical conj real angle isreal resolve_conj resolve_neg", UNARY_FORMS[:4]),
    *calls("f", "logaddexp2 nextafter copysign hypot", BINARY_FORMS),
    *calls("a", "float_power isclose", ("t(5), p(5)", "t(3, 4), p(4)")),
    *calls("i", "gcd lcm bitwise_left_shift", ("p(5), p(5)", "p(3, 4), p(4)")),
    *calls("i", "bitwise_right_shift", ("t(5), p(5)",)),
    *calls("f", ALIASES_UNARY, ("u(5)",)),
    *calls("n", ALIASES_BINARY, ("t(3, 4), t(4)",)),
    *lines("c", """
        fl.imag(fl.complex(f(3), f(3)))
        fl.view_as_real(t(3) * 1j)
        t(3) * (1 + 2j)
        fl.addcmul(t(3), t(3), t(3), value=0.5)
        fl.rsub(t(3), t(3), alpha=2)
        fl.abs(t(3) * 1j)
        fl.angle(t(3) * 1j)
    """),
    *lines("n", """
        fl.rsub(t(3), 2)
        fl.rsub(t(3), t(3), alpha=2)
        fl.clamp_min(t(9), 0)
        fl.clamp_max(t(3, 3), t(3))
        fl.clip(t(9), -1, 1)
        fl.ldexp(f(3), i(4, 3))
        fl.allclose(t(4), t(4))
        fl.true_divide(t(4), p(4))
        fl.sub(t(3), 2, alpha=3)
        fl.add(5, t(3))
        fl.mul(t(3), True)
        fl.where(m(3), 1, t(3))
        fl.where(m(3), t(), t(3))
        fl.pow(2, u(3))
        fl.pow(p(3), 3)
        fl.eq(t(3), 1.5)
        fl.maximum(t(3), t(3, 1))
        t(3).__radd__(2)
        t(3).__rmul__(2)
        t(3).__rsub__(2)
        p(3).__rdiv__(2)
        p(3).__rmod__(7)
        u(3).__rpow__(2)
        t(3, 4).sub_(t(4), alpha=2)
        t(3).clamp_(-1, 1)
    """),
    *lines("b", """
        t(3).__rand__(1)
        t(3).__ror__(1)
        t(3).__rxor__(1)
        t(3) & t(3)
        t(3) | True
        ~t(3)
        t(3).logical_not_()
    """),
    *lines("f", """
        fl.frexp(t(5))
        F.hardshrink(t(9), 0.3)
        F.softshrink(t(9), 0.3)
        F.prelu(t(9), t(1))
        F.rrelu(t(9))
        F.threshold(nc(3, 4), 0.1, 2.0)
        F.celu(t(9), 0.7)
        F.relu(t(9), inplace=True)
        F.silu(t(9), inplace=True)
        fl.logit(u(5).abs())
        fl.acosh(p(5) + 1)
        t(2, 3).div_(p(3))
        fl.exp(t(3), out=fl.empty(0, dtype=dt))
        fl.lerp(t(3), t(3), u(3))
        fl.addcdiv(t(3), t(3), p(3), value=2)
        fl.round(t(9), decimals=2)
        fl.round(t(9) * 100, decimals=-1)
        F.gelu(t(9), approximate='tanh')
        F.softplus(t(9), beta=2, threshold=1)
        F.elu(t(9), alpha=0.5)
        F.leaky_relu(t(9), 0.2)
        F.hardtanh(t(9), -0.5, 0.5)
        F.dropout(t(9), 0.5, training=False)
        F.threshold(t(9), 0.1, 20.0)
        F.glu(t(4, 6), 1)
        fl.isclose(t(4), t(4))
        fl.nan_to_num(t(4) / 0)
        fl.copysign(t(4), t(4))
        fl.hypot(t(4), t(4))
        fl.xlogy(p(4), p(4))
    """),
    *lines("a", """
        t(3) + 1
        t(3) * 2.5
        1 + t(3)
        t(3) == 1
        fl.where(m(3, 4), t(3, 4), t(4))
        t(3).to(fl.float32)
    """),
    *lines("n", """
        2 - t(3)
        1 / p(3)
        p(3) ** 2
        2 ** u(3)
        t(3) // 2
        t(3) % 3
        -t(3)
        t(3) < f(3)
        t(3) + f(3)
        f() + t(3)
        t() + f(3)
        t(3) * m(3)
        fl.add(t(3), t(3), alpha=2)
        fl.sub(t(3), t(3), alpha=2)
        t(2, 3).add_(t(3))
        t(2, 3).mul_(2)
        fl.add(t(3), t(3), out=fl.empty(3, dtype=dt))
        fl.div(t(4), p(4), rounding_mode='floor')
        fl.div(t(4), p(4), rounding_mode='trunc')
        fl.clamp(t(9), -1, 1)
        fl.clamp(t(9), min=0)
        fl.clamp(t(3, 3), t(3), t(3, 1))
        fl.where(m(3), t(3), 0)
        fl.addcmul(t(3), t(3), t(3), value=2)
        t(5).to(fl.int64)
        t(5).bool()
        t(5).half()
        t(5).to(fl.bfloat16)
        fl.equal(t(4), t(4))
        fl.heaviside(t(4), t(4))
    """),
    *lines("h", """
        fl.lerp(t(3), t(3), 0.3)
    """),
    *lines("i", """
        t(4) << 1
        p(4) >> 1
        t(3).div_(2)
    """),
    *lines("-", """
        fl.add(t(3), t(4))
        t(2, 3) * t(2)
        fl.add(t(3), 'a')
        fl.bitwise_and(t(3), t(3))
        fl.clamp(t(3))
        t(3).add_(t(2, 3))
        fl.add(t(3))
        fl.exp(t(3), out=fl.empty(3, dtype=fl.int64))
        fl.div(t(3), t(3), rounding_mode='up')
    """),
]  # fmt: skip
