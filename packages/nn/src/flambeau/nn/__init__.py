"""Modules, parameters, functional forms and initialisation.

Layers, `functional` and the other submodules are loaded when they are first used.
"""

from __future__ import annotations

import importlib

from flambeau.nn import modules as modules
from flambeau.nn.modules.module import Module as Module
from flambeau.nn.parameter import Buffer as Buffer
from flambeau.nn.parameter import Parameter as Parameter
from flambeau.nn.parameter import UninitializedBuffer as UninitializedBuffer
from flambeau.nn.parameter import UninitializedParameter as UninitializedParameter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from flambeau.nn import attention as attention
    from flambeau.nn import common_types as common_types
    from flambeau.nn import functional as functional
    from flambeau.nn import grad as grad
    from flambeau.nn import init as init
    from flambeau.nn import parallel as parallel
    from flambeau.nn import parameter as parameter
    from flambeau.nn import utils as utils
    from flambeau.nn.modules import *  # noqa: F403
    from flambeau.nn.parallel import DataParallel as DataParallel

_SUBMODULES = (
    "_reduction",
    "attention",
    "common_types",
    "functional",
    "grad",
    "init",
    "parallel",
    "parameter",
    "utils",
)


def factory_kwargs(kwargs: dict[str, Any] | None) -> dict[str, Any]:
    """The `device`, `dtype` and `memory_format` among keyword arguments, for a factory function.

    A dictionary under "factory_kwargs" may hold them too.

    Raises
    ------
    TypeError  for any other keyword, or one that is given twice
    """
    if kwargs is None:
        return {}
    simple = ("device", "dtype", "memory_format")
    unexpected = set(kwargs) - {*simple, "factory_kwargs"}
    if unexpected:
        raise TypeError(f"unexpected kwargs {unexpected}")
    result = dict(kwargs.get("factory_kwargs", {}))
    for key in simple:
        if key in kwargs:
            if key in result:
                raise TypeError(f"{key} specified twice, in **kwargs and in factory_kwargs")
            result[key] = kwargs[key]
    return result


if not TYPE_CHECKING:  # to checkers the names are those imported above, and no others
    __all__ = [
        "Buffer",
        "DataParallel",
        "Module",
        "Parameter",
        "UninitializedBuffer",
        "UninitializedParameter",
        "factory_kwargs",
        "functional",
        "init",
        "modules",
        "parameter",
        *modules._WHERE,
    ]

    def __getattr__(name: str) -> Any:
        if name in modules._WHERE:
            value = getattr(modules, name)
        elif name in _SUBMODULES:
            return importlib.import_module(f"{__name__}.{name}")
        elif name == "DataParallel":
            value = importlib.import_module(f"{__name__}.parallel").DataParallel
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__, *_SUBMODULES})
