"""`load`: read what `save` (here or in torch) has written."""

from __future__ import annotations

import contextlib
import gc
import io
import mmap as mmap_module
import os
import pickle
import pickletools
import warnings
from collections.abc import Iterator
from typing import IO, Any

from . import _names as names
from ._allow_list import AllowList, Refused, default_globals
from ._archive import ArchiveStorages
from ._errors import UnpicklingError, name_file, quoted
from ._legacy import NOT_IN_LEGACY, load_legacy
from ._locations import MapLocation
from ._machine import Machine
from ._options import get_default_mmap_options
from ._safe_globals import describe_refused, is_blocked
from ._shortcut import TensorShortcut
from ._source import MappedSource, Source, check_readable, path_of
from ._zip_layout import LOCAL_MAGIC
from ._zip_reader import ZipReader

FileLike = str | os.PathLike[str] | IO[bytes]


def load(
    f: FileLike,
    map_location: MapLocation = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """Load an object that `save` or `torch.save` has written.

    Nothing in the file is run: it may hold tensors, numbers, text and plain containers, and objects of classes
    that `add_safe_globals` allows.

    Parameters
    ----------
    f : path, or seekable binary file positioned at the beginning of the checkpoint
    map_location : where storages go. None puts them where they were; a device or its name puts all there; a dict
        maps names; a function of (storage on the CPU, name) returns the storage to use or None
    pickle_module : module whose Unpickler reads an unrestricted file; only with `weights_only=False`
    weights_only : False lets the file name any class and run any code. Only for files from those you trust
    mmap : True maps the file (a path) into memory instead of reading it; bytes are read when they are used, and
        checksums are not compared
    pickle_load_args : `encoding` ("utf-8", "latin1", "bytes") and `errors`, for byte strings that Python 2 wrote

    Returns
    -------
    The object. Tensors that shared a storage share one again. Loading is not atomic for `map_location` functions
    with side effects.

    Raises
    ------
    FormatError (a RuntimeError)  if the file is damaged or cut short; it names the file, the record and the value
    pickle.UnpicklingError  if the file needs something that is not allowed; the message lists all of it
    EOFError  if the file is empty
    FileNotFoundError, ValueError, AttributeError  for arguments of the wrong kind
    """
    weights_only = _resolve_weights_only(weights_only, pickle_module)
    if mmap and path_of(f) is None:
        raise ValueError(f"[load] f must be a file path in order to use the mmap argument, got {type(f).__name__}")
    pickle_load_args.setdefault("encoding", "utf-8")
    with _collector_paused():
        return _load(f, map_location, pickle_module, weights_only, bool(mmap), pickle_load_args)


@contextlib.contextmanager
def _collector_paused() -> Iterator[None]:
    # Each of many small tensors is a few new objects and none is garbage: looking for some doubles the time.
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _load(
    f: FileLike, map_location: MapLocation, pickle_module: Any, weights_only: bool, mmap: bool, pickle_load_args: Any
) -> Any:
    with _opened(f, mmap) as source:
        return _load_source(source, map_location, pickle_module, weights_only, pickle_load_args)


@contextlib.contextmanager
def _opened(f: Any, mmap: bool = False) -> Iterator[Source]:
    """The bytes of a path, which is opened for the time of the block, or of an open file."""
    path = path_of(f)
    if path is None:
        check_readable(f)
        name = getattr(f, "name", None)
        yield Source(f, name if isinstance(name, str) else f"<{type(f).__name__}>")
    elif mmap:
        yield MappedSource(path, shared=get_default_mmap_options() == mmap_module.MAP_SHARED)
    else:
        with open(path, "rb", buffering=0) as file:
            yield Source(file, path)


def _resolve_weights_only(weights_only: bool | None, pickle_module: Any) -> bool:
    if weights_only is None:
        return pickle_module is None
    if weights_only and pickle_module is not None:
        raise RuntimeError(
            "[load] Can not safely load weights when explicit pickle_module is specified; leave out pickle_module or "
            "pass weights_only=False"
        )
    return bool(weights_only)


def _load_source(source: Source, map_location: MapLocation, pickle_module: Any, weights_only: bool, args: Any) -> Any:
    if source.size == 0:
        raise EOFError(f"[load] {quoted(source.name)} is empty; a checkpoint has at least a few hundred bytes")
    try:
        if source.read(0, min(4, source.size)) != LOCAL_MAGIC:
            return load_legacy(source, map_location, _reader(source, pickle_module, weights_only, args, NOT_IN_LEGACY))
        archive = ZipReader(source)
        _check_kind(archive, source)
        storages = ArchiveStorages(archive, source, map_location)
        data = archive.read("data.pkl")
        return _reader(source, pickle_module, weights_only, args)(data, 0, storages, TensorShortcut(storages.load))[0]
    finally:
        source.close()


def _check_kind(archive: ZipReader, source: Source) -> None:
    if "constants.pkl" in archive.records:
        raise source.error("is a TorchScript archive, written by torch.jit.save; files written by save are read here")
    if "data.pkl" not in archive.records:
        raise source.error('is a zip archive without the record "data.pkl", so no checkpoint')


def _reader(
    source: Source, pickle_module: Any, weights_only: bool, args: dict[str, Any], without: frozenset[str] = frozenset()
) -> Any:
    """A function of (data, position, storages, shortcut) that reads one pickle; returns (object, end)."""
    if not weights_only:
        return lambda data, at, storages, shortcut=None: _run_anything(
            source, data, at, storages, pickle_module or pickle, args
        )
    allow_list = AllowList(without)

    def read(data: bytes, at: int, storages: Any, shortcut: Any = None) -> tuple[Any, int]:
        machine = Machine(
            allow_list.find, storages.persistent, args["encoding"], args.get("errors", "strict"), shortcut
        )
        try:
            return machine.run(data, at)
        except Refused as err:
            raise _refusal(source, data, at, allow_list, str(err)) from None
        except UnpicklingError as err:
            name_file(err, source.name)
            raise
        except RecursionError as err:
            raise UnpicklingError(f"[load] {quoted(source.name)} nests objects too deep") from err

    return read


def _run_anything(
    source: Source, data: bytes, at: int, storages: Any, pickle_module: Any, args: dict[str, Any]
) -> tuple[Any, int]:
    """Run a pickle that its reader trusts, with our classes for torch's names."""
    known = default_globals()

    class Unpickler(pickle_module.Unpickler):  # type: ignore[name-defined, misc]
        def find_class(self, module: str, name: str) -> Any:
            dotted = names.current(module, name)
            if dotted.startswith("torch.") and (found := known.get(dotted)) is not None:
                return getattr(found, "value", found)
            ours = names.as_flambeau(module)
            return names.resolve(module, name) if ours.startswith("flambeau") else super().find_class(module, name)

        def persistent_load(self, identity: Any) -> Any:
            return storages.persistent(identity)

    stream = io.BytesIO(data)
    stream.seek(at)
    return Unpickler(stream, **args).load(), stream.tell()


def _refusal(source: Source, data: bytes, at: int, allow_list: AllowList, first: str) -> UnpicklingError:
    """One error that lists everything in the pickle that is not allowed; `first` is where reading stopped."""
    found = {names.current(*entry) for entry in globals_of(data, at) if not allow_list.accepts(*entry)}
    shown = sorted(found | {first})
    listed = ", ".join(name.rpartition(".")[2] for name in shown if not is_blocked(name))
    remedy = (
        f"\nAllow the ones you trust with flambeau.serialization.add_safe_globals([{listed}]), or for one block with "
        f"safe_globals([{listed}])."
    )
    return UnpicklingError(
        f"[load] Weights only load failed: {quoted(source.name)} needs {len(shown)} "
        f"name{'s' * (len(shown) != 1)} that {'are' if len(shown) != 1 else 'is'} not on the allow-list, and nothing of "
        f"it was loaded:\n{describe_refused(shown)}{remedy if listed else ''}\n"
        "weights_only=False loads without any check and lets the file run code: only for files from those you trust."
    )


def globals_of(data: bytes, at: int = 0) -> set[tuple[str, str]]:
    """(module, name) of every global in a pickle, without running it."""
    found: set[tuple[str, str]] = set()
    strings: list[Any] = []  # what STACK_GLOBAL can refer to: texts in the order in which they are pushed
    memo: dict[int, Any] = {}
    stream = io.BytesIO(data)
    stream.seek(at)
    argument: Any
    with contextlib.suppress(ValueError, IndexError), warnings.catch_warnings():
        # A malformed pickle ends the search, and what was found before is what there is to say. Escapes in it may be
        # deprecated, which is nothing to tell the user.
        warnings.simplefilter("ignore")
        for opcode, argument, _ in pickletools.genops(stream):
            if opcode.name in ("GLOBAL", "INST"):
                module, _, name = argument.partition(" ")
                found.add((module, name))
            elif opcode.name == "STACK_GLOBAL":
                texts = [text for text in strings[-2:] if isinstance(text, str)]
                found.add(tuple(texts) if len(texts) == 2 else ("?", "?"))  # type: ignore[arg-type]
            elif opcode.name == "MEMOIZE":
                memo[len(memo)] = strings[-1] if strings else None
            elif opcode.name in ("BINPUT", "LONG_BINPUT", "PUT"):
                memo[argument] = strings[-1] if strings else None
            elif opcode.name in ("BINGET", "LONG_BINGET", "GET"):
                strings.append(memo.get(argument))
            elif opcode.stack_after:
                strings.append(argument if isinstance(argument, str) else None)
            del strings[:-8]
    return found


def get_unsafe_globals_in_checkpoint(f: FileLike) -> list[str]:
    """Names in a checkpoint that `load` refuses as things are; nothing of the file is run.

    Parameters
    ----------
    f : path, or seekable binary file

    Returns
    -------
    list of dotted names, sorted

    Raises
    ------
    FormatError  if the file is not a zip archive written by `save`
    """
    with _opened(f) as source:
        return _unsafe_globals(source)


def _unsafe_globals(source: Source) -> list[str]:
    archive = ZipReader(source)
    _check_kind(archive, source)
    allow_list = AllowList()
    found = globals_of(archive.read("data.pkl"))
    return sorted({names.current(*entry) for entry in found if not allow_list.accepts(*entry)})
