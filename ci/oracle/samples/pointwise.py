"""Pointwise operators: each with several shapes and memory layouts."""

from __future__ import annotations

from . import lines

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

UNARY_FORMS = ("t()", "t(0, 3)", "t(37)", "nc(3, 4)", "sl(5, 6)")
BINARY_FORMS = ("t(), t()", "t(3, 1), t(4)", "t(65), t(65)", "nc(3, 4), t(3, 4)", "t(0, 3), t(3)", "sl(4, 6), nc(4, 6)")


def calls(dtypes: str, names: str, forms: tuple[str, ...], prefix: str = "fl") -> list[tuple[str, str]]:
    return [(dtypes, f"{prefix}.{name}({form})") for name in names.split() for form in forms]


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
    *lines("f", """
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
