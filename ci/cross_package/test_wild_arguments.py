"""No input crashes the process: every public function and every operator record meets wild arguments, in other processes."""

from __future__ import annotations

import inspect
import signal
import subprocess
import sys
from pathlib import Path

import flambeau as fl
import pytest
from records import OPERATORS

HERE = Path(__file__).parent
BATCH = 80
NUM_EXAMPLES = 25
# These act on the process, on files or on the terminal: wild arguments to them test something else.
NOT_OPERATORS = {
    "set_num_threads", "set_num_interop_threads", "save", "load", "from_file", "set_default_dtype", "set_default_device",
    "set_printoptions", "use_deterministic_algorithms", "set_grad_enabled", "compile", "hub",
}  # fmt: skip


def names_of(prefix: str, owner: object) -> list[str]:
    """Paths of the public callables of `owner` that are no classes or modules."""
    found = []
    for name in dir(owner):
        if name.startswith("_") or name in NOT_OPERATORS:
            continue
        try:
            value = getattr(owner, name)
        except (AttributeError, ImportError):
            continue  # test_import.py looks for names that lead nowhere
        if callable(value) and not inspect.isclass(value) and not inspect.ismodule(value):
            found.append(f"{prefix}{name}")
    return found


def all_names() -> list[str]:
    owners = [
        ("", fl),
        ("Tensor.", fl.Tensor),
        ("nn.functional.", fl.nn.functional),
        ("linalg.", fl.linalg),
        ("special.", fl.special),
        ("fft.", fl.fft),
    ]
    functions = [n for prefix, owner in owners for n in names_of(prefix, owner)]
    return functions + [f"record:{o}" for o in OPERATORS if not o.record.alias_of]


NAMES = all_names()


def run(names: list[str], folder: Path) -> str:
    """'' or what was called last before the process died."""
    log = folder / "last_call.txt"
    command = [sys.executable, str(HERE / "wild.py"), str(log), str(NUM_EXAMPLES), *names]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        return f"no end after 120 s: {log.read_text()}"
    if done.returncode < 0:
        return f"{signal.Signals(-done.returncode).name}: {log.read_text()}"
    assert done.returncode == 0, done.stderr[-3000:]
    return ""


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, len(NAMES), BATCH))
def test_no_operator_crashes(start: int, tmp_path: Path) -> None:
    crashes = []
    names = NAMES[start : start + BATCH]
    while names and (crash := run(names, tmp_path)):
        crashes.append(crash)
        last = next((i for i, n in enumerate(names) if f" {n}(" in crash), len(names) - 1)
        names = names[last + 1 :]
    assert not crashes, "\n".join(crashes)
