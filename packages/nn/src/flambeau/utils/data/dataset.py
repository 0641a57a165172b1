"""Datasets: what can be indexed, what can be iterated over, and combinations of them."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, Generic, TypeVar

import flambeau

T_co = TypeVar("T_co", covariant=True)

__all__ = [
    "ChainDataset",
    "ConcatDataset",
    "Dataset",
    "IterableDataset",
    "SharedList",
    "StackDataset",
    "Subset",
    "TensorDataset",
    "random_split",
]


class Dataset(Generic[T_co]):
    """Maps keys, mostly 0 .. len - 1, to samples.

    Subclasses give `__getitem__`, and `__len__` for most samplers. `__getitems__`, which takes a
    list of keys and returns a list of samples, is used for whole batches where it is there.
    """

    def __getitem__(self, index: Any) -> T_co:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset[Any]) -> ConcatDataset:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T_co]):
    """A stream of samples; subclasses give `__iter__`.

    Each worker process iterates over its own copy: share the work out by `get_worker_info`, or
    each sample comes once per worker.
    """

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError("Subclasses of IterableDataset should implement __iter__.")

    def __add__(self, other: Dataset[Any]) -> ChainDataset:  # type: ignore[override]
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Any, ...]]):
    """Sample i is the tuple of row i of every tensor.

    Parameters
    ----------
    tensors : Tensors with equal first sizes; kept, not copied
    """

    def __init__(self, *tensors: Any) -> None:
        if any(t.size(0) != tensors[0].size(0) for t in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Any, ...]:
        return tuple([t[index] for t in self.tensors])

    def __len__(self) -> int:
        return self.tensors[0].size(0)


class SharedList(Dataset[Any]):
    """A list of any objects, packed into one piece of memory, that worker processes share.

    Objects of a plain list are copied into every worker that looks at them: counting a reference is
    a write. Here an object is unpacked when it is asked for, a new one each time, and the memory
    that it comes from is never written to.

    Parameters
    ----------
    items : objects that can be pickled

    Raises
    ------
    IndexError  if the index is out of range
    """

    def __init__(self, items: Iterable[Any]) -> None:
        import array
        import pickle

        parts = [pickle.dumps(item, protocol=5) for item in items]
        self._ends = array.array("q", accumulate(map(len, parts)))
        self._bytes = b"".join(parts)

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, index: int) -> Any:
        import pickle

        n = len(self._ends)
        if not -n <= index < n:
            raise IndexError(f"[SharedList] index {index} is out of range for {n} items")
        index %= n
        start = self._ends[index - 1] if index else 0
        return pickle.loads(memoryview(self._bytes)[start : self._ends[index]])


class StackDataset(Dataset[Any]):
    """Sample i is made of sample i of every dataset: a tuple, or a dict for keyword arguments."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and kwargs:
            raise ValueError(
                "Supported either ``tuple``- (via ``args``) or``dict``- (via ``kwargs``) "
                "like input/output, but both types are given."
            )
        datasets = list(args) or list(kwargs.values())
        if not datasets:
            raise ValueError("At least one dataset should be passed")
        self._length = len(datasets[0])
        if any(len(d) != self._length for d in datasets):
            raise ValueError("Size mismatch between datasets")
        self.datasets: Any = args or kwargs

    def __getitem__(self, index: Any) -> Any:
        if isinstance(self.datasets, dict):
            return {k: d[index] for k, d in self.datasets.items()}
        return tuple(d[index] for d in self.datasets)

    def __getitems__(self, indices: list[Any]) -> list[Any]:
        if isinstance(self.datasets, dict):
            names = list(self.datasets)
            rows = zip(*(_many(d, indices) for d in self.datasets.values()))
            return [dict(zip(names, row)) for row in rows]
        return list(zip(*(_many(d, indices) for d in self.datasets)))

    def __len__(self) -> int:
        return self._length


class ConcatDataset(Dataset[T_co]):
    """The datasets one after the other, as one that can be indexed."""

    @staticmethod
    def cumsum(sequence: Iterable[Any]) -> list[int]:
        """Return the running sums of the lengths."""
        return list(accumulate(len(d) for d in sequence))

    def __init__(self, datasets: Iterable[Dataset[Any]]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(d, IterableDataset) for d in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = self.cumsum(self.datasets)

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx: int) -> T_co:
        if idx < 0:
            if -idx > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            idx += len(self)
        i = bisect_right(self.cumulative_sizes, idx)
        return self.datasets[i][idx - self.cumulative_sizes[i - 1] if i > 0 else idx]

    @property
    def cummulative_sizes(self) -> list[int]:
        """The old spelling of `cumulative_sizes`."""
        return self.cumulative_sizes


class ChainDataset(IterableDataset[Any]):
    """The streams one after the other."""

    def __init__(self, datasets: Iterable[Dataset[Any]]) -> None:
        super().__init__()
        self.datasets = datasets

    def __iter__(self) -> Iterator[Any]:
        for d in self.datasets:
            if not isinstance(d, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            yield from d

    def __len__(self) -> int:
        total = 0
        for d in self.datasets:
            if not isinstance(d, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            total += len(d)  # type: ignore[arg-type]
        return total


class Subset(Dataset[T_co]):
    """The samples of `dataset` at `indices`, in that order."""

    def __init__(self, dataset: Dataset[Any], indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, idx: Any) -> T_co:
        if isinstance(idx, list):
            return self.dataset[[self.indices[i] for i in idx]]
        return self.dataset[self.indices[idx]]

    def __getitems__(self, indices: list[int]) -> list[T_co]:
        return _many(self.dataset, [self.indices[i] for i in indices])

    def __len__(self) -> int:
        return len(self.indices)


def random_split(dataset: Dataset[Any], lengths: Sequence[int | float], generator: Any = None) -> list[Subset[Any]]:
    """Split into disjoint random subsets.

    Parameters
    ----------
    dataset : has a length
    lengths : sizes that sum up to it; or fractions that sum up to one, rounded down, what is left
        over being given out one by one from the first
    generator : Generator, optional; the default one otherwise

    Raises
    ------
    ValueError  if the sizes do not sum up, or a fraction is outside [0, 1]
    """
    sizes: list[Any] = list(lengths)
    if math.isclose(sum(sizes), 1) and sum(sizes) <= 1:
        sizes = _sizes_of_fractions(sizes, len(dataset))  # type: ignore[arg-type]
    if sum(sizes) != len(dataset):  # type: ignore[arg-type]
        raise ValueError(
            "Sum of input lengths does not equal the length of the input dataset! "
            f"The lengths sum up to {sum(sizes)}, the dataset has {len(dataset)}"  # type: ignore[arg-type]
        )
    order = flambeau.randperm(int(sum(sizes)), generator=generator).tolist()
    ends = list(accumulate(int(n) for n in sizes))
    return [Subset(dataset, order[end - int(n) : end]) for end, n in zip(ends, sizes)]


def _sizes_of_fractions(fractions: list[float], total: int) -> list[int]:
    for i, part in enumerate(fractions):
        if not 0 <= part <= 1:
            raise ValueError(f"Fraction at index {i} is not between 0 and 1")
    sizes = [math.floor(total * part) for part in fractions]
    for i in range(total - sum(sizes)):
        sizes[i % len(sizes)] += 1
    return sizes


def _many(dataset: Any, indices: list[Any]) -> list[Any]:
    """Return the samples at `indices`, in one call where the dataset offers it."""
    if not callable(getattr(dataset, "__getitems__", None)):
        return [dataset[i] for i in indices]
    samples = dataset.__getitems__(indices)
    if not isinstance(samples, list):
        raise TypeError("Dataset.__getitems__ must return a list")
    if len(samples) != len(indices):
        raise ValueError(f"Nested dataset's output size mismatch. Expected {len(indices)}, got {len(samples)}")
    return samples
