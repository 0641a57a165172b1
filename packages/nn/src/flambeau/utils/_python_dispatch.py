"""Modes and switches of `__torch_dispatch__`, under the name that torch programs import."""

from flambeau._python_dispatch import *  # noqa: F403
from flambeau._python_dispatch import (
    _disable_current_modes as _disable_current_modes,
)
from flambeau._python_dispatch import (
    _DisableTorchDispatch as _DisableTorchDispatch,
)
from flambeau._python_dispatch import (
    _get_current_dispatch_mode as _get_current_dispatch_mode,
)
from flambeau._python_dispatch import (
    _get_current_dispatch_mode_stack as _get_current_dispatch_mode_stack,
)
