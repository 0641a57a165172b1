"""Samplers: the order in which a loader asks for samples."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any, Generic, TypeVar

import flambeau

T_co = TypeVar("T_co", covariant=True)

__all__ = [
    "BatchSampler",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "SubsetRandomSampler",
    "WeightedRandomSampler",
]


class Sampler(Generic[T_co]):
    """Gives keys of a dataset, or lists of them; subclasses give `__iter__`, most also `__len__`."""

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError("Subclasses of Sampler should implement __iter__.")


class SequentialSampler(Sampler[int]):
    """0, 1, 2, ..."""

    data_source: Sized

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """A new random order in every pass; with replacement, independent draws.

    Parameters
    ----------
    data_source : has a length
    replacement : bool
    num_samples : int > 0, optional; the length by default. Without replacement, whole permutations
        follow each other until there are enough
    generator : Generator, optional; otherwise one is seeded from the default one in every pass
    """

    def __init__(
        self, data_source: Sized, replacement: bool = False, num_samples: int | None = None, generator: Any = None
    ) -> None:
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement should be a boolean value, but got replacement={replacement}")
        if not isinstance(self.num_samples, int) or self.num_samples <= 0:
            raise ValueError(f"num_samples should be a positive integer value, but got num_samples={self.num_samples}")

    @property
    def num_samples(self) -> int:
        """How many are drawn in a pass; follows the dataset's length unless it was given."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        # A generator function: the seed is drawn when the first key is asked for, as in torch.
        n = len(self.data_source)
        generator = self.generator
        if generator is None:
            generator = flambeau.Generator()
            generator.manual_seed(draw_seed())
        if self.replacement:
            # Blocks of 32: the stream of numbers is then that of torch.
            for start in range(0, self.num_samples, 32):
                count = min(32, self.num_samples - start)
                yield from flambeau.randint(high=n, size=(count,), dtype=flambeau.int64, generator=generator).tolist()
            return
        for _ in range(self.num_samples // n):
            yield from flambeau.randperm(n, generator=generator).tolist()
        yield from flambeau.randperm(n, generator=generator).tolist()[: self.num_samples % n]

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """The given keys in a new random order in every pass."""

    indices: Sequence[int]

    def __init__(self, indices: Sequence[int], generator: Any = None) -> None:
        self.indices = indices
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        for i in flambeau.randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[i]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """Draws 0 .. len(weights) - 1 with probabilities in proportion to `weights`.

    Parameters
    ----------
    weights : one-dimensional, >= 0, need not sum up to one
    num_samples : int > 0, draws in a pass
    replacement : bool; without, no key comes twice in a pass
    generator : Generator, optional
    """

    weights: Any
    num_samples: int
    replacement: bool

    def __init__(
        self, weights: Sequence[float], num_samples: int, replacement: bool = True, generator: Any = None
    ) -> None:
        if not isinstance(num_samples, int) or isinstance(num_samples, bool) or num_samples <= 0:
            raise ValueError(f"num_samples should be a positive integer value, but got num_samples={num_samples}")
        if not isinstance(replacement, bool):
            raise ValueError(f"replacement should be a boolean value, but got replacement={replacement}")
        values = flambeau.as_tensor(weights, dtype=flambeau.double)
        if len(values.shape) != 1:
            raise ValueError(f"weights should be a 1d sequence but given weights have shape {tuple(values.shape)}")
        self.weights = values
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        yield from flambeau.multinomial(
            self.weights, self.num_samples, self.replacement, generator=self.generator
        ).tolist()

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """Lists of `batch_size` keys of another sampler; the last may be shorter unless `drop_last`."""

    def __init__(self, sampler: Sampler[int] | Iterable[int], batch_size: int, drop_last: bool) -> None:
        if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size <= 0:
            raise ValueError(f"batch_size should be a positive integer value, but got batch_size={batch_size}")
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[int]]:
        keys = iter(self.sampler)
        while batch := list(itertools.islice(keys, self.batch_size)):
            if len(batch) < self.batch_size and self.drop_last:
                return
            yield batch

    def __len__(self) -> int:
        n = len(self.sampler)  # type: ignore[arg-type]
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)


def draw_seed(generator: Any = None) -> int:
    """Draw a seed in [0, 2^63) from `generator`, or the default one."""
    return int(flambeau.empty((), dtype=flambeau.int64).random_(generator=generator).item())
