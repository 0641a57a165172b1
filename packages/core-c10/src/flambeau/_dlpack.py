"""Memory shared with other array libraries."""

from __future__ import annotations

import enum

from flambeau import _C, Tensor

TYPE_CHECKING = False  # `import flambeau` does not pay for the import of typing
if TYPE_CHECKING:
    from typing import Any

    from flambeau._stubs.types import _Device


class DLDeviceType(enum.IntEnum):
    """Device numbers of the DLPack standard."""

    kDLCPU = 1
    kDLCUDA = 2
    kDLCUDAHost = 3


def to_dlpack(tensor: Tensor) -> object:
    """A capsule over the memory of a tensor."""
    return _C._to_dlpack(_exportable(tensor), False)


def from_dlpack(ext_tensor: Any, *, device: _Device | None = None, copy: bool | None = None) -> Tensor:
    """A tensor over the memory of an object with `__dlpack__`, or of a capsule.

    Raises
    ------
    RuntimeError  if the memory is not the CPU's, or the capsule is used up
    """
    if hasattr(ext_tensor, "__dlpack__"):
        try:
            capsule = ext_tensor.__dlpack__(max_version=(1, 0))
        except TypeError:  # producers from before versions
            capsule = ext_tensor.__dlpack__()
    else:
        capsule = ext_tensor
    out = _C._from_dlpack(capsule)
    if device is not None and _C.device(device).type != out.device.type:
        if copy is False:
            raise ValueError(f"cannot move data from {out.device} to {device} without copying")
        return out.to(device)
    return out.clone() if copy else out


def _exportable(tensor: Tensor) -> Tensor:
    if tensor.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    return tensor


def tensor_dlpack(
    self: Tensor,
    *,
    stream: object = -1,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple | None = None,
    copy: bool | None = None,
) -> object:
    """`Tensor.__dlpack__`: a capsule, versioned where the consumer knows versions."""
    source = _exportable(self)
    if stream is not None and not isinstance(stream, int):
        raise TypeError("stream must be ``int`` or ``none``")
    if dl_device is not None and tuple(dl_device) != tensor_dlpack_device(self):
        raise BufferError(f"cannot export a tensor on {self.device} as DLPack device {dl_device}")
    if copy:
        source = source.clone()
    return _C._to_dlpack(source, max_version is not None and max_version[0] >= 1)


def tensor_dlpack_device(self: Tensor) -> tuple[int, int]:
    """`Tensor.__dlpack_device__`: type and index in DLPack's numbering."""
    if self.device.type != "cpu":
        raise ValueError(f"Unknown device type {self.device.type} for Dlpack")
    return (DLDeviceType.kDLCPU, 0)
