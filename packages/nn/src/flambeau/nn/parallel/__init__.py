"""Modules over several devices or processes."""

from __future__ import annotations

from flambeau.nn.parallel.data_parallel import DataParallel, data_parallel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["DataParallel", "DistributedDataParallel", "data_parallel"]


def __getattr__(name: str) -> Any:
    if name in ("DistributedDataParallel", "DistributedDataParallelCPU"):
        import importlib

        try:
            # A layer above this one: known by name only, and not required.
            distributed = importlib.import_module("flambeau.distributed")
        except ImportError as err:
            raise AttributeError(
                f"flambeau.nn.parallel.{name} needs flambeau.distributed, which this release does not have"
            ) from err
        return distributed.DistributedDataParallel
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
