"""Saving and loading: torch's zip format both ways, and safetensors.

Loading runs no code: what a file may name is on an allow-list.
"""

from __future__ import annotations

from ._errors import FormatError
from ._helpers import (
    StorageType,
    check_module_version_greater_or_equal,
    mkdtemp,
    normalize_storage_type,
    storage_to_tensor_type,
    validate_cuda_device,
    validate_hpu_device,
)
from ._load import get_unsafe_globals_in_checkpoint, load
from ._locations import default_restore_location, location_tag, register_package
from ._options import (
    LoadEndianness,
    SourceChangeWarning,
    get_crc32_options,
    get_default_load_endianness,
    get_default_mmap_options,
    set_crc32_options,
    set_default_load_endianness,
    set_default_mmap_options,
    skip_data,
)
from ._rebuild import get_layout as _get_layout
from ._safe_globals import add_safe_globals, clear_safe_globals, get_safe_globals, safe_globals
from ._save import DEFAULT_PROTOCOL, save
from .safetensors import load_file as load_safetensors
from .safetensors import save_file as save_safetensors

__all__ = [
    "DEFAULT_PROTOCOL",
    "FormatError",
    "LoadEndianness",
    "SourceChangeWarning",
    "StorageType",
    "_get_layout",
    "add_safe_globals",
    "check_module_version_greater_or_equal",
    "clear_safe_globals",
    "default_restore_location",
    "get_crc32_options",
    "get_default_load_endianness",
    "get_default_mmap_options",
    "get_safe_globals",
    "get_unsafe_globals_in_checkpoint",
    "load",
    "load_safetensors",
    "location_tag",
    "mkdtemp",
    "normalize_storage_type",
    "register_package",
    "safe_globals",
    "save",
    "save_safetensors",
    "set_crc32_options",
    "set_default_load_endianness",
    "set_default_mmap_options",
    "skip_data",
    "storage_to_tensor_type",
    "validate_cuda_device",
    "validate_hpu_device",
]
