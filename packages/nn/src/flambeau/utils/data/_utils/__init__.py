"""The parts of the loader that run in workers too: collating, fetching, the worker's loop."""

from flambeau.utils.data._utils import collate, fetch, worker

__all__ = ["collate", "fetch", "worker"]
