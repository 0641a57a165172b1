"""Accuracy and special values of csrc/math, for each instruction set that this processor runs."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
COMPILER = shutil.which(os.environ.get("CXX", "c++").split()[-1])
FLAGS = ("-std=c++20", "-O3", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off", "-Wall", "-Wextra")
NEEDS = {"v2": {"sse4_2"}, "v3": {"avx2", "fma", "f16c"}, "v4": {"avx512vl", "avx512dq", "avx512bw"}}
STRIDE = 20011  # of float bit patterns; 401 is the full measurement, some minutes
pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs a C++20 compiler: install g++ or set CXX")


def core_headers() -> Path:
    """The headers of core-c10: those of the installed package, or of the source tree beside this one."""
    spec = importlib.util.find_spec("flambeau")
    for place in (spec.submodule_search_locations or ()) if spec else ():
        if (Path(place) / "core_sdk/include").is_dir():
            return Path(place) / "core_sdk/include"
    return HERE.parents[1] / "core-c10/include"


def processor_flags() -> set[str]:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    return set(next((line.split(":")[1].split() for line in lines if line.startswith("flags")), []))


@pytest.mark.parametrize("isa", NEEDS)
@pytest.mark.parametrize("program", ["math_special_test", "math_accuracy"])
def test_functions_are_accurate_and_loops_give_the_bits_of_single_calls(program: str, isa: str, tmp_path: Path) -> None:
    if not NEEDS[isa] <= processor_flags():
        pytest.skip(f"this processor does not run x86-64-{isa}")
    binary = tmp_path / program
    includes = (f"-I{HERE.parent}/csrc/math", f"-I{core_headers()}")
    source = HERE / f"cpp/{program}.cpp"
    command = [
        str(COMPILER),
        *FLAGS,
        f"-march=x86-64-{isa}",
        f"-DFL_ISA={isa}",
        *includes,
        str(source),
        "-o",
        str(binary),
    ]
    built = subprocess.run(command, check=False, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr[:4000]
    ran = subprocess.run([str(binary), str(STRIDE)], check=False, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout
