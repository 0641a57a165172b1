"""Helpers around training: data loading, hooks. Submodules are loaded on first use."""

from __future__ import annotations

import importlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from flambeau.utils import data as data
    from flambeau.utils import dlpack as dlpack
    from flambeau.utils import hooks as hooks

_SUBMODULES = ("data", "hooks", "checkpoint", "tensorboard", "dlpack", "collect_env", "_pytree", "_python_dispatch")

__all__ = ["data", "hooks"]


if not TYPE_CHECKING:  # to checkers the names are those imported above, and no others

    def __getattr__(name: str) -> Any:
        if name in _SUBMODULES:
            try:
                return importlib.import_module(f"flambeau.utils.{name}")
            except ModuleNotFoundError as err:
                if err.name != f"flambeau.utils.{name}":
                    raise
        raise AttributeError(f"[flambeau.utils] there is no {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
