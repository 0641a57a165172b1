"""Orthogonal polynomials of any degree: values, and that every call ends."""

import flambeau as fl
import numpy as np
import pytest

X = np.array([-1.0, -0.9, -0.3, 0.0, 0.5, 0.99, 1.0])
INNER = slice(1, -1)  # where the quotients are defined
ANGLE = np.arccos(X[INNER].astype(np.longdouble))
KINDS = {
    "t": lambda n: np.cos(n * ANGLE),
    "u": lambda n: np.sin((n + 1) * ANGLE) / np.sin(ANGLE),
    "v": lambda n: np.cos((n + 0.5) * ANGLE) / np.cos(ANGLE / 2),
    "w": lambda n: np.sin((n + 0.5) * ANGLE) / np.sin(ANGLE / 2),
}


@pytest.mark.parametrize("n", [5, 4096, 4097, 99_999, 100_000])
@pytest.mark.parametrize("kind", KINDS)
def test_chebyshev(kind, n):
    call = getattr(fl.special, f"chebyshev_polynomial_{kind}")
    got = call(fl.from_numpy(X), n).numpy()
    np.testing.assert_allclose(got[INNER], KINDS[kind](n).astype(float), atol=1e-9)
    sign = 1 if n % 2 == 0 else -1
    ends = {"t": (1, 1), "u": (n + 1, n + 1), "v": (2 * n + 1, 1), "w": (1, 2 * n + 1)}[kind]
    np.testing.assert_allclose(got[[0, -1]], [sign * ends[0], ends[1]])
    shifted = getattr(fl.special, f"shifted_chebyshev_polynomial_{kind}")
    np.testing.assert_allclose(shifted(fl.from_numpy((X + 1) / 2), n).numpy()[INNER], got[INNER], atol=1e-7)


@pytest.mark.parametrize("n", [1e6, 2.0**40, 1e308, float("inf"), float("nan"), -1e308])
@pytest.mark.parametrize("dtype", [fl.float32, fl.float64])
@pytest.mark.parametrize("name", [n for n in dir(fl.special) if "_polynomial_" in n])
def test_every_degree_ends(name, dtype, n):
    x = fl.tensor([-1e300, -1.0, -0.5, 0.0, 1e-300, 0.5, 1.0, 1.0000001, 2.0, float("inf"), float("nan")], dtype=dtype)
    call = getattr(fl.special, name)
    if ("laguerre" in name or "legendre" in name) and n > 2**20:
        with pytest.raises(RuntimeError, match=f"{name}.* degree n is above 1048576"):
            call(x, fl.tensor(n, dtype=dtype))
    else:
        call(x, fl.tensor(n, dtype=dtype))
