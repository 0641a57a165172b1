"""A sampler that gives each process of a job its own share."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator
from typing import Any

import flambeau
from flambeau.utils.data.sampler import Sampler

__all__ = ["DistributedSampler"]


class DistributedSampler(Sampler[Any]):
    """Every `num_replicas`-th key from `rank` on, of an order that all processes agree on.

    Parameters
    ----------
    dataset : has a length
    num_replicas, rank : ints, optional; those of the default process group
    shuffle : a new order in every epoch, see `set_epoch`
    seed : int, the same in all processes
    drop_last : drop the tail that does not fill a round; otherwise it is filled up from the start

    Raises
    ------
    ValueError  if `rank` is not in [0, num_replicas), or is needed and there is no process group
    """

    def __init__(
        self,
        dataset: Any,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        num_replicas = _group("get_world_size") if num_replicas is None else num_replicas
        rank = _group("get_rank") if rank is None else rank
        if rank >= num_replicas or rank < 0:
            raise ValueError(f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]")
        self.dataset = dataset
        self.num_replicas = num_replicas
        self.rank = rank
        self.epoch = 0
        self.drop_last = drop_last
        n = len(dataset)
        spare = n % num_replicas
        if drop_last and spare:
            self.num_samples = math.ceil((n - num_replicas) / num_replicas)
        else:
            self.num_samples = math.ceil(n / num_replicas)
        self.total_size = self.num_samples * num_replicas
        self.shuffle = shuffle
        self.seed = seed

    def __iter__(self) -> Iterator[int]:
        n = len(self.dataset)
        if self.shuffle:
            generator = flambeau.Generator()
            generator.manual_seed(self.seed + self.epoch)
            order = flambeau.randperm(n, generator=generator).tolist()
        else:
            order = list(range(n))
        missing = self.total_size - len(order)
        if self.drop_last:
            order = order[: self.total_size]
        elif missing > 0:
            order += (order * math.ceil(missing / len(order)))[:missing]
        return iter(order[self.rank : self.total_size : self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Choose the order of the next pass; call it in all processes before each epoch."""
        self.epoch = epoch


def _group(what: str) -> int:
    try:
        return int(getattr(importlib.import_module("flambeau.distributed"), what)())
    except (AttributeError, ImportError) as err:
        raise RuntimeError("Requires distributed package to be available") from err
