"""The two iterators of a DataLoader."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from flambeau.utils.data._utils.fetch import IterableFetcher, MapFetcher
from flambeau.utils.data.sampler import draw_seed

if TYPE_CHECKING:
    from flambeau.utils.data.dataloader import DataLoader


class _BaseDataLoaderIter:
    """One pass over a loader."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        self._loader = loader
        self._sampler_iter = iter(loader._index_sampler)
        # Drawn in both iterators and before the order, so that the number of workers changes neither.
        self._base_seed = draw_seed(loader.generator)
        self._num_yielded = 0

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        data = self._next_data()
        self._num_yielded += 1
        self._loader._warn_if_longer(self._num_yielded)
        return data

    next = __next__

    def __len__(self) -> int:
        return len(self._loader._index_sampler)

    def __getstate__(self) -> Any:
        raise NotImplementedError("{} cannot be pickled", type(self).__name__)

    def _next_data(self) -> Any:
        raise NotImplementedError

    def _reset(self, loader: DataLoader[Any]) -> None:
        self._sampler_iter = iter(loader._index_sampler)
        self._num_yielded = 0

    @property
    def is_shut_down(self) -> bool:
        """True if this iterator cannot start another pass."""
        return False


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    """Fetches a batch when it is asked for."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        super().__init__(loader)
        if loader.timeout != 0:
            raise AssertionError(f"timeout must be 0 without workers, but got {loader.timeout}")
        if loader.num_workers != 0:
            raise AssertionError(f"num_workers must be 0, but got {loader.num_workers}")
        kind = IterableFetcher if loader._dataset_kind else MapFetcher
        self._fetcher = kind(loader.dataset, loader._auto_collation, loader.collate_fn, loader.drop_last)

    def _next_data(self) -> Any:
        keys = next(self._sampler_iter)
        if self._loader._dataset_kind:
            return self._fetcher.fetch(keys)
        try:
            return self._fetcher.fetch(keys)
        except StopIteration as error:
            # Let through, it would end the pass as if there were no more samples.
            raise RuntimeError(f"[DataLoader] the dataset raised StopIteration for the keys {keys}") from error


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """Hands out keys to workers ahead of time and gives their batches in order.

    Each worker has up to `prefetch_factor` tasks; tasks are numbered in the order of the sampler.
    """

    def __init__(self, loader: DataLoader[Any]) -> None:
        super().__init__(loader)
        # Multiprocessing and sockets are loaded by those who use them.
        from flambeau.utils.data._workers import Workers

        if loader.num_workers <= 0:
            raise AssertionError("num_workers must be > 0")
        if not loader.prefetch_factor or loader.prefetch_factor <= 0:
            raise AssertionError("prefetch_factor must be > 0")
        self._in_order = loader.in_order
        self._depth = loader.prefetch_factor
        self._workers = Workers(loader, self._base_seed)
        self._start_pass()

    def _start_pass(self) -> None:
        n = self._loader.num_workers
        self._next_task = 0
        self._turn = 0
        self._open: dict[int, int] = {}  # task -> worker, not yet given out, in order
        self._ready: dict[int, Any] = {}  # task -> batch or fault
        self._load = [0] * n  # tasks that each worker still has to answer
        self._ended = [False] * n
        self._keys_left = True
        for _ in range(self._depth * n):
            self._hand_out()

    def _reset(self, loader: DataLoader[Any]) -> None:
        try:
            self._workers.resume()
        except BaseException:
            self._workers.shut_down()
            raise
        super()._reset(loader)
        self._start_pass()

    def _hand_out(self) -> None:
        """Give the next keys to the next worker that has room."""
        if not self._keys_left:
            return
        n = len(self._load)
        for step in range(n):
            worker = (self._turn + step) % n
            if not self._ended[worker] and (self._in_order or self._load[worker] < self._depth):
                break
        else:
            return
        try:
            keys = next(self._sampler_iter)
        except StopIteration:
            self._keys_left = False
            return
        self._turn = (worker + 1) % n
        self._workers.fetch(worker, self._next_task, keys)
        self._open[self._next_task] = worker
        self._load[worker] += 1
        self._next_task += 1

    def _next_data(self) -> Any:
        try:
            task = self._wait_for_task()
            data = self._ready.pop(task)
            del self._open[task]
            self._hand_out()
        except StopIteration:
            if not self._loader.persistent_workers:
                self._workers.shut_down()
            raise
        except BaseException:
            # A worker that died, a timeout, Ctrl-C: none of them leaves workers behind.
            self._workers.shut_down()
            raise
        if isinstance(data, self._workers.FAULT_TYPE):
            data.reraise()
        return data

    def _wait_for_task(self) -> int:
        """Return the number of the task to give out, once it is ready."""
        while True:
            if self._ready and not self._in_order:
                return next(iter(self._ready))
            if not self._open:
                raise StopIteration
            task = next(iter(self._open))
            if task in self._ready:
                return task
            self._take(*self._workers.wait(self._loader.timeout))

    def _take(self, worker: int, kind: int, task: int, data: Any) -> None:
        """Book an answer of a worker."""
        self._load[worker] -= 1
        if kind == self._workers.ENDED:
            # Nothing comes of this task; those asked of this worker after it get the same answer.
            self._ended[worker] = True
            del self._open[task]
            self._hand_out()
        else:
            self._ready[task] = data

    @property
    def is_shut_down(self) -> bool:
        return self._workers.is_shut_down

    def __del__(self) -> None:
        workers = getattr(self, "_workers", None)
        if workers is not None:
            workers.shut_down()
