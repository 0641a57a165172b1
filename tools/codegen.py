"""Prove that the generator is deterministic, and write the generated files to a folder, to read them.

python tools/codegen.py [--out generated]
python tools/codegen.py --check             only prove
"""

from __future__ import annotations

import argparse
import filecmp
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def generate(out: Path, hash_seed: str = "0") -> None:
    """Run opgen in a process of its own; `hash_seed` decides the order of Python's sets there."""
    command = [sys.executable, "-m", "opgen", "--schemas", str(ROOT / "schemas"), "--out", str(out)]
    subprocess.run(command, check=True, env={**os.environ, "PYTHONHASHSEED": hash_seed})


def relative_files(folder: Path) -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def differences(first: Path, second: Path) -> list[str]:
    """Names of files that are in one folder only or whose bytes differ."""
    names = relative_files(first)
    only_in_one = sorted(set(names) ^ set(relative_files(second)))
    common = [n for n in names if n not in only_in_one]
    _, changed, unreadable = filecmp.cmpfiles(first, second, common, shallow=False)
    return sorted([*only_in_one, *changed, *unreadable])


def check() -> int:
    """Generate twice with different hash seeds and compare byte by byte."""
    with tempfile.TemporaryDirectory() as folder:
        first, second = Path(folder) / "first", Path(folder) / "second"
        generate(first, "1")
        generate(second, "2")
        bad = differences(first, second)
        count = len(relative_files(first))
    for name in bad:
        print(f"[codegen] {name} differs between two runs: look for an iteration over a set or a time stamp")
    if not bad:
        print(f"[codegen] {count} files, equal byte by byte in two runs")
    return 1 if bad or not count else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="generate twice and compare, write nothing")
    parser.add_argument("--out", type=Path, default=ROOT / "generated")
    args = parser.parse_args()
    status = check()
    if args.check or status:
        return status
    shutil.rmtree(args.out, ignore_errors=True)  # a removed record must not leave its files behind
    generate(args.out)
    print(f"[codegen] {len(relative_files(args.out))} files in {args.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
