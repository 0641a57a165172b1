"""The worker processes of one loader: starting, asking, waiting, noticing deaths, stopping."""

from __future__ import annotations

import multiprocessing
import os
import select
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from flambeau.utils.data._channel import Channel, Closed, channel_pair
from flambeau.utils.data._faults import ExceptionWrapper, worker_died
from flambeau.utils.data._utils.worker import ENDED, FETCH, RESUME, RESUMED, STOP, WorkerSetup, run_worker

if TYPE_CHECKING:
    from flambeau.utils.data.dataloader import DataLoader

# How long a worker may take to finish its batch before it is terminated, and then killed.
_GRACE_S = 1.0


class Workers:
    """`num_workers` processes, each behind its own channel.

    A worker's death shows at once, as the end of its channel or on its sentinel; every wait
    watches both.

    Parameters
    ----------
    loader : gives dataset, collation and the way to start processes
    base_seed : int, seed of worker 0
    """

    ENDED = ENDED  # the kind of answer that says that a stream has ended
    FAULT_TYPE = ExceptionWrapper  # what stands for a batch that failed

    def __init__(self, loader: DataLoader[Any], base_seed: int) -> None:
        context = loader.multiprocessing_context
        if context is None:
            # Fork: the dataset is shared, page by page, until somebody writes to it.
            context = multiprocessing.get_context("fork")
        self._owner = os.getpid()
        self.is_shut_down = False
        self._channels: list[Channel] = []
        self._processes: list[Any] = []
        self._poll = select.poll()
        self._worker_of: dict[int, int] = {}
        try:
            for i in range(loader.num_workers):
                self._start(context, _setup_of(loader, base_seed, i))
        except BaseException:
            self.shut_down()
            raise

    def _start(self, context: Any, setup: WorkerSetup) -> None:
        mine, theirs = channel_pair()
        forks = context.get_start_method() == "fork"
        inherited = [*self._channels, mine] if forks else []
        process = context.Process(target=run_worker, args=(setup, theirs, inherited), daemon=True)
        try:
            process.start()
        except BaseException:
            mine.close()
            raise
        finally:
            # A copy of the worker's end in this process would hide its death.
            theirs.close()
        mine.set_blocking(False)
        self._channels.append(mine)
        self._processes.append(process)
        for fd in (mine.fileno(), process.sentinel):
            self._worker_of[fd] = setup.id
            self._poll.register(fd, select.POLLIN)

    @property
    def pids(self) -> list[int]:
        """Process numbers, by worker."""
        return [p.pid for p in self._processes]

    def fetch(self, worker: int, task: int, keys: Any) -> None:
        """Ask `worker` for the batch of `keys`."""
        self._send(worker, FETCH, task, keys)

    def resume(self) -> None:
        """Prepare all workers for another pass; what they still send of the last one is dropped."""
        for worker in range(len(self._channels)):
            self._send(worker, RESUME, 0, None)
        waiting = len(self._channels)
        while waiting:
            _, kind, _, _ = self.wait(0)
            waiting -= kind == RESUMED

    def _send(self, worker: int, kind: int, number: int, keys: Any) -> None:
        channel = self._channels[worker]
        try:
            channel.send((kind, number, keys, channel.released()))
        except Closed:
            self._raise_death([worker])

    def wait(self, timeout: float) -> tuple[int, int, int, Any]:
        """Return the next answer: worker, kind, task, data.

        Parameters
        ----------
        timeout : seconds; 0, for ever

        Raises
        ------
        RuntimeError  if a worker has died, or there is no answer in time
        """
        if self.is_shut_down:
            raise RuntimeError("[DataLoader] the workers of this iterator were shut down")
        deadline = time.monotonic() + timeout if timeout > 0 else None
        while True:
            self._watch_unsent()
            left = None if deadline is None else max(0.0, deadline - time.monotonic()) * 1000
            events = self._poll.poll(left)
            if not events:
                raise RuntimeError(f"DataLoader timed out after {timeout} seconds")
            answer = self._read(events)
            if answer is not None:
                return answer

    def _watch_unsent(self) -> None:
        for channel in self._channels:
            wanted = select.POLLIN | (select.POLLOUT if channel.has_unsent else 0)
            self._poll.modify(channel.fileno(), wanted)

    def _read(self, events: list[tuple[int, int]]) -> tuple[int, int, int, Any] | None:
        """Return the first answer among the events; then look for the dead."""
        dead = []
        for fd, event in events:
            worker = self._worker_of[fd]
            channel = self._channels[worker]
            if fd != channel.fileno():
                # Answers that were sent before the death come first.
                if not self._has_answer(channel):
                    dead.append(worker)
                continue
            try:
                if event & select.POLLOUT:
                    channel.flush()
                if event & ~select.POLLOUT:
                    kind, task, data = channel.receive()
                    return worker, kind, task, data
            except BlockingIOError:
                continue
            except Closed:
                dead.append(worker)
        if dead:
            self._raise_death(dead)
        return None

    @staticmethod
    def _has_answer(channel: Channel) -> bool:
        poll = select.poll()
        poll.register(channel.fileno(), select.POLLIN)
        return any(event & select.POLLIN for _, event in poll.poll(0))

    def _raise_death(self, workers: list[int]) -> None:
        for worker in set(workers):
            # The channel ends a moment before the process does.
            self._processes[worker].join(_GRACE_S)
        raise worker_died([(w, self._processes[w]) for w in sorted(set(workers))])

    def shut_down(self) -> None:
        """Stop all workers and wait for their end; those that do not end in time are killed."""
        # After a fork this object exists in the child too, where the workers are not its children.
        if self.is_shut_down or os is None or os.getpid() != self._owner:
            return
        self.is_shut_down = True
        for channel in self._channels:
            with suppress(Closed):
                channel.send((STOP, 0, None, None))
            channel.close()
        deadline = time.monotonic() + _GRACE_S
        for process in self._processes:
            process.join(max(0.0, deadline - time.monotonic()))
        for end in ("terminate", "kill"):
            alive = [p for p in self._processes if p.is_alive()]
            for process in alive:
                getattr(process, end)()
            for process in alive:
                process.join(_GRACE_S)


def _setup_of(loader: DataLoader[Any], base_seed: int, worker: int) -> WorkerSetup:
    return WorkerSetup(
        id=worker,
        num_workers=loader.num_workers,
        base_seed=base_seed,
        dataset=loader.dataset,
        is_iterable=bool(loader._dataset_kind),
        auto_collation=loader._auto_collation,
        collate_fn=loader.collate_fn,
        drop_last=loader.drop_last,
        worker_init_fn=loader.worker_init_fn,
    )
