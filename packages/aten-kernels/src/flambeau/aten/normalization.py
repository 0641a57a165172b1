"""Normalisations composed of other operators."""

from __future__ import annotations

import flambeau as fl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from flambeau import Tensor


def instance_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Tensor:
    """Normalise each channel of each sample of (N, C, ...): batch_norm of (1, N * C, ...).

    Running statistics move towards the mean of the samples' own.

    Raises
    ------
    RuntimeError  without input statistics and without running ones
    """
    if not use_input_stats and (running_mean is None or running_var is None):
        raise RuntimeError("Expected running_mean and running_var to be defined when use_input_stats is false")
    if input.dim() < 2:
        raise RuntimeError(
            f"[instance_norm] input needs at least 2 dimensions (N, C, ...), got shape {tuple(input.shape)}"
        )
    samples, channels, *positions = input.shape

    def per_sample(t: Tensor | None) -> Tensor | None:
        return None if t is None else t.repeat(samples)

    moving_mean, moving_var = per_sample(running_mean), per_sample(running_var)
    out = fl.batch_norm(
        input.contiguous().view(1, samples * channels, *positions),
        per_sample(weight),
        per_sample(bias),
        moving_mean,
        moving_var,
        use_input_stats,
        momentum,
        eps,
        cudnn_enabled,
    )
    if use_input_stats:
        for running, moved in ((running_mean, moving_mean), (running_var, moving_var)):
            if running is not None and moved is not None:
                running.detach().copy_(moved.view(samples, channels).mean(0))
    return out.view(input.shape)


def norm_gradients(
    grad: Tensor, input: Tensor, dims: list[int], weight: Tensor | None, eps: float, centred: bool
) -> tuple[Tensor, Tensor]:
    """Gradient of a normalisation over `dims`, and grad times the normalised input, as differentiable operators.

    What autograd uses where the gradient itself will be differentiated. `weight` broadcasts against input.
    """
    centre = input - input.mean(dims, keepdim=True) if centred else input
    scale = ((centre * centre).mean(dims, keepdim=True) + eps).rsqrt()
    z = centre * scale
    g = grad if weight is None else grad * weight
    inner = g - z * (g * z).mean(dims, keepdim=True)
    if centred:
        inner = inner - g.mean(dims, keepdim=True)
    return inner * scale, grad * z


def rms_norm_complex(input: Tensor, normalized_shape: list[int], weight: Tensor | None, eps: float | None) -> Tensor:
    """rms_norm of complex numbers: squares are complex ones, as in torch."""
    if tuple(input.shape[input.dim() - len(normalized_shape) :]) != tuple(normalized_shape):
        raise RuntimeError(
            f"[rms_norm] normalized_shape {tuple(normalized_shape)} must be the last sizes of {tuple(input.shape)}"
        )
    dims = list(range(-len(normalized_shape), 0))
    floor = fl.finfo(input.dtype).eps if eps is None else eps
    out = input * ((input * input).mean(dims, keepdim=True) + floor).rsqrt()
    return out if weight is None else out * weight
