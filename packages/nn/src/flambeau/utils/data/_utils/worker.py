"""What runs in a worker process: seeds, the dataset, and a loop of fetch and send."""

from __future__ import annotations

import gc
import random
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import flambeau
from flambeau.utils.data._channel import Channel, Closed
from flambeau.utils.data._faults import ExceptionWrapper
from flambeau.utils.data._utils import worker_info
from flambeau.utils.data._utils.fetch import IterableFetcher, MapFetcher
from flambeau.utils.data._utils.worker_info import WorkerInfo, get_worker_info

__all__ = ["WorkerInfo", "get_worker_info"]


@dataclass(frozen=True, slots=True)
class WorkerSetup:
    """All that a worker is started with."""

    id: int
    num_workers: int
    base_seed: int
    dataset: Any
    is_iterable: bool
    auto_collation: bool
    collate_fn: Callable[[Any], Any]
    drop_last: bool
    worker_init_fn: Callable[[int], Any] | None


# Messages to a worker: (FETCH, task, keys, released), (RESUME, 0, None, released), (STOP, 0, None, None),
# where `released` is what `Channel.released` returned.
FETCH, RESUME, STOP = range(3)
# Messages from a worker: (BATCH, task, data), (FAULT, task, ExceptionWrapper), (ENDED, task, None),
# (RESUMED, 0, None).
BATCH, FAULT, ENDED, RESUMED = range(4)


def run_worker(setup: WorkerSetup, channel: Channel, inherited: list[Channel]) -> None:
    """Serve the loader until it stops this worker, or goes away.

    Parameters
    ----------
    inherited : the loader's ends of the channels that existed when this process was forked; held
        open here they would hide from other workers that the loader is gone
    """
    for other in inherited:
        other.close()
    # Ctrl-C reaches the whole process group; the loader decides when its workers stop.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # A handler of the loader's process is not meant for this one, which has to end when told to.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    # What was inherited is not collected again: visiting it would write to, and so copy, its pages.
    gc.freeze()
    try:
        _serve(setup, channel)
    except Closed:
        pass
    finally:
        channel.close()


def _serve(setup: WorkerSetup, channel: Channel) -> None:
    where = f"in DataLoader worker process {setup.id}"
    broken: ExceptionWrapper | None = None
    fetcher: Any = None
    try:
        _prepare(setup)
        fetcher = _make_fetcher(setup)
    except Exception:
        broken = ExceptionWrapper.of_current(where)
    ended = False
    while True:
        kind, number, keys, released = channel.receive()
        channel.recycle(released)
        if kind == STOP:
            return
        if kind == RESUME:
            ended = False
            if setup.is_iterable and broken is None:
                try:
                    fetcher = _make_fetcher(setup)
                except Exception:
                    broken = ExceptionWrapper.of_current(where)
            channel.send((RESUMED, number, None))
            continue
        if ended:
            channel.send((ENDED, number, None))
            continue
        if broken is not None:
            channel.send((FAULT, number, broken))
            continue
        message: Any
        try:
            message = (BATCH, number, fetcher.fetch(keys))
        except Exception as error:
            if isinstance(error, StopIteration) and setup.is_iterable:
                message, ended = (ENDED, number, None), True
            else:
                message = (FAULT, number, ExceptionWrapper.of_current(where))
        _send(channel, message, where)
        # Free the batch before waiting for the next request.
        del message


def _send(channel: Channel, message: tuple[int, int, Any], where: str) -> None:
    try:
        channel.send(message)
    except Closed:
        raise
    except Exception:
        # What cannot be sent, such as a lambda, is a fault of this batch only.
        channel.send((FAULT, message[1], ExceptionWrapper.of_current(where)))


def _prepare(setup: WorkerSetup) -> None:
    """Seed every generator, and let this process use one thread: there are as many as cores already."""
    flambeau.set_num_threads(1)
    seed = setup.base_seed + setup.id
    random.seed(seed)
    flambeau.manual_seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        entropy = [setup.id, setup.base_seed & 0xFFFFFFFF, setup.base_seed >> 32, 0]
        numpy.random.seed(numpy.random.SeedSequence(entropy).generate_state(4))
    worker_info.set_worker_info(WorkerInfo(setup.id, setup.num_workers, seed, setup.dataset))
    if setup.worker_init_fn is not None:
        setup.worker_init_fn(setup.id)


def _make_fetcher(setup: WorkerSetup) -> Any:
    kind = IterableFetcher if setup.is_iterable else MapFetcher
    return kind(setup.dataset, setup.auto_collation, setup.collate_fn, setup.drop_last)
