"""From keys to a batch, in the loader's process or in a worker."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any

import flambeau
from flambeau.utils.data._utils.collate import default_collate
from flambeau.utils.data.dataset import Subset, TensorDataset


class MapFetcher:
    """Fetches from a dataset that can be indexed."""

    def __init__(self, dataset: Any, auto_collation: bool, collate_fn: Callable[[Any], Any], drop_last: bool) -> None:
        self.dataset = dataset
        self.auto_collation = auto_collation
        self.collate_fn = collate_fn
        self._gathers = auto_collation and collate_fn is default_collate

    def fetch(self, keys: Any) -> Any:
        """Return the batch of a list of keys; without automatic batching, the sample of one key."""
        dataset = self.dataset
        if not self.auto_collation:
            return self.collate_fn(dataset[keys])
        if self._gathers:
            batch = gather(dataset, keys)
            if batch is not None:
                return batch
        many = getattr(dataset, "__getitems__", None)
        samples = many(keys) if many else [dataset[key] for key in keys]
        return self.collate_fn(samples)


class IterableFetcher:
    """Fetches from a stream."""

    def __init__(self, dataset: Any, auto_collation: bool, collate_fn: Callable[[Any], Any], drop_last: bool) -> None:
        self.auto_collation = auto_collation
        self.collate_fn = collate_fn
        self.drop_last = drop_last
        self.dataset_iter = iter(dataset)
        self.ended = False

    def fetch(self, keys: Any) -> Any:
        """Return a batch of as many samples as there are keys, or what is left; then StopIteration."""
        if self.ended:
            raise StopIteration
        if not self.auto_collation:
            return self.collate_fn(next(self.dataset_iter))
        samples = list(islice(self.dataset_iter, len(keys)))
        if len(samples) < len(keys):
            self.ended = True
            if not samples or self.drop_last:
                raise StopIteration
        return self.collate_fn(samples)


def gather(dataset: Any, keys: list[int]) -> list[Any] | None:
    """Take whole batches out of a TensorDataset, also through Subsets.

    The result is that of indexing row by row and stacking, in one operation per tensor. None where
    that does not hold: other datasets, tensors that are not plain, keys from the end or past it.
    """
    while type(dataset) is Subset:
        indices = dataset.indices
        dataset, keys = dataset.dataset, [indices[i] for i in keys]
    if type(dataset) is not TensorDataset or not keys:
        return None
    if not all(type(t) is flambeau.Tensor for t in dataset.tensors):
        return None
    if not all(type(k) is int for k in keys) or min(keys) < 0 or max(keys) >= len(dataset):
        return None
    index = flambeau.tensor(keys)
    return [t.index_select(0, index) for t in dataset.tensors]
