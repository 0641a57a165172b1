"""DataLoader: batches of a dataset, fetched here or by worker processes."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

from flambeau.utils.data._iterators import (
    _BaseDataLoaderIter,
    _MultiProcessingDataLoaderIter,
    _SingleProcessDataLoaderIter,
)
from flambeau.utils.data._utils.collate import default_collate, default_convert
from flambeau.utils.data._utils.worker_info import get_worker_info
from flambeau.utils.data.dataset import Dataset, IterableDataset
from flambeau.utils.data.sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler

T_co = TypeVar("T_co", covariant=True)

__all__ = ["DataLoader", "default_collate", "default_convert", "get_worker_info"]


class _DatasetKind:
    Map = 0
    Iterable = 1


class _InfiniteConstantSampler(Sampler[None]):
    """Stands for keys where the dataset is a stream."""

    def __iter__(self) -> Iterator[None]:
        return itertools.repeat(None)


class DataLoader(Generic[T_co]):
    """Iterates over a dataset in batches.

    Parameters
    ----------
    dataset : Dataset, or anything with `__getitem__` and `__len__`; or an IterableDataset
    batch_size : int > 0; None, samples one by one, converted but not collated
    shuffle : draw a new order in every pass
    sampler : keys in the order to take them, instead of `shuffle`
    batch_sampler : lists of keys, instead of batch_size, shuffle, sampler and drop_last
    num_workers : int, processes that fetch ahead; 0, fetch in this process when asked
    collate_fn : list of samples -> batch; `default_collate`, without batches `default_convert`
    pin_memory, pin_memory_device : accepted; host memory is as good as any here
    drop_last : leave out a last batch that is not full
    timeout : seconds to wait for a batch from a worker; 0, for ever
    worker_init_fn : called with the number of the worker, after seeding
    multiprocessing_context : "fork" (default), "spawn", "forkserver", or a context
    generator : Generator of the order and of the workers' seeds; the default one otherwise
    prefetch_factor : int, batches that each worker is ahead; 2 by default
    persistent_workers : keep the workers from one pass to the next
    in_order : give batches in the order of the sampler; False, as they are ready

    A worker that dies, or an exception in it, is raised here, with its name and its traceback. The
    same seed gives the same order, and the same numbers in workers, as torch.
    """

    dataset: Any
    batch_size: int | None
    num_workers: int
    pin_memory: bool
    drop_last: bool
    timeout: float
    sampler: Any
    pin_memory_device: str
    prefetch_factor: int | None
    _iterator: _BaseDataLoaderIter | None
    __initialized = False

    def __init__(
        self,
        dataset: Dataset[T_co],
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Sampler[Any] | Iterable[Any] | None = None,
        batch_sampler: Sampler[list[Any]] | Iterable[list[Any]] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], Any] | None = None,
        multiprocessing_context: Any = None,
        generator: Any = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        self.prefetch_factor = _check_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        self.dataset = dataset
        self.num_workers = num_workers
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.in_order = in_order
        is_stream = isinstance(dataset, IterableDataset)
        self._dataset_kind = _DatasetKind.Iterable if is_stream else _DatasetKind.Map
        if is_stream:
            _check_stream_options(shuffle, sampler, batch_sampler)
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
                )
            batch_size, drop_last = None, False
        elif batch_size is None and drop_last:
            raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")
        if sampler is None:
            sampler = _default_sampler(dataset, is_stream, bool(shuffle), generator)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.generator = generator
        if collate_fn is None:
            collate_fn = default_collate if self._auto_collation else default_convert
        self.collate_fn = collate_fn
        self.persistent_workers = persistent_workers
        self.__initialized = True
        self._IterableDataset_len_called: int | None = None
        self._iterator = None

    def __setattr__(self, name: str, value: Any) -> None:
        fixed = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")
        if self.__initialized and name in fixed:
            raise ValueError(f"{name} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(name, value)

    @property
    def multiprocessing_context(self) -> Any:
        """The context that workers are started in; None, by fork."""
        return self.__multiprocessing_context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context: Any) -> None:
        self.__multiprocessing_context = _checked_context(context, self.num_workers)

    @property
    def _auto_collation(self) -> bool:
        return self.batch_sampler is not None

    @property
    def _index_sampler(self) -> Any:
        return self.batch_sampler if self._auto_collation else self.sampler

    def _get_iterator(self) -> _BaseDataLoaderIter:
        if self.num_workers == 0:
            return _SingleProcessDataLoaderIter(self)
        return _MultiProcessingDataLoaderIter(self)

    def __iter__(self) -> _BaseDataLoaderIter:
        if not self.persistent_workers or self.num_workers == 0:
            return self._get_iterator()
        if self._iterator is None or self._iterator.is_shut_down:
            self._iterator = self._get_iterator()
        else:
            self._iterator._reset(self)
        return self._iterator

    def __len__(self) -> int:
        if self._dataset_kind == _DatasetKind.Map:
            return len(self._index_sampler)
        # A promise of the dataset, checked when more samples come than that.
        length = self._IterableDataset_len_called = len(self.dataset)
        if self.batch_size is None:
            return length
        return length // self.batch_size if self.drop_last else math.ceil(length / self.batch_size)

    def _warn_if_longer(self, num_yielded: int) -> None:
        """Tell the user that a stream gave more than its length said."""
        expected = self._IterableDataset_len_called
        if self._dataset_kind != _DatasetKind.Iterable or expected is None:
            return
        if self.batch_size is not None:
            expected = len(self)
        if num_yielded <= expected:
            return
        message = (
            f"Length of IterableDataset {self.dataset} was reported to be "
            f"{self._IterableDataset_len_called} (when accessing len(dataloader)), but {num_yielded} "
            "samples have been fetched. "
        )
        if self.num_workers > 0:
            message += (
                "For multiprocessing data-loading, this could be caused by not properly configuring "
                "the IterableDataset replica at each worker: see get_worker_info."
            )
        warnings.warn(message, stacklevel=3)


def _check_workers(
    num_workers: int, timeout: float, prefetch_factor: int | None, persistent_workers: bool
) -> int | None:
    if num_workers < 0:
        raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if num_workers == 0 and prefetch_factor is not None:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing."
            "let num_workers > 0 to enable multiprocessing, otherwise set prefetch_factor to None."
        )
    if num_workers > 0 and prefetch_factor is None:
        prefetch_factor = 2
    elif prefetch_factor is not None and prefetch_factor < 0:
        raise ValueError("prefetch_factor option should be non-negative")
    if persistent_workers and num_workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")
    return prefetch_factor


def _check_stream_options(shuffle: Any, sampler: Any, batch_sampler: Any) -> None:
    unwanted = {"sampler": sampler, "batch_sampler": batch_sampler}
    given = {"shuffle": shuffle} if shuffle else {k: v for k, v in unwanted.items() if v is not None}
    for name, value in given.items():
        raise ValueError(f"DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={value}")


def _default_sampler(dataset: Any, is_stream: bool, shuffle: bool, generator: Any) -> Sampler[Any]:
    if is_stream:
        return _InfiniteConstantSampler()
    if shuffle:
        return RandomSampler(dataset, generator=generator)
    return SequentialSampler(dataset)


def _checked_context(context: Any, num_workers: int) -> Any:
    if context is None:
        return None
    if num_workers == 0:
        raise ValueError(
            "multiprocessing_context can only be used with multi-process loading (num_workers > 0), "
            f"but got num_workers={num_workers}"
        )
    import multiprocessing

    if isinstance(context, str):
        valid = multiprocessing.get_all_start_methods()
        if context not in valid:
            raise ValueError(
                "multiprocessing_context option should specify a valid start method in "
                f"{valid!r}, but got multiprocessing_context={context!r}"
            )
        return multiprocessing.get_context(context)
    if not isinstance(context, multiprocessing.context.BaseContext):
        raise TypeError(
            "multiprocessing_context option should be a valid context object or a string specifying "
            f"the start method, but got multiprocessing_context={context}"
        )
    return context
