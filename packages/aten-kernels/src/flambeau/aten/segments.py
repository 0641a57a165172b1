"""Reductions over segments of one axis, as scatters to one row a segment."""

import flambeau
from flambeau import Tensor

_KINDS = {"sum": ("sum", 0.0), "mean": ("sum", 0.0), "prod": ("prod", 1.0),
          "max": ("amax", -float("inf")), "min": ("amin", float("inf"))}  # fmt: skip


def segment_reduce(
    data: Tensor,
    reduce: str,
    *,
    lengths: Tensor | None = None,
    indices: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: float | None = None,
) -> Tensor:
    """`reduce` (sum, mean, max, min, prod) of each segment of `axis`, given by lengths or by offsets (one more than segments).

    The axis is the last one of lengths; the dims before it are those of data. `initial` takes part in every segment; in a
    mean without counting. Without it an empty segment gives the identity, a mean NaN.
    """
    if indices is not None:
        raise RuntimeError("segment_reduce(): indices based reduction is not supported yet.")
    if reduce not in _KINDS:
        raise RuntimeError(f"[segment_reduce] reduce must be one of {', '.join(_KINDS)}, got {reduce}")
    if not data.dtype.is_floating_point:
        raise NotImplementedError(
            f"[segment_reduce] not implemented for data of {data.dtype}; floating dtypes are allowed"
        )
    if not -data.dim() <= axis < data.dim():
        low, high = -data.dim(), data.dim() - 1
        raise IndexError(f"Dimension out of range (expected to be in range of [{low}, {high}], but got {axis})")
    axis %= data.dim()
    starts, ends = _bounds(data, lengths, offsets, axis, unsafe)
    count = ends.shape[-1]
    lead, rest = data.shape[:axis], data.shape[axis + 1 :]
    position = flambeau.arange(data.shape[axis]).expand(*lead, data.shape[axis]).contiguous()
    segment = flambeau.searchsorted(ends, position, right=True)
    if (
        offsets is not None and count
    ):  # what lies before the first segment belongs to none, like what lies after the last
        segment = flambeau.where(position < starts[..., :1], count, segment)
    kind, identity = _KINDS[reduce]
    base = flambeau.full(
        (*lead, count + 1, *rest), identity if initial is None else initial, dtype=data.dtype, device=data.device
    )
    target = segment.reshape(*segment.shape, *(1,) * len(rest)).expand(data.shape)
    result = flambeau.scatter_reduce(base, axis, target, data, kind).narrow(axis, 0, count)
    if reduce == "mean":
        size = (ends - starts).reshape(*ends.shape, *(1,) * len(rest))
        result = result / (size if initial is None else flambeau.clamp_min(size, 1))
    return result


def _bounds(
    data: Tensor, lengths: Tensor | None, offsets: Tensor | None, axis: int, unsafe: bool
) -> tuple[Tensor, Tensor]:
    """First element of each segment, and one past its last."""
    given, name = (lengths, "lengths") if offsets is None else (offsets, "offsets")
    if given is None:
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    if given.dtype not in (flambeau.int32, flambeau.int64):
        raise NotImplementedError(f"[segment_reduce] {name} must be int32 or int64, got {given.dtype}")
    if axis != given.dim() - 1:
        raise RuntimeError(f"segment_reduce(): Expected axis to be the last dimension of {name} but got {axis}.")
    if given.shape[:-1] != data.shape[:axis]:
        raise RuntimeError(
            f"[segment_reduce] the dims of {name} before the axis must be those of data, got {tuple(given.shape)} for {tuple(data.shape)}"
        )
    given = given.to(flambeau.int64)
    if offsets is not None:
        if not given.shape[-1]:
            raise RuntimeError("[segment_reduce] offsets needs one element more than there are segments, got none")
        starts, ends = given[..., :-1].contiguous(), given[..., 1:].contiguous()
    else:
        ends = flambeau.cumsum(given, -1)
        starts = ends - given
    size = ends - starts
    if size.numel() and int(size.min()) < 0:
        raise RuntimeError(f"[segment_reduce] {name} contains negative value! Segments have zero elements or more")
    if lengths is not None and offsets is None and not unsafe:
        total = given.sum(-1)
        if not bool((total == data.shape[axis]).all()):
            raise RuntimeError(
                f"segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when !unsafe, which is {data.shape[axis]}."
            )
    return starts, ends
