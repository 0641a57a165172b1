"""The operators: importing this registers their records and kernels with the dispatcher."""

from flambeau.aten import _C

__all__ = ["_C"]
