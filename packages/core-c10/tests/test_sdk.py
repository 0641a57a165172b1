"""The CMake configuration that the wheel installs: an empty project finds and links it."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(shutil.which("cmake") is None, reason="needs cmake on the path")

PROJECT = """
cmake_minimum_required(VERSION 3.24)
project(consumer LANGUAGES CXX)
find_package(flambeau_core CONFIG REQUIRED)
add_library(consumer MODULE main.cpp)
target_link_libraries(consumer PRIVATE flambeau::core)
"""
PROGRAM = (
    '#include <flambeau/core/parallel.h>\nextern "C" int run() { return flambeau::get_num_threads() > 0 ? 0 : 1; }\n'
)
RUN = "import ctypes, sys, flambeau; sys.exit(ctypes.CDLL('build/libconsumer.so').run())"


def test_an_empty_project_finds_the_package(tmp_path: Path) -> None:
    spec = importlib.util.find_spec("flambeau")
    assert spec is not None and spec.submodule_search_locations
    root = next(Path(p) / "core_sdk" for p in spec.submodule_search_locations if (Path(p) / "core_sdk").is_dir())
    (tmp_path / "CMakeLists.txt").write_text(PROJECT)
    (tmp_path / "main.cpp").write_text(PROGRAM)
    for command in (
        ["cmake", "-S", ".", "-B", "build", f"-Dflambeau_core_ROOT={root}"],
        ["cmake", "--build", "build"],
        [sys.executable, "-c", RUN],
    ):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
