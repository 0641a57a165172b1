"""Comparing results: bit for bit, or but for the order of additions."""

from __future__ import annotations

from typing import Any

import flambeau as fl
from records import tensors_in


def bits(t: fl.Tensor) -> fl.Tensor:
    """The tensor's bits as integers: NaN equals itself, and -0 is not 0."""
    t = t.detach().contiguous()
    if t.dtype in (fl.complex64, fl.complex128):
        t = fl.view_as_real(t)
    if t.is_floating_point() or t.is_complex():
        t = t.view({1: fl.int8, 2: fl.int16, 4: fl.int32, 8: fl.int64}[t.element_size()])
    return t


def describe(t: fl.Tensor) -> str:
    return f"{t.dtype} {tuple(t.shape)}"


def assert_same(found: Any, expected: Any, what: str) -> None:
    """Equal bits, shapes and dtypes of every tensor in two results."""
    a, b = tensors_in(found), tensors_in(expected)
    assert len(a) == len(b), f"{what}: {len(a)} tensors instead of {len(b)}"
    if not b:
        assert found == expected, what
    for one, other in zip(a, b, strict=True):
        assert describe(one) == describe(other), what
        assert fl.equal(bits(one), bits(other)), f"{what}: {one} instead of {other}"


def assert_close(found: Any, expected: Any, what: str) -> None:
    """Equal but for the order of additions."""
    a, b = tensors_in(found), tensors_in(expected)
    assert len(a) == len(b), f"{what}: {len(a)} tensors instead of {len(b)}"
    for one, other in zip(a, b, strict=True):
        assert describe(one) == describe(other), what
        if one.dtype not in (fl.float32, fl.float64, fl.complex64, fl.complex128):
            assert_same(one, other, what)
        else:
            assert fl.allclose(one, other, rtol=1e-10, atol=1e-12, equal_nan=True), f"{what}: {one} instead of {other}"
