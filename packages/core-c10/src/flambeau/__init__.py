"""flambeau: torch's programming model, in packages that fit together.

Names are resolved on first use: natively implemented ones from `flambeau._C`, operators from the dispatcher, the rest from
the index that every installed package ships in `flambeau/_index/`.
"""

import os as _os
import sys as _sys

# What pkgutil.extend_path does, without the 30 modules that pkgutil loads: every folder `flambeau` on the path is ours.
__path__ += [p for p in (_os.path.join(d, __name__) for d in _sys.path) if p not in __path__ and _os.path.isdir(p)]

from flambeau import _C  # noqa: E402
from flambeau._C import *  # noqa: E402, F403
from flambeau._lazy import load_layers as _load_layers  # noqa: E402
from flambeau._lazy import resolve as _resolve  # noqa: E402
from flambeau.version import __version__  # noqa: E402

_load_layers()


def __getattr__(name: str):  # no return type, so that checkers take lazy names as Any
    value = _resolve(name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    from flambeau._lazy import public_names

    return sorted({*globals(), *public_names()})
