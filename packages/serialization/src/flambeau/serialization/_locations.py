"""Which device a storage belongs to: tags in files, and where loading puts what they name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import flambeau

from . import _tensor_bridge as bridge

if TYPE_CHECKING:
    from flambeau import UntypedStorage

Tagger = Callable[[Any], str | None]
Restorer = Callable[[Any, str], Any]
MapLocation = Callable[[Any, str], Any] | Any | None

_DEVICE_TYPES: Any = (str, flambeau.device)

_registry: list[tuple[int, Tagger, Restorer]] = []


def register_package(priority: int, tagger: Tagger, deserializer: Restorer) -> None:
    """Teach `save` and `load` about storages of another kind.

    Parameters
    ----------
    priority : packages are asked in ascending order; 10 is the CPU, 22 meta
    tagger : storage -> its tag in files, or None where the storage is of another package
    deserializer : (storage on the CPU, tag) -> storage, or None where the tag is of another package
    """
    _registry.append((priority, tagger, deserializer))
    _registry.sort(key=lambda entry: entry[0])


def location_tag(storage: Any) -> str:
    """The tag that a file has for the device of a storage.

    Raises
    ------
    RuntimeError  if no registered package knows the device
    """
    for _, tagger, _ in _registry:
        if (tag := tagger(storage)) is not None:
            return tag
    raise RuntimeError(f"[save] don't know how to tag a storage on device {storage.device}; see register_package")


def default_restore_location(storage: Any, location: str) -> Any:
    """Put a storage that was read to the CPU where its tag says.

    Raises
    ------
    RuntimeError  if no registered package knows the tag
    """
    for _, _, restorer in _registry:
        if (restored := restorer(storage, location)) is not None:
            return restored
    raise RuntimeError(
        f"[load] don't know how to restore data location of a storage tagged with {location!r}: the device is not "
        'available here; pass map_location="cpu" to load onto the CPU'
    )


def _tag_by_device(kind: str) -> Tagger:
    return lambda storage: kind if storage.device.type == kind else None


def _to_meta(storage: UntypedStorage, location: str) -> UntypedStorage | None:
    return bridge.meta_storage(bridge.storage_nbytes(storage)) if location == "meta" else None


register_package(10, _tag_by_device("cpu"), lambda storage, location: storage if location == "cpu" else None)
register_package(22, _tag_by_device("meta"), _to_meta)


def make_restorer(map_location: MapLocation) -> Restorer | None:
    """Turn the argument `map_location` into one function; None where storages simply go where they were.

    Raises
    ------
    TypeError  if `map_location` is of no allowed type
    """
    if map_location is None:
        return None
    if isinstance(map_location, dict):
        return lambda storage, location: default_restore_location(storage, map_location.get(location, location))
    if isinstance(map_location, _DEVICE_TYPES):
        target = str(map_location)
        return lambda storage, location: default_restore_location(storage, target)
    if not callable(map_location):
        raise TypeError(
            f"[load] map_location is {map_location!r} of type {type(map_location).__name__}; allowed are a device, "
            "its name, a dict of names, or a function of (storage, location)"
        )

    def restore(storage: Any, location: str) -> Any:
        restored = map_location(storage, location)
        return default_restore_location(storage, location) if restored is None else restored

    return restore


def needs_no_data(restorer: Restorer | None, map_location: MapLocation, location: str) -> bool:
    """Whether a storage with this tag ends on the meta device, so that its bytes need not be read."""
    if isinstance(map_location, dict):
        location = map_location.get(location, location)
    elif isinstance(map_location, _DEVICE_TYPES):
        location = str(map_location)
    elif restorer is not None:
        return False
    return location == "meta"
