"""Exceptions that cross from a worker to the loader, and the names of what killed a worker."""

from __future__ import annotations

import pickle
import signal
import sys
import traceback
from typing import Any, NoReturn


class _Verbatim(str):
    """A message that KeyError shows as it is, with its line ends."""

    def __repr__(self) -> str:
        return str(self)


class ExceptionWrapper:
    """An exception as type and text: tracebacks and many exceptions cannot be pickled.

    Parameters
    ----------
    exc_type : the class, or None where it cannot be pickled
    name : its name
    text : the formatted traceback
    where : says which process it was in
    """

    def __init__(self, exc_type: type[BaseException] | None, name: str, text: str, where: str) -> None:
        self.exc_type = exc_type
        self.name = name
        self.exc_msg = text
        self.where = where

    @classmethod
    def of_current(cls, where: str) -> ExceptionWrapper:
        """Wrap the exception that is being handled."""
        kind, error, _ = sys.exc_info()
        assert kind is not None
        text = "".join(traceback.format_exception(error))
        try:
            pickle.dumps(kind)
            sendable: type[BaseException] | None = kind
        except Exception:
            sendable = None
        return cls(sendable, kind.__name__, text, where)

    def reraise(self) -> NoReturn:
        """Raise an exception of the same type whose message holds the traceback."""
        message = f"Caught {self.name} {self.where}.\nOriginal {self.exc_msg}"
        # StopIteration would end the pass as if there were no more samples.
        if self.exc_type is None or issubclass(self.exc_type, StopIteration):
            raise RuntimeError(message)
        if self.exc_type is KeyError:
            raise KeyError(_Verbatim(message))
        if getattr(self.exc_type, "message", None):
            raise self.exc_type(message=message)  # type: ignore[call-arg]
        try:
            error = self.exc_type(message)
        except Exception:
            # Its constructor wants other arguments.
            raise RuntimeError(message) from None
        try:
            raise error
        finally:
            # The traceback holds this frame: with the error in it, a cycle that keeps workers alive.
            del error


def describe_exit(code: int | None) -> str:
    """Say in words how a process with exit code `code` ended."""
    if code is None:
        return "it closed its connection but is still running"
    if code >= 0:
        return f"it exited with code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    hint = {
        "SIGKILL": "; often that means that the system ran out of memory",
        "SIGBUS": "; often that means that the system ran out of shared memory",
        "SIGSEGV": "; that is a fault in native code",
    }
    return f"it was killed by {name}{hint.get(name, '')}"


def worker_died(workers: list[tuple[int, Any]]) -> RuntimeError:
    """Return the error that names dead workers, given as pairs of number and process."""
    pids = ", ".join(str(process.pid) for _, process in workers)
    details = "; ".join(f"worker {i}: {describe_exit(p.exitcode)}" for i, p in workers)
    return RuntimeError(f"DataLoader worker (pid(s) {pids}) exited unexpectedly: {details}")
