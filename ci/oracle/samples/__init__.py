"""Expressions that both frameworks evaluate. Each module has SAMPLES: list of (dtypes, expression).

Names in an expression (see `inputs.py`): `fl` the framework, `F` its nn.functional, `t(...)` a tensor of the dtype under
test with that shape, `p(...)` a positive one, `u(...)` one in (-0.9, 0.9), `nc(...)` a transposed one, `sl(...)` a strided one,
`i(n, ...)` int64 indices below n, `m(...)` a mask, `f(...)` a float32 tensor whatever the dtype under test, `dt` that dtype.

dtypes: f float32 and float64; h also float16 and bfloat16; n also int64, int32, uint8; a also bool and complex64;
i int64, int32, uint8; b bool and i; c complex64 and f; - once, with float32.
"""

from __future__ import annotations


def lines(dtypes: str, text: str) -> list[tuple[str, str]]:
    """A sample per line of `text`."""
    return [(dtypes, line.strip()) for line in text.splitlines() if line.strip()]


def seeded(text: str) -> list[tuple[str, str]]:
    """A sample per line, evaluated right after `manual_seed(7)`."""
    return [("-", f"(fl.manual_seed(7), {line})[1]") for _, line in lines("-", text)]


def calls(dtypes: str, names: str, forms: tuple[str, ...], prefix: str = "fl") -> list[tuple[str, str]]:
    """A sample for each name called with each list of arguments."""
    return [(dtypes, f"{prefix}.{name}({form})") for name in names.split() for form in forms]
