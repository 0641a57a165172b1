"""Build the native packages incrementally and stage a merged tree in build/dev/site, where edits to Python are live.

python tools/dev/build.py [--isa native|all] [--debug] [-j N]
PYTHONPATH=build/dev/site python -c "import flambeau"
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build/dev"
SITE = BUILD / "site"


def run(*command: str | Path) -> None:
    subprocess.run([str(c) for c in command], check=True)


def configure(isa: str, debug: bool) -> None:
    flags = [
        "-DCMAKE_BUILD_TYPE=" + ("Debug" if debug else "Release"),
        f"-DFLAMBEAU_NATIVE_ONLY={'ON' if isa == 'native' else 'OFF'}",
    ]
    run(
        "cmake",
        "-G",
        "Ninja",
        "-S",
        ROOT / "tools/dev",
        "-B",
        BUILD / "cmake",
        f"-DPython_EXECUTABLE={sys.executable}",
        "-DCMAKE_INSTALL_MESSAGE=NEVER",
        *flags,
    )


def link_python() -> None:
    """Mirror every package's Python files into the site as symbolic links; drop links whose file is gone."""
    for link in SITE.rglob("*"):
        if link.is_symlink() and not link.exists():
            link.unlink()
    for source in sorted(ROOT.glob("packages/*/src")):
        for file in source.rglob("*"):
            if not file.is_file() or "__pycache__" in file.parts:
                continue
            link = SITE / file.relative_to(source)
            if link.is_symlink() and link.readlink() == file:
                continue
            link.parent.mkdir(parents=True, exist_ok=True)
            link.unlink(missing_ok=True)
            link.symlink_to(file)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--isa", choices=("native", "all"), default="native", help="instruction sets to build kernels for"
    )
    parser.add_argument("--debug", action="store_true", help="build without optimisation, with symbols")
    parser.add_argument("-j", type=int, default=os.cpu_count(), help="compilers at once")
    parser.add_argument("--python-only", action="store_true", help="only refresh the links")
    args = parser.parse_args()
    if not args.python_only:
        configure(args.isa, args.debug)
        run("cmake", "--build", BUILD / "cmake", "-j", str(args.j))
        run("cmake", "--install", BUILD / "cmake", "--prefix", SITE / "flambeau")
    link_python()
    print(f"PYTHONPATH={SITE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
