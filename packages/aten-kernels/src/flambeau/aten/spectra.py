"""Short-time Fourier transforms: spectra of windows that slide along a signal, and back."""

import flambeau
from flambeau import Tensor

_ops = flambeau.ops.aten


def _padded(x: Tensor, count: int, mode: str) -> Tensor:
    """`count` numbers more at both ends of the last dim."""
    n = x.shape[-1]
    if count == 0:
        return x
    if mode == "constant":
        zeros = x.new_zeros((*x.shape[:-1], count))
        return flambeau.cat([zeros, x, zeros], -1)
    if mode == "replicate":
        left, right = x[..., :1].expand(*x.shape[:-1], count), x[..., -1:].expand(*x.shape[:-1], count)
    elif mode == "circular":
        left, right = x[..., n - count :], x[..., :count]
    elif mode == "reflect":
        if count >= n:
            raise RuntimeError(f"stft: padding of {count} at each end must be less than the length of the signal, {n}")
        left, right = x[..., 1 : count + 1].flip(-1), x[..., n - count - 1 : n - 1].flip(-1)
    else:
        raise NotImplementedError(f"stft: pad_mode is {mode!r}; allowed: reflect, constant, replicate, circular")
    return flambeau.cat([left, x, right], -1)


def _whole_window(op: str, window: Tensor | None, win_length: int, n_fft: int, like: Tensor) -> Tensor | None:
    """The window with zeros around it, as long as the transform."""
    if window is None:
        if win_length == n_fft:
            return None
        window = like.new_ones(win_length, dtype=like.dtype.to_real() if like.dtype.is_complex else like.dtype)
    if window.dim() != 1 or window.shape[0] != win_length:
        raise RuntimeError(
            f"{op}: expected a 1D window tensor of size equal to win_length={win_length}, but got window with size {list(window.shape)}"
        )
    left = (n_fft - win_length) // 2
    right = n_fft - win_length - left
    if not left and not right:
        return window
    return flambeau.cat([window.new_zeros(left), window, window.new_zeros(right)])


def _check_lengths(op: str, n_fft: int, hop_length: int, win_length: int) -> None:
    if n_fft <= 0:
        raise RuntimeError(f"{op}: expected n_fft > 0, but got n_fft={n_fft}")
    if hop_length <= 0:
        raise RuntimeError(f"{op}: expected hop_length > 0, but got hop_length={hop_length}")
    if win_length <= 0 or win_length > n_fft:
        raise RuntimeError(f"{op}: expected 0 < win_length <= n_fft, but got win_length={win_length}, n_fft={n_fft}")


def stft(
    self: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Tensor:
    """Spectra of the windows of a signal (N,) or (B, N): shape (..., frequencies, frames), complex or as pairs of reals."""
    hop, length = n_fft // 4 if hop_length is None else hop_length, n_fft if win_length is None else win_length
    if self.dim() not in (1, 2) or not (self.dtype.is_floating_point or self.dtype.is_complex):
        raise RuntimeError(
            f"stft: expected a 1D or 2D tensor of floating point or complex values, got {self.dtype} of sizes {list(self.shape)}"
        )
    complex_input = self.dtype.is_complex or (window is not None and window.dtype.is_complex)
    if return_complex is None:
        if not complex_input:
            raise RuntimeError(
                "stft requires the return_complex parameter be given for real inputs, and will further require that return_complex=True in a future release."
            )
        return_complex = True
    if align_to_window is not None and center:
        raise RuntimeError("stft align_to_window should only be set when center = false.")
    _check_lengths("stft", n_fft, hop, length)
    whole = _whole_window("stft", window, length, n_fft, self)
    x = _padded(self, n_fft // 2, pad_mode) if center else self
    if x.shape[-1] < n_fft:
        raise RuntimeError(f"stft: expected 0 < n_fft <= {x.shape[-1]}, but got n_fft={n_fft}")
    onesided = not complex_input if onesided is None else onesided
    if onesided and complex_input:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    frames = x.unfold(-1, n_fft, hop)
    if whole is not None:
        frames = frames * whole
    transform = _ops.fft_rfft if onesided else _ops.fft_fft
    spectra = transform(frames, None, -1, "ortho" if normalized else None).transpose(-2, -1)
    return spectra if return_complex else flambeau.view_as_real(spectra)


def istft(
    self: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Tensor:
    """The signal whose short-time spectra these are: windows are added where they overlap, and their weights divided out."""
    hop, win = n_fft // 4 if hop_length is None else hop_length, n_fft if win_length is None else win_length
    if not self.dtype.is_complex:
        raise RuntimeError(
            "istft requires a complex-valued input tensor matching the output from stft with return_complex=True."
        )
    if self.dim() not in (2, 3) or self.numel() == 0:
        raise RuntimeError(
            f"istft: expected a tensor with 2 or 3 dimensions and elements, but got sizes {list(self.shape)}"
        )
    _check_lengths("istft", n_fft, hop, win)
    onesided = self.shape[-2] != n_fft if onesided is None else onesided
    expected = n_fft // 2 + 1 if onesided else n_fft
    if self.shape[-2] != expected:
        raise RuntimeError(
            f"istft: expected the frequency dimension (3rd to the last) to match n_fft / 2 + 1 or n_fft, {expected}, but got {self.shape[-2]}"
        )
    if onesided and return_complex:
        raise RuntimeError("cannot have onesided output if window or input is complex")
    spectra = self if self.dim() == 3 else self.unsqueeze(0)
    norm = "ortho" if normalized else None
    frames = spectra.transpose(1, 2)
    if return_complex:
        frames = _ops.fft_ifft(frames, None, -1, norm)
    else:  # of a whole spectrum too only the first half is looked at
        frames = _ops.fft_irfft(frames[..., : n_fft // 2 + 1], n_fft, -1, norm)
    whole = _whole_window("istft", window, win, n_fft, frames)
    if whole is None:
        whole = frames.new_ones(n_fft, dtype=frames.dtype.to_real() if frames.dtype.is_complex else frames.dtype)
    count, size = frames.shape[1], n_fft + hop * (frames.shape[1] - 1)
    line = lambda n: flambeau.arange(n, device=frames.device)  # noqa: E731
    places = (line(count).unsqueeze(1) * hop + line(n_fft)).reshape(-1)
    signal = frames.new_zeros((frames.shape[0], size)).index_add(
        1, places, (frames * whole).reshape(frames.shape[0], -1)
    )
    weights = whole.new_zeros(size).index_add(0, places, (whole * whole).expand(count, n_fft).reshape(-1))
    start = n_fft // 2 if center else 0
    end = start + length if length is not None else size - n_fft // 2 if center else size
    signal, weights = signal[:, start:end], weights[start:end]
    if weights.numel() and weights.abs().min().item() < 1e-11:
        raise RuntimeError(f"istft({self.dtype}{list(self.shape)}): window overlap add min: 1")
    signal = signal / weights
    if length is not None and signal.shape[1] < length:
        signal = flambeau.cat([signal, signal.new_zeros((signal.shape[0], length - signal.shape[1]))], 1)
    return signal if self.dim() == 3 else signal.squeeze(0)
