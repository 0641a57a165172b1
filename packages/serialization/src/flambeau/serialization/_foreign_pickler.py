"""Saving with the Pickler of another module (dill, cloudpickle): ours only supplies tensors and storages."""

from __future__ import annotations

import io
from collections import OrderedDict
from typing import Any

import flambeau

from . import _tensor_bridge as bridge
from ._pickler import StorageTable
from ._rebuild import rebuild_from_type_v2, rebuild_tensor_v3


def pickle_foreign(obj: object, pickle_module: Any, protocol: int, table: StorageTable) -> bytes:
    """The pickle of an object made by `pickle_module.Pickler`; storages are added to `table`.

    Names in it are flambeau's, so only flambeau loads it, with `weights_only=False`.
    """
    stream = io.BytesIO()

    class Pickler(pickle_module.Pickler):  # type: ignore[name-defined, misc]
        def persistent_id(self, obj: Any) -> Any:
            if not isinstance(obj, flambeau.UntypedStorage):
                return None
            ref = table.reference(obj, None)
            return ("storage", flambeau.UntypedStorage, ref.key, ref.location, ref.numel)

        def reducer_override(self, obj: Any) -> Any:
            if isinstance(obj, flambeau.Tensor) and type(obj).__reduce_ex__ is flambeau.Tensor.__reduce_ex__:
                return _reduce(obj)
            inherited = getattr(super(), "reducer_override", None)
            return NotImplemented if inherited is None else inherited(obj)

    Pickler(stream, protocol=protocol).dump(obj)
    return stream.getvalue()


def _reduce(tensor: Any) -> tuple[Any, ...]:
    size, stride, grad = tuple(tensor.shape), tuple(tensor.stride()), bool(tensor.requires_grad)
    args: tuple[Any, ...] = (
        tensor.untyped_storage(),
        tensor.storage_offset(),
        size,
        stride,
        grad,
        OrderedDict(),
        tensor.dtype,
    )
    args += (bridge.metadata_of(tensor),)
    state = bridge.attributes_of(tensor)
    if type(tensor) is flambeau.Tensor and not state:
        return rebuild_tensor_v3, args
    return rebuild_from_type_v2, (rebuild_tensor_v3, type(tensor), args, state or None)
