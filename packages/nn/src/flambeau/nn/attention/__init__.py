"""Choosing implementations of scaled_dot_product_attention, and variants of it.

One fused operator serves the CPU, whatever is chosen: the choice is kept, and honoured by
backends that have more than one.
"""

from __future__ import annotations

import contextlib
import enum
import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["WARN_FOR_UNFUSED_KERNELS", "SDPBackend", "sdpa_kernel"]

WARN_FOR_UNFUSED_KERNELS = False


class SDPBackend(enum.IntEnum):
    """Implementations of scaled_dot_product_attention."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4

    def __repr__(self) -> str:
        return f"<SDPBackend.{self.name}: {self.value}>"

    def __str__(self) -> str:
        return f"SDPBackend.{self.name}"


_ALL = [
    SDPBackend.CUDNN_ATTENTION,
    SDPBackend.FLASH_ATTENTION,
    SDPBackend.EFFICIENT_ATTENTION,
    SDPBackend.MATH,
    SDPBackend.OVERRIDEABLE,
]
_chosen = threading.local()


def _cur_sdpa_kernel_backends(with_priority: bool = False) -> list[SDPBackend]:
    """The backends that are allowed in this thread, the preferred one first."""
    return list(getattr(_chosen, "backends", _ALL))


@contextlib.contextmanager
def sdpa_kernel(backends: list[SDPBackend] | SDPBackend, set_priority: bool = False) -> Iterator[None]:
    """Allow only these backends inside the block; `set_priority` prefers them in this order.

    Raises
    ------
    AssertionError  if it is given anything but SDPBackends
    """
    if isinstance(backends, SDPBackend):
        backends = [backends]
    if not isinstance(backends, list) or not all(isinstance(b, SDPBackend) for b in backends):
        raise AssertionError(
            "Backend must be an instance of SDPBackend or a list of SDPBackend instances, got "
            f"{type(backends).__name__}"
        )
    before = _cur_sdpa_kernel_backends()
    # Without priority, the order of preference stays what it was.
    _chosen.backends = list(dict.fromkeys(backends)) if set_priority else [b for b in _ALL if b in backends]
    try:
        yield
    finally:
        _chosen.backends = before
