"""Exchange of memory with other array libraries."""

from flambeau import from_dlpack, to_dlpack

__all__ = ["from_dlpack", "to_dlpack"]
