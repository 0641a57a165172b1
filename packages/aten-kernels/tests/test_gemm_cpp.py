"""Matrix products and convolutions against naive loops in C++, for each instruction set that this processor runs."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CSRC = HERE.parent / "csrc"
COMPILER = shutil.which(os.environ.get("CXX", "c++").split()[-1])
FLAGS = (
    "-std=c++20",
    "-O1",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-ffp-contract=off",
    "-Wall",
    "-Wextra",
    "-fPIC",
    "-pthread",
    "-DFL_HAVE_V3=1",
    "-DFL_HAVE_V4=1",
    f"-I{CSRC}",
)
NEEDS = {"v2": {"sse4_2"}, "v3": {"avx2", "fma", "f16c"}, "v4": {"avx512vl", "avx512dq", "avx512bw"}}

# The core library takes Python's symbols from the interpreter that loads it, so a test program is a module.
RUN = "import ctypes, sys, flambeau; sys.exit(ctypes.CDLL(sys.argv[1])._Z9test_mainv())"


def core_sdk() -> Path | None:
    """The folder of headers and library in the installed core package."""
    spec = importlib.util.find_spec("flambeau")
    for place in (spec.submodule_search_locations or ()) if spec else ():
        if (Path(place) / "core_sdk/include").is_dir():
            return Path(place) / "core_sdk"
    return None


pytestmark = pytest.mark.skipif(
    COMPILER is None or core_sdk() is None or os.uname().machine != "x86_64",
    reason="needs a C++20 compiler (install g++ or set CXX), flambeau-core-c10 installed, and x86-64",
)


def processor_flags() -> set[str]:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    return set(next((line.split(":")[1].split() for line in lines if line.startswith("flags")), []))


def compile_cpp(*args: str | Path) -> None:
    done = subprocess.run([str(COMPILER), *map(str, args)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:4000]


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The kernels as object files: those named *_isa.cpp for every instruction set, as the build does."""
    sdk = core_sdk()
    assert sdk is not None
    folder = tmp_path_factory.mktemp("objects")
    jobs: list[tuple[str | Path, ...]] = []
    for source in sorted(path for name in ("gemm", "conv", "cpu") for path in (CSRC / name).glob("*.cpp")):
        for isa in NEEDS if source.stem.endswith("_isa") else ("v2",):
            out = folder / f"{source.parent.name}_{source.stem}_{isa}.o"
            jobs.append(
                (*FLAGS, f"-march=x86-64-{isa}", f"-DFL_ISA={isa}", f"-I{sdk / 'include'}", "-c", source, "-o", out)
            )
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda job: compile_cpp(*job), jobs))
    return sorted(folder.glob("*.o"))


@pytest.fixture(scope="module", params=["gemm_test", "conv_test"])
def program(request: pytest.FixtureRequest, objects: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    sdk = core_sdk()
    assert sdk is not None
    (library,) = (sdk / "lib").glob("libflambeau_core.so*")
    module = tmp_path_factory.mktemp("program") / f"{request.param}.so"
    source = HERE / f"cpp/{request.param}.cpp"
    compile_cpp(*FLAGS, "-shared", "-Dmain=test_main", f"-I{sdk / 'include'}", source, *objects, "-o", module, library)
    return module


@pytest.mark.parametrize("isa", NEEDS)
def test_results_are_those_of_naive_loops(program: Path, isa: str) -> None:
    if not NEEDS[isa] <= processor_flags():
        pytest.skip(f"this processor does not run x86-64-{isa}")
    environment = {**os.environ, "FLAMBEAU_CPU_CAPABILITY": isa}
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(program)], capture_output=True, text=True, env=environment, timeout=300
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    assert f": {isa}, 0 failures" in done.stdout
