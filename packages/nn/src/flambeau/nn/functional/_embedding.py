"""Look-ups in a table of vectors."""

from __future__ import annotations

import flambeau as torch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from flambeau import Tensor

__all__ = [
    "embedding",
    "embedding_bag",
]

_MODES = {"sum": 0, "mean": 1, "max": 2}


def _renorm_rows(weight: Tensor, input: Tensor, max_norm: float, norm_type: float) -> None:
    with torch.no_grad():
        torch.embedding_renorm_(weight, input, max_norm, norm_type)


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Rows of `weight` (num_embeddings, dim) at the indices `input` (*): (*, dim).

    Parameters
    ----------
    padding_idx : row whose gradient stays zero; negative counts from the end
    max_norm : rows that are used and whose norm is larger are scaled down, in place
    scale_grad_by_freq : divide a row's gradient by how often it occurs in `input`
    sparse : give a sparse gradient

    Raises
    ------
    IndexError      if an index is out of range
    AssertionError  if padding_idx is
    """
    if padding_idx is None:
        padding_idx = -1
    else:
        rows = weight.size(0)
        if not -rows <= padding_idx < rows:
            raise AssertionError("Padding_idx must be within num_embeddings")
        if padding_idx < 0:
            padding_idx += rows
    if max_norm is not None:
        input = input.contiguous()
        _renorm_rows(weight, input, max_norm, norm_type)
    return torch.embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)


def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """Sum, mean or maximum of the rows of each bag: (bags, dim).

    Parameters
    ----------
    input : integer Tensor, (bags, length), or (N) with `offsets`, each bag's first position
    weight : Tensor (num_embeddings, dim)
    mode : "sum", "mean" or "max"
    per_sample_weights : Tensor of input's shape that scales rows; "sum" only
    include_last_offset : `offsets` ends with N
    padding_idx : row that is left out of its bags

    Raises
    ------
    ValueError           if ranks, shapes or mode do not fit
    NotImplementedError  for per_sample_weights with another mode than "sum"
    """
    if weight.dtype == torch.long and input.is_floating_point():
        # The order of arguments of very old programs: embedding_bag(weight, input).
        input, weight = weight, input
    if per_sample_weights is not None and input.size() != per_sample_weights.size():
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({per_sample_weights.shape}) is not None, then "
            f"it must have the same shape as the input ({input.shape})"
        )
    input, offsets, per_sample_weights = _as_bags(input, offsets, per_sample_weights)
    if mode not in _MODES:
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max":
        if scale_grad_by_freq:
            raise ValueError("max mode does not support scaling the gradient by the frequency")
        if sparse:
            raise ValueError("max mode does not support sparse weights")
    if max_norm is not None:
        _renorm_rows(weight, input, max_norm, norm_type)
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported "
            f"for mode='sum' (got mode='{mode}')."
        )
    return torch.embedding_bag(
        weight,
        input,
        offsets,
        scale_grad_by_freq,
        _MODES[mode],
        sparse,
        per_sample_weights,
        include_last_offset,
        padding_idx,
    )[0]


def _as_bags(
    input: Tensor, offsets: Tensor | None, per_sample_weights: Tensor | None
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Bring both forms of input to (N) with offsets."""
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a "
                "mini-batch of fixed length sequences. However, found offsets of type "
                f"{type(offsets)}"
            )
        bags, length = input.shape
        offsets = torch.arange(0, input.numel(), length, dtype=input.dtype, device=input.device)
        if length == 0:
            offsets = torch.zeros(bags, dtype=input.dtype, device=input.device)
        if per_sample_weights is not None:
            per_sample_weights = per_sample_weights.reshape(-1)
        return input.reshape(-1), offsets, per_sample_weights
    if input.dim() != 1:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}")
    if offsets is None:
        raise ValueError("offsets has to be a 1D Tensor but got None")
    if offsets.dim() != 1:
        raise ValueError("offsets has to be a 1D Tensor")
    return input, offsets, per_sample_weights
