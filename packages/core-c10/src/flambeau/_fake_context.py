"""What a fake implementation may ask for."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["FakeImplCtx", "get_ctx"]

_active: list[FakeImplCtx] = []


class FakeImplCtx:
    """Given to fake implementations by `get_ctx`.

    `new_dynamic_size` stands for a size that depends on data: an integer here, a symbol where a tracer says so.
    """

    def __init__(self, make_size: Callable[[int, int | None], int] | None = None) -> None:
        self._make_size = make_size

    def new_dynamic_size(self, *, min: int = 0, max: int | None = None) -> int:
        """A size in [min, max] that only the data decides.

        Raises RuntimeError where nobody can stand for it: outside a fake tensor mode that takes symbols.
        """
        if self._make_size is None:
            raise RuntimeError(
                "[new_dynamic_size] the size depends on data, and meta tensors have none; a FakeTensorMode with a "
                "shape environment can stand for it"
            )
        return self._make_size(min, max)

    create_unbacked_symint = new_dynamic_size

    def __enter__(self) -> FakeImplCtx:
        _active.append(self)
        return self

    def __exit__(self, *exc: object) -> None:
        _active.pop()


def get_ctx() -> FakeImplCtx:
    """The context of the fake implementation that is running."""
    return _active[-1] if _active else FakeImplCtx()
