"""Fourier transforms."""

from __future__ import annotations

from . import calls, lines

SAMPLES = [
    *calls("c", "fft ifft hfft fftn ifftn fftshift ifftshift", ("t(8)", "t(3, 5)", "nc(4, 6)"), "fl.fft"),
    *calls("c", "fft ifft", ("t(3, 7), 5, 0", "t(3, 7), norm='ortho'", "t(12), 16, norm='forward'"), "fl.fft"),
    *calls("f", "rfft ihfft rfftn", ("t(8)", "t(3, 5)", "nc(4, 6)", "t(3, 7), 5"), "fl.fft"),
    *calls("c", "fft2 ifft2 irfft2 hfft2", ("t(4, 6)", "t(2, 3, 5), (4, 4)"), "fl.fft"),
    *calls("f", "rfft2 ihfft2 ihfftn", ("t(4, 6)", "t(2, 3, 5)"), "fl.fft"),
    *calls("c", "irfft irfftn hfftn", ("t(3, 5)", "t(2, 7)"), "fl.fft"),
    *lines("-", """
        fl.fft.fftfreq(7)
        fl.fft.rfftfreq(8, 0.5)
        fl.fft.fft(t(4), 0)
        fl.fft.fft(t(4), norm='no')
        fl.fft.fft(t(4), dim=3)
    """),
    *lines("f", """
        fl.stft(t(40), 8, window=fl.hann_window(8, dtype=dt), return_complex=True)
        fl.istft(fl.stft(t(40), 8, window=fl.ones(8, dtype=dt), return_complex=True), 8, window=fl.ones(8, dtype=dt))
    """),
]  # fmt: skip
