"""flambeau: torch's programming model, in packages that fit together.

Names are resolved on first use: natively implemented ones from `flambeau._C`, operators from the dispatcher, the rest from
the index that every installed package ships in `flambeau/_index/`.
"""

import pkgutil as _pkgutil

__path__ = _pkgutil.extend_path(__path__, __name__)

from flambeau import _C  # noqa: E402
from flambeau._C import *  # noqa: E402, F403
from flambeau._lazy import load_layers as _load_layers  # noqa: E402
from flambeau._lazy import resolve as _resolve  # noqa: E402
from flambeau.version import __version__  # noqa: E402

_load_layers()


def __getattr__(name: str) -> object:
    value = _resolve(name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    from flambeau._lazy import public_names

    return sorted({*globals(), *public_names()})
