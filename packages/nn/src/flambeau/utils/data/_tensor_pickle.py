"""Pickling with the bytes of tensors kept out of the pickle."""

from __future__ import annotations

import io
import pickle
from typing import Any

import flambeau


def dumps(obj: Any) -> tuple[bytes, list[memoryview]]:
    """Return the pickle of `obj` and the bytes of its tensors and arrays, in order."""
    buffers: list[pickle.PickleBuffer] = []
    out = io.BytesIO()
    _Pickler(out, protocol=5, buffer_callback=buffers.append).dump(obj)
    return out.getvalue(), [b.raw() for b in buffers]


class _Pickler(pickle.Pickler):
    def reducer_override(self, obj: Any) -> Any:
        if type(obj) is flambeau.Tensor and _is_plain(obj):
            return _reduce(obj)
        return NotImplemented


def _is_plain(t: Any) -> bool:
    return t.layout == flambeau.strided and t.device.type == "cpu" and not t.is_quantized


def _reduce(t: Any) -> Any:
    if t.requires_grad and not t.is_leaf:
        raise RuntimeError(
            "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd "
            "does not support crossing process boundaries. If you just want to transfer the data, "
            "call detach() on the tensor before serializing (e.g., putting it on the queue)."
        )
    dtype = str(t.dtype).rpartition(".")[2]
    data = t.detach()
    if t.numel() == 0:
        return _empty, (dtype, tuple(t.shape), t.requires_grad)
    buffer = pickle.PickleBuffer(_bytes_of(data))
    return _over, (buffer, dtype, tuple(t.shape), t.requires_grad)


def _bytes_of(t: Any) -> Any:
    """Return the elements of `t`, in order, as a buffer of bytes; a view where `t` is contiguous."""
    t = t.resolve_conj().resolve_neg() if t.is_complex() else t
    flat = t.contiguous().view(-1).view(flambeau.uint8)
    try:
        return memoryview(flat)
    except TypeError:
        return flat.numpy()


def _empty(dtype: str, shape: tuple[int, ...], requires_grad: bool) -> Any:
    return flambeau.empty(shape, dtype=getattr(flambeau, dtype), requires_grad=requires_grad)


def _over(buffer: Any, dtype: str, shape: tuple[int, ...], requires_grad: bool) -> Any:
    """Return a tensor over `buffer`, which it keeps alive."""
    t = flambeau.frombuffer(buffer, dtype=getattr(flambeau, dtype)).view(shape)
    return t.requires_grad_() if requires_grad else t
