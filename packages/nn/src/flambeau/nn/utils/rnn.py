"""Sequences of different lengths in one tensor: padded, or packed without padding.

Note [Packed sequences]
Sequences, the longest first, lie in memory step by step: first the first step of all, then the
second of all that have one, and so on; `batch_sizes[t]` says how many have a step t. A packed batch
is then a few blocks of steps of equal batch size, and packing is slicing and joining such blocks.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby, pairwise
from typing import Any, NamedTuple

import flambeau

__all__ = [
    "PackedSequence",
    "invert_permutation",
    "pack_padded_sequence",
    "pack_sequence",
    "pad_packed_sequence",
    "pad_sequence",
    "unpack_sequence",
    "unpad_sequence",
]


class PackedSequence_(NamedTuple):
    """The fields of a `PackedSequence`."""

    data: Any
    batch_sizes: Any
    sorted_indices: Any
    unsorted_indices: Any


class PackedSequence(PackedSequence_):
    """A packed batch; see Note [Packed sequences]. Made by the functions here, not by hand.

    Attributes
    ----------
    data : Tensor, shape (sum of lengths, *)
    batch_sizes : Tensor, int64, on the CPU
    sorted_indices : Tensor, int64, or None; where in the original batch each sequence was
    unsorted_indices : its inverse, or None
    """

    __slots__ = ()

    def __new__(
        cls, data: Any, batch_sizes: Any = None, sorted_indices: Any = None, unsorted_indices: Any = None
    ) -> PackedSequence:
        if batch_sizes is None:
            # The form that older pickles have: a pair in place of the data.
            if not isinstance(data, (list, tuple)) or len(data) != 2:
                raise AssertionError("Expected data to be a list or tuple of length 2")
            data, batch_sizes = data
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes.device.type != "cpu":
            raise ValueError(
                "batch_sizes should always be on CPU. Instances of PackedSequence should never be "
                "created manually. They should be instantiated by functions like "
                "pack_sequence and pack_padded_sequence in nn.utils.rnn."
            )
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """Convert the data; the indices follow it to its device."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        moved = (i if i is None else i.to(data.device) for i in (self.sorted_indices, self.unsorted_indices))
        return type(self)(data, self.batch_sizes, *moved)

    def cpu(self, *args: Any, **kwargs: Any) -> PackedSequence:
        return self.to("cpu", *args, **kwargs)

    def cuda(self, *args: Any, **kwargs: Any) -> PackedSequence:
        return self.to(*(args or ("cuda",)), **kwargs)

    def double(self) -> PackedSequence:
        return self.to(dtype=flambeau.double)

    def float(self) -> PackedSequence:
        return self.to(dtype=flambeau.float)

    def half(self) -> PackedSequence:
        return self.to(dtype=flambeau.half)

    def long(self) -> PackedSequence:
        return self.to(dtype=flambeau.long)

    def int(self) -> PackedSequence:
        return self.to(dtype=flambeau.int)

    def short(self) -> PackedSequence:
        return self.to(dtype=flambeau.short)

    def char(self) -> PackedSequence:
        return self.to(dtype=flambeau.int8)

    def byte(self) -> PackedSequence:
        return self.to(dtype=flambeau.uint8)

    def pin_memory(self) -> PackedSequence:
        indices = (self.sorted_indices, self.unsorted_indices)
        pinned = (i if i is None else i.pin_memory() for i in indices)
        return type(self)(self.data.pin_memory(), self.batch_sizes, *pinned)

    def is_pinned(self) -> bool:
        return bool(self.data.is_pinned())

    @property
    def is_cuda(self) -> bool:
        return bool(self.data.is_cuda)


def invert_permutation(permutation: Any) -> Any:
    """Return the inverse of a permutation given as a 1-d int64 Tensor; None for None."""
    if permutation is None:
        return None
    inverse = flambeau.empty_like(permutation, memory_format=flambeau.contiguous_format)
    positions = flambeau.arange(permutation.numel(), device=permutation.device)
    return inverse.scatter_(0, permutation, positions)


def pack_padded_sequence(
    input: Any, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Pack a padded batch.

    Parameters
    ----------
    input : Tensor, shape (steps, batch, *), or (batch, steps, *) with `batch_first`
    lengths : list of int or Tensor on the CPU, shape (batch,), each in 1 .. steps
    enforce_sorted : lengths must not increase; False, the sequences are sorted here

    Raises
    ------
    RuntimeError  if there is no element, or the lengths do not fit
    """
    lengths = flambeau.as_tensor(lengths, dtype=flambeau.int64, device="cpu")
    order = None
    if not enforce_sorted:
        lengths, order = flambeau.sort(lengths, descending=True)
        order = order.to(input.device)
        input = input.index_select(0 if batch_first else 1, order)
    steps_first = input.transpose(0, 1) if batch_first else input
    sizes = _batch_sizes(steps_first, lengths.tolist())
    blocks, start = [], 0
    for size, count in _runs(sizes):
        block = steps_first[start : start + count, :size]
        blocks.append(block.reshape(count * size, *steps_first.shape[2:]))
        start += count
    data = blocks[0] if len(blocks) == 1 else flambeau.cat(blocks)
    batch_sizes = flambeau.tensor(sizes, dtype=flambeau.int64)
    return PackedSequence(data, batch_sizes, order, None)


def _batch_sizes(input: Any, lengths: list[int]) -> list[int]:
    """Check the lengths and return how many sequences have each step."""
    if input.numel() == 0:
        raise RuntimeError("Cannot pack empty tensors.")
    batch, steps = input.size(1), input.size(0)
    if len(lengths) != batch:
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(lengths)} (batch_size={batch})"
        )
    if min(lengths) <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' "
            f"that is <= 0: {min(lengths)}"
        )
    if max(lengths) > steps:
        raise RuntimeError(f"[pack_padded_sequence] a length is {max(lengths)}, but the input has {steps} steps")
    if any(a < b for a, b in pairwise(lengths)):
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You "
            "can pass `enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to "
            "sidestep this requirement if you do not need ONNX exportability."
        )
    sizes, size = [], batch
    for step in range(lengths[0]):
        while lengths[size - 1] <= step:
            size -= 1
        sizes.append(size)
    return sizes


def _runs(sizes: list[int]) -> Iterable[tuple[int, int]]:
    """Yield (batch size, number of steps in a row that have it)."""
    for size, steps in groupby(sizes):
        yield size, len(list(steps))


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Any, Any]:
    """Undo `pack_padded_sequence`.

    Returns
    -------
    Tensor, shape (steps, batch, *), or (batch, steps, *) with `batch_first`; steps are the longest
    length, or `total_length`
    Tensor, int64, the lengths

    Raises
    ------
    ValueError  if `total_length` is less than the longest length
    """
    sizes = sequence.batch_sizes.tolist()
    steps = len(sizes)
    if total_length is not None and total_length < steps:
        raise ValueError(
            "Expected total_length to be at least the length of the longest sequence in input, but "
            f"got total_length={total_length} and max sequence length being {steps}"
        )
    data, batch = sequence.data, sizes[0]
    rest = data.shape[1:]
    blocks, start = [], 0
    for size, count in _runs(sizes):
        block = data[start : start + count * size].reshape(count, size, *rest)
        start += count * size
        if size < batch:
            gap = data.new_full((count, batch - size, *rest), padding_value)
            block = flambeau.cat([block, gap], 1)
        blocks.append(block)
    if total_length is not None and total_length > steps:
        blocks.append(data.new_full((total_length - steps, batch, *rest), padding_value))
    padded = blocks[0] if len(blocks) == 1 else flambeau.cat(blocks)
    padded = padded.transpose(0, 1) if batch_first else padded
    lengths = flambeau.tensor(_lengths(sizes), dtype=flambeau.int64)
    order = sequence.unsorted_indices
    if order is None:
        return padded, lengths
    return padded.index_select(0 if batch_first else 1, order), lengths[order.cpu()]


def _lengths(sizes: list[int]) -> list[int]:
    lengths: list[int] = []
    for step in range(len(sizes), 0, -1):
        lengths += [step] * (sizes[step - 1] - len(lengths))
    return lengths


def pad_sequence(
    sequences: Any, batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Any:
    """Stack sequences of different lengths, filled up to the longest.

    Parameters
    ----------
    sequences : iterable of Tensors, shapes (length, *), equal but for the length
    batch_first : put the batch dimension first
    padding_value : float
    padding_side : "right" or "left"

    Returns
    -------
    Tensor, shape (longest, batch, *), or (batch, longest, *) with `batch_first`
    """
    if not isinstance(sequences, Iterable):
        raise RuntimeError(
            f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}"
        )
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    items = list(sequences.unbind(0) if isinstance(sequences, flambeau.Tensor) else sequences)
    if not items:
        raise RuntimeError("received an empty list of sequences")
    longest = max(t.size(0) for t in items)
    padded = []
    for t in items:
        missing = longest - t.size(0)
        if missing:
            gap = items[0].new_full((missing, *items[0].shape[1:]), padding_value)
            t = flambeau.cat([t, gap] if padding_side == "right" else [gap, t])
        padded.append(t)
    return flambeau.stack(padded, 0 if batch_first else 1)


def unpad_sequence(padded_sequences: Any, lengths: Any, batch_first: bool = False) -> list[Any]:
    """Return the sequences of a padded batch, as views.

    Parameters
    ----------
    padded_sequences : Tensor, shape (steps, batch, *), or (batch, steps, *) with `batch_first`
    lengths : Tensor, shape (batch,)
    """
    batch = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [seq[:length] for seq, length in zip(batch.unbind(0), lengths.tolist())]


def pack_sequence(sequences: list[Any], enforce_sorted: bool = True) -> PackedSequence:
    """Pack a list of Tensors, shapes (length, *); see `pack_padded_sequence`."""
    lengths = flambeau.tensor([t.size(0) for t in sequences], dtype=flambeau.int64)
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Any]:
    """Return the sequences of a packed batch, in their original order."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
