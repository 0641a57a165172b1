"""Files that are either the old one or the new one, whatever happens in between."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from typing import IO


@contextlib.contextmanager
def replace_file(path: str) -> Iterator[IO[bytes]]:
    """Open a file for writing that takes the place of `path` when the block ends well.

    The bytes go to a new file in the same folder, are forced to the disk, and get the name in one step. If the block
    raises, or the process dies, `path` is what it was. Devices and pipes are written directly.

    Raises
    ------
    RuntimeError  if the folder does not exist
    OSError  as `open` does; also when the folder does not allow new files
    """
    target = os.path.realpath(path)
    if not _is_replaceable(target):
        with open(path, "wb") as direct:
            yield direct
        return
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, f".{name[:200]}.{secrets.token_hex(6)}.part")
    file: IO[bytes] = _create(temporary, folder, path)
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        _keep_mode(target, temporary)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    _sync_folder(folder)


def _is_replaceable(target: str) -> bool:
    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        return True
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "[save] a file is expected, this is a folder", target)
    return stat.S_ISREG(mode)


def _create(temporary: str, folder: str, path: str) -> IO[bytes]:
    try:
        # "x": never through a name that somebody else has put there.
        return open(temporary, "xb")
    except FileNotFoundError as err:
        raise RuntimeError(f"[save] Parent directory {os.path.dirname(path) or folder} does not exist.") from err
    except PermissionError as err:
        raise PermissionError(
            err.errno, f'[save] no file can be created in "{folder}", which writing "{path}" whole or not at all needs'
        ) from err


def _keep_mode(target: str, temporary: str) -> None:
    with contextlib.suppress(OSError):
        os.chmod(temporary, stat.S_IMODE(os.stat(target).st_mode))


def _sync_folder(folder: str) -> None:
    # The new name must reach the disk as well. Some file systems do not let a folder be opened or forced.
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
