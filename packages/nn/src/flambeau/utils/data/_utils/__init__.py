"""The parts of the loader that run in workers too: collating, fetching, the worker's loop."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["collate", "fetch", "worker"]


def __getattr__(name: str) -> Any:
    # The loop brings in multiprocessing and sockets, which a loader without workers can do without.
    if name in __all__:
        return importlib.import_module(f"flambeau.utils.data._utils.{name}")
    raise AttributeError(f"[flambeau.utils.data._utils] there is no {name!r}")
