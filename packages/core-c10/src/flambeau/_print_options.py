"""How tensors are printed: the options, the profiles, and the calls that change them."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from typing import Any


@dataclasses.dataclass
class PrintOptions:
    """What `repr` of a tensor obeys.

    precision : digits after the point of a floating number
    threshold : tensors of more elements than this are printed by their edges only
    edgeitems : how many elements an edge has, in each dimension
    linewidth : columns after which a line is broken
    sci_mode : True always, False never, None where the range of the values asks for it
    """

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


PRINT_OPTS = PrintOptions()

_PROFILES: dict[str, dict[str, Any]] = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": float("inf"), "edgeitems": 3, "linewidth": 80},
}


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Change how tensors are printed; see `PrintOptions` for the meaning of each option.

    An option left at None keeps its value, except `sci_mode`, where None means "as the values ask".
    `profile` ("default", "short" or "full") is applied first.

    Raises
    ------
    ValueError  if `profile` is not one of the three
    """
    if profile is not None:
        if profile not in _PROFILES:
            raise ValueError(
                f"[set_printoptions] profile is {profile!r}; allowed are {', '.join(map(repr, _PROFILES))}"
            )
        for name, value in _PROFILES[profile].items():
            setattr(PRINT_OPTS, name, value)
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    for name, value in given.items():
        if value is not None:
            setattr(PRINT_OPTS, name, value)
    PRINT_OPTS.sci_mode = sci_mode


def get_printoptions() -> dict[str, Any]:
    """Return the options in force, as keyword arguments for `set_printoptions`."""
    return dataclasses.asdict(PRINT_OPTS)


@contextlib.contextmanager
def printoptions(**kwargs: Any) -> Iterator[None]:
    """Change print options inside a `with` block; takes what `set_printoptions` takes."""
    before = get_printoptions()
    set_printoptions(**kwargs)
    try:
        yield
    finally:
        set_printoptions(**before)
