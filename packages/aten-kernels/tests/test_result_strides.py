"""Strides of results that are not row-major: transforms, sorting, `out=` that is resized."""

import flambeau as fl
import pytest


def transposed(*shape):
    return fl.randn(*reversed(shape)).permute(*reversed(range(len(shape))))


@pytest.mark.parametrize(
    ("name", "dim", "strides"),
    [("fft", 0, (1, 10, 2)), ("fft", 1, (15, 1, 3)), ("rfft", 1, (10, 1, 2)), ("irfft", 2, (24, 8, 1))],
)
def test_the_transformed_dim_is_innermost(name, dim, strides):
    x = fl.randn(2, 3, 5)
    result = getattr(fl.fft, name)(x.to(fl.complex64) if name == "irfft" else x, dim=dim)
    assert result.stride() == strides
    whole = getattr(fl.fft, name)(result.clone(), dim=dim) if name == "fft" else None
    if whole is not None:  # twice the transform is the signal backwards
        back = whole.real / x.shape[dim]
        assert fl.allclose(back.roll(-1, dim).flip(dim), x, atol=1e-5)


def test_transforms_of_transposed_signals():
    x = transposed(4, 6)
    assert fl.fft.fft2(x).stride() == (1, 4)
    assert fl.allclose(fl.fft.fft2(x), fl.fft.fft2(x.contiguous()), atol=1e-5)


def test_sort_keeps_the_layout():
    x = transposed(3, 5)
    values, indices = fl.sort(x, 0)
    assert values.stride() == indices.stride() == (1, 3)
    assert fl.equal(values, fl.sort(x.contiguous(), 0)[0])


def test_resized_out_takes_the_strides_of_the_result():
    x, out = transposed(3, 4), fl.empty(0)
    assert fl.add(x, x, out=out).stride() == (1, 3)
    assert fl.equal(out, x + x)
