"""Fourier transforms against numpy."""

import flambeau
import numpy as np
import pytest

RNG = np.random.default_rng(0)
SIZES = [1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 16, 30, 37, 49, 60, 97, 101, 128, 210, 1000, 1009]


def close(ours: flambeau.Tensor, theirs: np.ndarray, dtype: str) -> None:
    assert tuple(ours.shape) == theirs.shape
    error = np.linalg.norm(ours.numpy() - theirs) / max(np.linalg.norm(theirs), 1e-30)
    assert error < (1e-6 if dtype == "complex64" else 1e-14)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("n", SIZES)
def test_lengths_of_every_kind(n: int, dtype: str) -> None:
    x = (RNG.standard_normal((3, n)) + 1j * RNG.standard_normal((3, n))).astype(dtype)
    t = flambeau.from_numpy(x)
    wide = x.astype("complex128")
    close(flambeau.fft.fft(t), np.fft.fft(wide), dtype)
    close(flambeau.fft.ifft(t), np.fft.ifft(wide), dtype)
    close(flambeau.fft.fft(t.t().contiguous(), dim=0), np.fft.fft(wide.T, axis=0), dtype)


@pytest.mark.parametrize("norm", [None, "ortho", "forward", "backward"])
@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
@pytest.mark.parametrize("n", [None, 4, 9])
def test_one_dimension(name: str, n: int | None, norm: str | None) -> None:
    x = RNG.standard_normal((5, 7))
    close(
        getattr(flambeau.fft, name)(flambeau.from_numpy(x), n, 0, norm),
        getattr(np.fft, name)(x, n, 0, norm),
        "complex128",
    )


@pytest.mark.parametrize("name", ["fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn"])
def test_several_dimensions(name: str) -> None:
    x = RNG.standard_normal((3, 4, 6))
    close(getattr(flambeau.fft, name)(flambeau.from_numpy(x)), getattr(np.fft, name)(x), "complex128")


def test_frequencies_and_shifts() -> None:
    assert flambeau.fft.fftfreq(5, 0.5).tolist() == pytest.approx(np.fft.fftfreq(5, 0.5).tolist())
    assert flambeau.fft.rfftfreq(6).tolist() == pytest.approx(np.fft.rfftfreq(6).tolist())
    x = flambeau.arange(5)
    assert flambeau.fft.fftshift(x).tolist() == np.fft.fftshift(np.arange(5)).tolist()
    assert flambeau.fft.ifftshift(flambeau.fft.fftshift(x)).tolist() == x.tolist()


def test_errors_name_what_was_given() -> None:
    with pytest.raises(RuntimeError, match="nonsense"):
        flambeau.fft.fft(flambeau.ones(3), norm="nonsense")
    with pytest.raises(RuntimeError, match="0"):
        flambeau.fft.fft(flambeau.ones(3), n=0)
    with pytest.raises(RuntimeError, match="complex64"):
        flambeau.fft.rfft(flambeau.ones(3, dtype=flambeau.complex64))


def test_frequencies_of_nothing() -> None:
    aten = flambeau.ops.aten
    assert aten.fft_fftfreq(0).shape == (0,)
    np.testing.assert_array_equal(aten.fft_rfftfreq(0).numpy(), [np.nan])
    np.testing.assert_array_equal(aten.fft_fftfreq(4, 0.0).numpy(), [np.nan, np.inf, -np.inf, -np.inf])
    np.testing.assert_allclose(aten.fft_fftfreq(5, 0.5).numpy(), np.fft.fftfreq(5, 0.5))
    with pytest.raises(RuntimeError, match="fft_fftfreq.*-1"):
        aten.fft_fftfreq(-1)
