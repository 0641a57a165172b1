"""Error classes that are narrower than the built-in ones they inherit, so that code written for torch catches them."""


class ShapeError(RuntimeError):
    """Sizes or strides do not fit."""


class DTypeError(RuntimeError):
    """An element type is not supported or does not match."""


class DeviceError(RuntimeError):
    """Tensors are on the wrong device, or the device does not exist."""


class FormatError(RuntimeError):
    """Malformed serialised data."""


class InternalError(RuntimeError):
    """A mistake of ours: please report it."""


class OutOfMemoryError(RuntimeError, MemoryError):
    """The system has no memory for the allocation."""
