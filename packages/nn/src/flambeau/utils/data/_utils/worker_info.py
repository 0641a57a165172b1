"""What a dataset can ask about the worker that it is in."""

from __future__ import annotations

from typing import Any

__all__ = ["WorkerInfo", "get_worker_info"]


class WorkerInfo:
    """What a dataset can know about the worker that it is in.

    Attributes
    ----------
    id : int, 0 .. num_workers - 1
    num_workers : int
    seed : int, the base seed of the epoch plus `id`
    dataset : this worker's copy
    rng : None
    worker_method : "multiprocessing"
    """

    # In the order of the constructor's arguments.
    _FIELDS = ("id", "num_workers", "seed", "dataset", "rng", "worker_method")
    __slots__ = _FIELDS

    id: int
    num_workers: int
    seed: int
    dataset: Any
    rng: Any
    worker_method: str | None

    def __init__(
        self,
        id: int,
        num_workers: int,
        seed: int,
        dataset: Any,
        rng: Any = None,
        worker_method: str | None = "multiprocessing",
    ) -> None:
        for name, value in zip(self._FIELDS, (id, num_workers, seed, dataset, rng, worker_method)):
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        raise RuntimeError(f"Cannot assign attributes to {type(self).__name__} objects")

    def __repr__(self) -> str:
        items = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._FIELDS)
        return f"{type(self).__name__}({items})"


_worker_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """Return this worker's `WorkerInfo`; None in the main process."""
    return _worker_info


def set_worker_info(info: WorkerInfo) -> None:
    """Say that this process is a worker."""
    global _worker_info
    _worker_info = info
