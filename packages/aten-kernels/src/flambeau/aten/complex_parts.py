"""Parts and conjugates of complex tensors."""

import flambeau
from flambeau import Tensor


def real(self: Tensor) -> Tensor:
    """A view of the real parts."""
    return flambeau.view_as_real(self).select(-1, 0) if self.is_complex() else self


def imag(self: Tensor) -> Tensor:
    """A view of the imaginary parts."""
    if not self.is_complex():
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return flambeau.view_as_real(self).select(-1, 1)


def conj(self: Tensor) -> Tensor:
    """The conjugate; of real tensors self."""
    return flambeau.conj_physical(self) if self.is_complex() else self


def identity(self: Tensor) -> Tensor:
    """self: nothing is ever pending here."""
    return self


def adjoint(self: Tensor) -> Tensor:
    """Conjugate transpose of the last two dimensions."""
    if self.dim() == 1:
        raise RuntimeError("tensor.adjoint() is only supported on matrices or batches of matrices. Got 1-D tensor.")
    return conj(self.transpose(-2, -1) if self.dim() else self)


def positive(self: Tensor) -> Tensor:
    """self."""
    if self.dtype is flambeau.bool:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return self
