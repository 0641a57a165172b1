"""Replay the recorded checks of torch's behaviour on flambeau and print what holds and what does not.

    python ci/conformance/report.py FOLDER [--ops REGEX] [--module flambeau] [--all] [--out build/conformance]

FOLDER holds run_goldens.py, nn_goldens.py and the records. The checks of the operators in first_light.txt are
counted apart, and their failures are listed; `--all` lists the failures of every operator. Exits with 1 below a bar, and where
a selection holds nothing.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
OPERATOR_BAR = 0.97  # of the checks of the operators that first_light.txt names
MODULE_BAR = 0.90  # of the modules, optimizers and schedulers that first_light_modules.txt names


def names_in(file: Path) -> set[str]:
    lines = (line.split("#")[0] for line in file.read_text().splitlines())
    return {word for line in lines for word in line.split()}


def per_cent(passed: int, total: int) -> str:
    return f"{passed:,} of {total:,} ({100 * passed / max(total, 1):.2f} %)"


def run(script: Path, *args: str) -> str:
    """Run one of the replayers; its output is shown only where it fails."""
    done = subprocess.run([sys.executable, str(script), *args], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(
            f"[conformance] {script.name} ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
        )
    return done.stdout


def operators(folder: Path, out: Path, module: str, ops: str | None) -> dict[str, Any]:
    selected = ["--ops", ops] if ops else []
    run(folder / "run_goldens.py", module, "--quiet", "--json", str(out / "operators.json"), *selected)
    return json.loads((out / "operators.json").read_text())


def modules(folder: Path, out: Path, module: str) -> dict[str, Any]:
    run(folder / "nn_goldens.py", "replay", module, "--json", str(out / "modules.json"))
    return json.loads((out / "modules.json").read_text())


def total(by_op: dict[str, Any], names: Iterable[str]) -> tuple[int, int]:
    chosen = [by_op[n] for n in names if n in by_op]
    return sum(o["pass"] for o in chosen), sum(o["total"] for o in chosen)


def print_failures(by_op: dict[str, Any], names: Iterable[str]) -> None:
    """A line per operator that fails a check, the most failures first."""
    failing = [(by_op[n]["total"] - by_op[n]["pass"], n) for n in names if n in by_op]
    print(f"\n  {'operator':44} {'pass':>5} {'of':>5}  first failure")
    for missing, name in sorted(failing, reverse=True):
        if missing:
            record = by_op[name]
            first = record["fails"][0] if record["fails"] else {"dtype": "", "kind": "", "why": ""}
            print(
                f"  {name:44} {record['pass']:>5} {record['total']:>5}  {first['dtype']} {first['kind']}: {first['why'][:110]}"
            )


def holds(what: str, passed: int, count: int, bar: float) -> bool:
    """Whether the share reaches the bar; of nothing, none does."""
    if count and passed >= bar * count:
        return True
    print(f"[conformance] {what}: {per_cent(passed, count)}, {100 * bar:.0f} % are asked for", file=sys.stderr)
    return False


def report_operators(found: dict[str, Any], everything: bool, selected: bool) -> bool:
    """Prints, and says whether the bar is reached."""
    by_op = found["by_op"]
    named = names_in(HERE / "first_light.txt") & by_op.keys()
    print_failures(by_op, by_op if everything or selected else named)
    kinds = ", ".join(f"{k} {a}/{b}" for k, (a, b) in found["kinds"].items())
    print(f"\noperators that the first release names ({len(named)}): checks {per_cent(*total(by_op, named))}")
    print(f"all recorded operators ({len(by_op)}): checks {per_cent(*found['checks'])}; crashes {found['crashes']}")
    print(f"  by kind: {kinds}")
    # a selection is held against the bar as a whole, whether the first release names it or not
    return holds("operators", *(found["checks"] if selected else total(by_op, named)), OPERATOR_BAR)


def report_modules(found: dict[str, Any]) -> bool:
    """Prints, and says whether the bar is reached."""
    by_class = found["by_class"]
    named = names_in(HERE / "first_light_modules.txt") & by_class.keys()
    whole = {n for n, (passed, count) in by_class.items() if passed == count}
    why = Counter({n: sum(f[0] == n for f in found["fails"]) for n in by_class})
    reasons = {f[0]: f"{f[1]}: {str(f[2])[:110]}" for f in reversed(found["fails"])}
    print("\n  module, optimizer or scheduler that fails        checks lost  first failure")
    for name, lost in why.most_common():
        if lost and name in named:
            print(f"  {name:48} {lost:>11}  {reasons[name]}")
    passed = sum(by_class[n][0] for n in named), sum(by_class[n][1] for n in named)
    print(
        f"\nmodules, optimizers, schedulers named: {per_cent(len(named & whole), len(named))}; checks {per_cent(*passed)}"
    )
    print(f"all recorded: {per_cent(len(whole), len(by_class))}")
    return holds("modules", len(named & whole), len(named), MODULE_BAR)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--module", default="flambeau")
    parser.add_argument("--ops", help="regular expression: only these operators, no modules")
    parser.add_argument("--all", action="store_true", help="list failures of all operators")
    parser.add_argument("--out", type=Path, default=ROOT / "build/conformance")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    good = report_operators(operators(args.folder, args.out, args.module, args.ops), args.all, bool(args.ops))
    if not args.ops:
        good = report_modules(modules(args.folder, args.out, args.module)) and good
    print(f"\nevery result: {args.out}/operators.json, modules.json")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
