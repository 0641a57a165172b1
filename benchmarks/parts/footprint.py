"""What importing costs over a bare interpreter, and what installing costs on disk."""

from __future__ import annotations

import importlib.metadata as metadata
import importlib.util
import re
import subprocess
import sys
import time
from pathlib import Path

from harness import FRAMEWORKS, Row

TITLE = "import and installed size"
IMPORT_BAR_S = 0.025
SIZE_BAR_MB = 60
DISTRIBUTIONS = {
    "flambeau": ["flambeau-core-c10", "flambeau-aten-kernels", "flambeau-autograd", "flambeau-nn", "flambeau-serialization"],
    "torch": ["torch"],
}  # fmt: skip


def start_seconds(code: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter() - start


def import_row() -> Row:
    """Smallest time of `import X` less that of `pass`, taken in turns."""
    codes = {"bare": "pass"} | {n: f"import {n}" for n in FRAMEWORKS if importlib.util.find_spec(n)}
    best = {name: start_seconds(code) for name, code in codes.items()}
    for number in range(25):
        for name, code in codes.items():
            if name != "torch" or number < 3:  # seconds each
                best[name] = min(best[name], start_seconds(code))
    figures = {name: best[name] - best["bare"] for name in codes if name != "bare"}
    return Row("import over `python -c pass`", figures, at_most=IMPORT_BAR_S)


def with_requirements(names: list[str]) -> set[str]:
    """`names` and all that they require, as far as installed; extras aside."""
    found: set[str] = set()
    stack = list(names)
    while stack:
        name = re.sub(r"[-_.]+", "-", stack.pop()).lower()
        if name in found:
            continue
        needs = metadata.distribution(name).requires or []
        found.add(name)
        for need in (n for n in needs if ";" not in n):
            match = re.match(r"[\w.-]+", need)
            stack.append(match[0] if match else need)
    return found


def installed_mb(names: list[str]) -> float:
    files: set[Path] = set()
    for name in with_requirements(names):
        files |= {Path(str(f.locate())).resolve() for f in metadata.files(name) or () if "__pycache__" not in str(f)}
    return sum(f.stat().st_size for f in files if f.exists()) / 1e6


def size_row() -> Row:
    figures = {}
    for framework, names in DISTRIBUTIONS.items():
        try:
            figures[framework] = installed_mb(names)
        except metadata.PackageNotFoundError as err:
            print(f"# installed size: {err} is not installed")
    return Row("installed with requirements", figures, unit="MB", at_most=SIZE_BAR_MB)


def rows() -> list[Row]:
    return [import_row(), size_row()]
