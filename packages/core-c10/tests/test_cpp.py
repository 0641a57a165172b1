"""The C++ tests and the public headers, compiled against the installed package as an extension's author would."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

HERE = Path(__file__).parent
COMPILER = shutil.which(os.environ.get("CXX", "c++").split()[-1])
pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs a C++20 compiler: install g++ or set CXX")


@pytest.fixture(scope="module")
def sdk() -> Path:
    """The folder of headers and library in the installed package."""
    spec = importlib.util.find_spec("flambeau")
    assert spec is not None and spec.submodule_search_locations
    for place in spec.submodule_search_locations:
        if (Path(place) / "core_sdk/include").is_dir():
            return Path(place) / "core_sdk"
    pytest.fail("flambeau-core-c10 is installed without core_sdk/include")


def compile_cpp(*args: str | Path) -> None:
    command = [str(COMPILER), "-std=c++20", "-O1", "-Wall", "-Wextra", *map(str, args)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:4000]


# The library takes Python's symbols from the interpreter that loads it, so a test program is a module whose main runs there.
RUN = """
import ctypes, sys, flambeau
module = ctypes.CDLL(sys.argv[1])
try:
    status = module._Z9test_mainv()
except AttributeError:
    status = module._Z9test_mainiPPc(0, None)
sys.exit(status)
"""


@pytest.mark.parametrize("name", sorted(p.stem for p in HERE.glob("cpp/*_test.cpp")))
def test_program(name: str, sdk: Path, tmp_path: Path) -> None:
    (library,) = (sdk / "lib").glob("libflambeau_core.so*")
    module = tmp_path / f"{name}.so"
    flags = ("-shared", "-fPIC", "-pthread", "-Dmain=test_main", f"-I{sdk / 'include'}")
    compile_cpp(*flags, HERE / f"cpp/{name}.cpp", "-o", module, library)
    command = [sys.executable, "-c", RUN, str(module)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]


def test_every_public_header_compiles_alone(sdk: Path, tmp_path: Path) -> None:
    headers = sorted((sdk / "include").rglob("*.h"))
    assert headers
    # one translation unit each would cost minutes; in turn first and last is what finds a missing include
    for order, chosen in (("forward", headers), ("backward", headers[::-1])):
        unit = tmp_path / f"{order}.cpp"
        unit.write_text("".join(f'#include "{h}"\n' for h in chosen))
        compile_cpp("-fsyntax-only", f"-I{sdk / 'include'}", f"-I{sysconfig.get_path('include')}", unit)
