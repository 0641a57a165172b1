"""Measure flambeau side by side with torch, where both are installed, and print ratios.

    python benchmarks/run.py                      everything, with two threads and with one
    python benchmarks/run.py dispatch matmul      some parts
    python benchmarks/run.py --threads 1 --json out.json
    python benchmarks/run.py --list

Each part runs in a process of its own for each number of threads; the frameworks alternate within it.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import pkgutil
import platform
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import parts  # noqa: E402
from harness import Row, available, geometric_mean, measure  # noqa: E402
from table import print_table, summary  # noqa: E402

ORDER = ("dispatch", "autograd", "mlp", "elementwise", "matmul", "quickstart", "footprint")
# A machine may have these set to make an old OpenBLAS work; they would slow every BLAS in the comparison.
CLEARED = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")


def names() -> list[str]:
    found = {m.name for m in pkgutil.iter_modules(parts.__path__)}
    return [n for n in ORDER if n in found] + sorted(found - set(ORDER))


def child(name: str, threads: int) -> None:
    """Measure one part here; print each row as JSON after the mark."""
    part = importlib.import_module(f"parts.{name}")
    if hasattr(part, "rows"):
        rows = part.rows()
    else:
        frameworks = available(threads)
        rows = [measure(case, frameworks) for case in part.cases()]
    ratios = [r.ratio for r in rows if r.ratio is not None]
    if hasattr(part, "MEAN_BAR") and ratios:
        mean = geometric_mean(ratios)
        rows.append(Row("geometric mean of the ratios", {"flambeau": 1.0, "torch": mean}, part.MEAN_BAR, unit=""))
    for row in rows:
        print("ROW " + json.dumps(asdict(row)), flush=True)


def run_part(name: str, threads: int, timeout_s: float) -> list[Row]:
    """Measure one part in a process of its own; a crash or a hang there costs that part only."""
    env = {k: v for k, v in os.environ.items() if k not in CLEARED}
    command = [sys.executable, str(Path(__file__)), "--child", name, "--threads", str(threads)]
    try:
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=timeout_s)
    except subprocess.TimeoutExpired:
        print(f"# {name}: no result within {timeout_s:g} s")
        return []
    rows = []
    for line in done.stdout.splitlines():
        if line.startswith("ROW "):
            rows.append(Row(**json.loads(line[4:])))
        elif line.startswith("# "):
            print(line)
    if done.returncode:
        print(f"# {name}: exit status {done.returncode}: {done.stderr.strip()[-500:]}")
    return rows


def versions() -> str:
    shown = [f"{n} {getattr(m, '__version__', '?')}" for n, m in available().items()]
    return f"{', '.join(shown) or 'no framework installed'}; Python {platform.python_version()}, {os.cpu_count()} CPUs"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="part", help=f"some of: {', '.join(names())} (default: all)")
    parser.add_argument("--threads", type=int, action="append", help="may be given twice (default: 2 and 1)")
    parser.add_argument("--timeout", type=float, default=600, help="seconds for one part")
    parser.add_argument("--json", type=Path, help="also write all rows to this file")
    parser.add_argument("--list", action="store_true", help="name the parts")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        child(args.child, args.threads[0])
        return 0
    if args.list:
        print("\n".join(f"{n:12} {importlib.import_module(f'parts.{n}').TITLE}" for n in names()))
        return 0
    unknown = set(args.parts) - set(names())
    if unknown:
        parser.error(f"no part named {', '.join(sorted(unknown))}; there are {', '.join(names())}")
    print(versions())
    rows: list[Row] = []
    record = []
    for name in args.parts or names():
        part = importlib.import_module(f"parts.{name}")
        for threads in [1] if hasattr(part, "rows") else args.threads or [2, 1]:
            found = run_part(name, threads, args.timeout)
            if found:
                print_table(part.TITLE + ("" if hasattr(part, "rows") else f", threads: {threads}"), found)
            rows += found
            record += [{"part": name, "threads": threads, **asdict(r), "ratio": r.ratio, "met": r.met} for r in found]
    print(f"\n{summary(rows)}")
    if args.json:
        args.json.write_text(json.dumps(record, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
