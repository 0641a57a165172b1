"""f(x)[i] equals f(x[i]) bit for bit: every pointwise operator, dtype and instruction set."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
GROUPS = [
    "float32 float64",
    "float16 bfloat16",
    "int64 int32 int16 int8",
    "uint8 uint16 uint32 uint64 bool",
    "complex32 complex64 complex128",
]
NEEDED = {"v2": "sse4_2", "v3": "avx2", "v4": "avx512f"}


def cpu_flags() -> set[str]:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("flags"):
            return set(line.split(":", 1)[1].split())
    return set()


@pytest.mark.slow
@pytest.mark.parametrize("capability", sorted(NEEDED))
@pytest.mark.parametrize("dtypes", GROUPS)
def test_position_does_not_matter(capability: str, dtypes: str) -> None:
    if NEEDED[capability] not in cpu_flags():
        pytest.skip(f"this CPU has no {NEEDED[capability]}")
    env = {**os.environ, "FLAMBEAU_CPU_CAPABILITY": capability}
    command = [sys.executable, str(HERE / "position.py"), *dtypes.split()]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    assert not done.stdout, done.stdout
