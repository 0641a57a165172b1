"""Cross-package tests: run by `nox -s tests` from the wheels, in an empty folder, never from the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def repository() -> Path:
    """The checkout; for its tools and wheels only."""
    return Path(os.environ.get("FLAMBEAU_REPOSITORY", Path(__file__).resolve().parents[2]))


@pytest.fixture(scope="session")
def wheels(repository: Path) -> dict[str, Path]:
    """Distribution name -> its wheel in dist/."""
    folder = Path(os.environ.get("FLAMBEAU_DIST", repository / "dist"))
    found = {w.name.split("-")[0].replace("_", "-"): w for w in folder.glob("*.whl")}
    if not found:
        pytest.skip(f"{folder} holds no wheels; run nox -s wheels")
    return found


@pytest.fixture
def fresh(tmp_path: Path) -> Callable[[str], subprocess.CompletedProcess[str]]:
    """Run a program in a new interpreter, in an empty folder."""

    def run(code: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, timeout=120)

    return run
