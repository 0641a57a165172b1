"""Context managers that keep `__torch_function__` from being called."""

from flambeau import _C


class DisableTorchFunctionSubclass:
    """Inside the block functions treat subclasses of Tensor as plain tensors."""

    def __enter__(self) -> None:
        self._saved = _C._set_torch_function_disabled(True)

    def __exit__(self, *exc: object) -> None:
        _C._set_torch_function_disabled(self._saved)


class DisableTorchFunction(DisableTorchFunctionSubclass):
    """The same: there are no modes beside the subclasses' methods here."""
