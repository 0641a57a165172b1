"""Files of the safetensors format, through its library: names and tensors, and nothing that could be code.

Same functions as `safetensors.torch`, for flambeau's tensors.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import flambeau

from . import _tensor_bridge as bridge
from ._atomic import replace_file
from ._errors import FormatError, quoted

if TYPE_CHECKING:
    from flambeau import Tensor

# Name in files -> dtype here. float8 kinds and complex64 need a recent library.
_DTYPES = {
    "F64": "float64",
    "F32": "float32",
    "F16": "float16",
    "BF16": "bfloat16",
    "I64": "int64",
    "I32": "int32",
    "I16": "int16",
    "I8": "int8",
    "U64": "uint64",
    "U32": "uint32",
    "U16": "uint16",
    "U8": "uint8",
    "BOOL": "bool",
    "C64": "complex64",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E5M2": "float8_e5m2",
    "F8_E4M3FNUZ": "float8_e4m3fnuz",
    "F8_E5M2FNUZ": "float8_e5m2fnuz",
    "F8_E8M0": "float8_e8m0fnu",
}
# Below this a tensor is copied into memory of the allocator; above, it keeps the memory that the library gave.
_COPIED_BYTES = 1 << 16


def save_file(
    tensors: Mapping[str, Tensor], filename: str | os.PathLike[str], metadata: dict[str, str] | None = None
) -> None:
    """Write named tensors to a safetensors file; the file is written whole or not at all.

    Parameters
    ----------
    tensors : dict from name to dense CPU tensor; elements are written in row-major order
    filename : path
    metadata : dict of strings for the header

    Raises
    ------
    RuntimeError  if two tensors share memory, which the format cannot express: save clones, or use `save_model`
    ValueError, TypeError  if a tensor is sparse, not on the CPU, or of a dtype that the format does not have
    """
    # The library's own function writes by name: it would put a file of its own in the place of ours, or of a pipe.
    data = save(tensors, metadata)
    with replace_file(os.fspath(filename)) as file:
        file.write(data)


def save(tensors: Mapping[str, Tensor], metadata: dict[str, str] | None = None) -> bytes:
    """The bytes of a safetensors file; see `save_file`."""
    from safetensors import serialize

    kept, specs = _described(tensors)
    data = serialize(specs, metadata=metadata)
    del kept
    return data


def _described(tensors: Mapping[str, Tensor]) -> tuple[list[Tensor], dict[str, Any]]:
    """Tensors in row-major order, which must stay alive, and what the library is told of each."""
    import safetensors

    if not isinstance(tensors, Mapping):
        raise ValueError(f"[save_file] a dict from name to tensor is expected, got {type(tensors).__name__}")
    for name, tensor in tensors.items():
        _check_saveable(name, tensor)
    _check_no_sharing(tensors)
    kept: list[Tensor] = []
    specs: dict[str, Any] = {}
    for name, tensor in tensors.items():
        tensor = tensor.detach() if tensor.requires_grad else tensor
        plain = tensor if tensor.is_contiguous() else tensor.contiguous()
        kept.append(plain)
        dtype, shape, size = bridge.dtype_name(plain.dtype), list(plain.shape), plain.numel() * plain.dtype.itemsize
        if hasattr(safetensors, "TensorSpec"):
            address = bridge.address(plain)
            specs[name] = safetensors.TensorSpec(dtype=dtype, shape=shape, data_ptr=address, data_len=size)
        else:
            specs[name] = {"dtype": dtype, "shape": shape, "data": bridge.element_bytes(plain)}
    return kept, specs


def _check_saveable(name: str, tensor: Any) -> None:
    if not isinstance(name, str) or not isinstance(tensor, flambeau.Tensor):
        raise ValueError(f"[save_file] names must be strings and values tensors, got {name!r}: {type(tensor).__name__}")
    if tensor.layout != flambeau.strided or tensor.device.type != "cpu":
        raise ValueError(
            f"[save_file] tensor {quoted(name)} is {tensor.layout} on {tensor.device}; dense tensors on the CPU are written"
        )
    if bridge.dtype_name(tensor.dtype) not in _DTYPES.values():
        raise TypeError(
            f"[save_file] tensor {quoted(name)} has dtype {bridge.dtype_name(tensor.dtype)}; "
            f"the format has {', '.join(_DTYPES.values())}"
        )


def _sharing(tensors: Mapping[str, Tensor]) -> list[list[str]]:
    """Names in groups whose memory overlaps; most groups have one name."""
    groups: list[list[str]] = []
    end, storage = 0, None
    for name, tensor in sorted(tensors.items(), key=lambda item: bridge.extent(item[1])):
        key, first, last = bridge.extent(tensor)
        if groups and key == storage and first < end and first != last:
            groups[-1].append(name)
        else:
            groups.append([name])
        end = max(end, last) if key == storage else last
        storage = key
    return groups


def _check_no_sharing(tensors: Mapping[str, Tensor]) -> None:
    if shared := [names for names in _sharing(tensors) if len(names) > 1]:
        raise RuntimeError(
            f"[save_file] tensors share memory, which the format cannot express: {'; '.join(', '.join(g) for g in shared)}. "
            "Save clones, or a module with save_model"
        )


def load_file(filename: str | os.PathLike[str], device: Any = "cpu") -> dict[str, Tensor]:
    """Read all tensors of a safetensors file.

    Parameters
    ----------
    filename : path
    device : where the tensors go; "meta" gives sizes and no elements

    Returns
    -------
    dict from name to tensor, each with a storage of its own

    Raises
    ------
    FormatError (a RuntimeError)  if the file is damaged or cut short
    """
    path = os.fspath(filename)
    with open(path, "rb") as file:
        data = file.read()
    return _tensors_of(data, path, device)


def load(data: bytes, device: Any = "cpu") -> dict[str, Tensor]:
    """Read all tensors of the bytes of a safetensors file; see `load_file`."""
    return _tensors_of(data, "<bytes>", device)


def _tensors_of(data: bytes, path: str, device: Any) -> dict[str, Tensor]:
    from safetensors import SafetensorError, deserialize

    if sys.byteorder != "little":
        raise NotImplementedError("[load_file] safetensors files are little-endian, and this machine is not")
    try:
        entries = deserialize(data)
    except SafetensorError as err:
        raise FormatError(
            f"[load_file] {quoted(path)} of {len(data):,} bytes is no valid safetensors file: {err}"
        ) from err
    del data
    target, tensors = str(device), {}
    while entries:
        name, entry = entries.pop()
        tensor = _tensor(name, entry, path, target == "meta")
        tensors[name] = tensor if target in ("cpu", "meta") else tensor.to(device)
    return {name: tensors[name] for name in sorted(tensors)}


def _tensor(name: str, entry: dict[str, Any], path: str, on_meta: bool) -> Tensor:
    dtype = getattr(flambeau, _DTYPES.get(entry["dtype"], ""), None)
    if dtype is None:
        raise FormatError(
            f"[load_file] {quoted(path)}: tensor {quoted(name)} has dtype {entry['dtype']}; known are {', '.join(_DTYPES)}"
        )
    shape, content = tuple(entry["shape"]), memoryview(entry["data"])
    stride = _row_major(shape)
    if on_meta:
        return bridge.meta_tensor(dtype, shape, stride)
    if len(content) >= _COPIED_BYTES and not content.readonly:
        storage = bridge.storage_over(content)
    else:
        storage = bridge.new_storage(len(content))
        bridge.storage_bytes(storage)[:] = content
    return bridge.tensor_over(storage, dtype, 0, shape, stride)


def _row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides, step = [], 1
    for length in reversed(shape):
        strides.append(step)
        step *= max(length, 1)
    return tuple(reversed(strides))


def save_model(model: Any, filename: str | os.PathLike[str], metadata: dict[str, str] | None = None) -> None:
    """Write the state of a module. Of names that share a tensor one is written; the header says which stand for it."""
    state = model.state_dict()
    kept: dict[str, Tensor] = {}
    notes = dict(metadata or {})
    for first, *others in map(sorted, _sharing(state)):
        kept[first] = state[first]
        for name in others:
            if bridge.is_same_view(state[name], state[first]):
                notes[name] = first
            else:
                kept[name] = state[name].clone()
    save_file(kept, filename, notes or None)


def load_model(
    model: Any, filename: str | os.PathLike[str], strict: bool = True, device: Any = "cpu"
) -> tuple[list[str], list[str]]:
    """Load the state that `save_model` wrote into a module; returns the missing and the unexpected names."""
    tensors = load_file(filename, device)
    for names in _sharing(model.state_dict()):
        found = next((name for name in names if name in tensors), None)
        if found is not None:
            tensors.update({name: tensors[found] for name in names if name not in tensors})
    result = model.load_state_dict(tensors, strict=strict)
    return list(result.missing_keys), list(result.unexpected_keys)
