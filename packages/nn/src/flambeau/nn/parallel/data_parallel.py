"""DataParallel on a machine without several accelerators: a wrapper that calls its module."""

from __future__ import annotations

from flambeau.nn.modules.module import Module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["DataParallel", "data_parallel"]


class DataParallel(Module):
    """Keeps `module` as a child and calls it: with no accelerators there is nothing to spread.

    State dict keys begin with "module.", as everywhere.
    """

    def __init__(self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0) -> None:
        super().__init__()
        self.module = module
        self.device_ids: list[int] = []
        self.output_device = output_device
        self.dim = dim

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)


def data_parallel(
    module: Module,
    inputs: Any,
    device_ids: Any = None,
    output_device: Any = None,
    dim: int = 0,
    module_kwargs: dict | None = None,
) -> Any:
    """Call `module` once, as DataParallel would."""
    inputs = inputs if isinstance(inputs, tuple) else (inputs,)
    return module(*inputs, **(module_kwargs or {}))
