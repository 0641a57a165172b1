"""Dropout, by element and by channel."""

from __future__ import annotations

import warnings

import flambeau as torch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from flambeau import Tensor

__all__ = [
    "alpha_dropout",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "feature_alpha_dropout",
]


def _check_probability(p: float) -> None:
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero each element with probability `p` and scale the others by 1 / (1 - p).

    The identity unless `training`. (Hinton et al. 2012)

    Raises
    ------
    ValueError  if `p` is not within 0..1
    """
    _check_probability(p)
    return torch.dropout_(input, p, training) if inplace else torch.dropout(input, p, training)


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Dropout that keeps zero mean and unit variance, to go with SELU."""
    _check_probability(p)
    f = torch.alpha_dropout_ if inplace else torch.alpha_dropout
    return f(input, p, training)


def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """alpha_dropout of whole channels of an input (N, C, ...)."""
    _check_probability(p)
    f = torch.feature_alpha_dropout_ if inplace else torch.feature_alpha_dropout
    return f(input, p, training)


def _channels(input: Tensor, p: float, training: bool, inplace: bool) -> Tensor:
    f = torch.feature_dropout_ if inplace else torch.feature_dropout
    return f(input, p, training)


def _channels_maybe_unbatched(input: Tensor, batched: bool, p: float, training: bool, inplace: bool) -> Tensor:
    if batched:
        return _channels(input, p, training, inplace)
    out = input.unsqueeze_(0) if inplace else input.unsqueeze(0)
    out = _channels(out, p, training, inplace)
    return out.squeeze_(0) if inplace else out.squeeze(0)


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Dropout of whole channels of an input (N, C, L) or (C, L).

    Raises
    ------
    RuntimeError  for another number of dimensions
    """
    _check_probability(p)
    if input.dim() not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.dim()}D input. Note that "
            "dropout1d exists to provide channel-wise dropout on inputs with 1 spatial dimension, "
            "a channel dimension, and an optional batch dimension (i.e. 2D or 3D inputs)."
        )
    return _channels_maybe_unbatched(input, input.dim() == 3, p, training, inplace)


def _warn_other_rank(name: str, n: int, given: int) -> None:
    warnings.warn(
        f"{name}: Received a {given}-D input to {name}, which is deprecated and will result in an "
        "error in a future release. To retain the behavior and silence this warning, please use "
        f"dropout instead. Note that {name} exists to provide channel-wise dropout on inputs with "
        f"{n} spatial dimensions, a channel dimension, and an optional batch dimension "
        f"(i.e. {n + 1}D or {n + 2}D inputs).",
        stacklevel=3,
    )


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Dropout of whole channels of an input (N, C, H, W); (N, C, L) is taken so too."""
    _check_probability(p)
    if input.dim() not in (3, 4):
        _warn_other_rank("dropout2d", 2, input.dim())
    if input.dim() == 3:
        warnings.warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D "
            "dropout behavior is desired - input is interpreted as shape (N, C, L), where C is "
            "the channel dim. This behavior will change in a future release to interpret the "
            "input as one without a batch dimension, i.e. shape (C, H, W). To maintain the 1D "
            "channel-wise dropout behavior, please switch to using dropout1d instead.",
            stacklevel=2,
        )
    return _channels(input, p, training, inplace)


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Dropout of whole channels of an input (N, C, D, H, W) or (C, D, H, W)."""
    _check_probability(p)
    if input.dim() not in (4, 5):
        _warn_other_rank("dropout3d", 3, input.dim())
    return _channels_maybe_unbatched(input, input.dim() == 5, p, training, inplace)
