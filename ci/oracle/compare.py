"""Evaluate the sample expressions in flambeau and in torch and compare: values, dtypes, strides, gradients, errors.

    python ci/oracle/compare.py                  everything; totals by family, and the differences
    python ci/oracle/compare.py linalg svd       families by name, other words select by text
    python ci/oracle/compare.py --out build/oracle.md

Work is done in child processes, so that a crash costs one comparison. Exits with 1 where fewer than BAR per cent of the
comparisons are equal or an operator has no sample, with 2 where the words select nothing.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from coverage import uncovered
from forms import is_out
from inputs import Inputs, seed_of, to_numpy, weights_like
from plan import FAMILIES, Case, cases
from report import Found, report

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TOLERANCE = {"float64": (1e-9, 1e-9), "complex128": (1e-9, 1e-9), "float16": (2e-3, 2e-3), "bfloat16": (1.6e-2, 1.6e-2)}
DEFAULT_TOLERANCE = (2e-5, 2e-5)  # float32 and complex64; integers compare exactly
BAR = 99.0  # per cent of comparisons that must be equal
BUILTIN_ERRORS = (NotImplementedError, IndexError, TypeError, ValueError, RuntimeError)


def evaluate(fl: Any, case: Case) -> tuple[Any, list[Any] | Exception]:
    """The result (or the exception) and the leaves that its gradient goes to."""
    at_work(fl)
    inputs = Inputs(fl, case.dtype, seed_of(case.text), case.form)
    names = inputs.names()
    try:
        if not is_out(case.form):
            return eval(case.expression, names), inputs.leaves
        with fl.no_grad():
            fresh = Inputs(fl, case.dtype, seed_of(case.text), case.form)
            names["OUT"] = outputs(fl, eval(case.text, fresh.names()), case.form)
            eval(case.expression, names)
            return names["OUT"], []
    except Exception as err:
        return err, []


def at_work(fl: Any) -> None:
    """Leaves word, in case the process dies, which framework was running."""
    sys.stderr.write(f"{fl.__name__}\n")
    sys.stderr.flush()


def outputs(fl: Any, result: Any, form: str) -> Any:
    """Tensors for `out=`: empty ones to be resized, or transposed ones of the right shape."""
    if isinstance(result, list | tuple):
        return tuple(outputs(fl, r, form) for r in result)
    if form == "out":
        return fl.empty(0, dtype=result.dtype)
    return fl.empty(tuple(result.shape)[::-1], dtype=result.dtype).permute(*reversed(range(result.dim())))


def tensors_in(value: Any) -> list[Any]:
    if isinstance(value, list | tuple):
        return [t for v in value for t in tensors_in(v)]
    return [value] if hasattr(value, "stride") and hasattr(value, "dtype") else []


def error_class(err: Exception) -> str:
    """The built-in class that code would catch; framework errors of other libraries count as RuntimeError."""
    return next((c.__name__ for c in BUILTIN_ERRORS if isinstance(err, c)), "RuntimeError")


def short(dtype: Any) -> str:
    return str(dtype).split(".")[-1]


def is_no_refusal(err: Exception, case: Case) -> bool:
    """torch has no kernel for this dtype, or no such spelling: giving a result there is no difference."""
    if case.form == "other dtypes" or "not implemented for" in str(err):
        return True
    if case.form in ("method", "in-place", "function"):
        return isinstance(err, AttributeError)
    return is_out(case.form)


def compare(ours: Any, theirs: Any, case: Case) -> Iterator[tuple[str, str]]:
    """(kind of comparison, difference or '') for one case."""
    expected, their_leaves = evaluate(theirs, case)
    if isinstance(expected, Exception) and is_no_refusal(expected, case):
        return
    found, our_leaves = evaluate(ours, case)
    if isinstance(expected, Exception):
        if not isinstance(found, Exception):
            yield "error", f"torch raises {error_class(expected)}: {first_line(expected)}; flambeau gives a result"
        elif error_class(found) != error_class(expected):
            yield "error", f"{error_class(expected)} in torch, {type(found).__name__} here: {first_line(found)}"
        else:
            yield "error", ""
        return
    if isinstance(found, Exception):
        yield "value", f"{type(found).__name__}: {first_line(found)}"
        return
    a, b = tensors_in(found), tensors_in(expected)
    if len(a) != len(b) or not b:
        same = repr(found).replace("flambeau", "torch") == repr(expected)
        yield "value", "" if same and len(a) == len(b) else f"{str(found)[:60]} instead of {str(expected)[:60]}"
        return
    for mine, other in zip(a, b, strict=True):
        same = short(mine.dtype) == short(other.dtype)
        yield "dtype", "" if same else f"{short(mine.dtype)} instead of {short(other.dtype)}"
        yield "value", value_difference(mine, other)
        yield "stride", stride_difference(mine, other)
    yield from compare_gradients(ours, theirs, (a, our_leaves), (b, their_leaves))


def first_line(err: Exception) -> str:
    return str(err).strip().split("\n")[0][:100]


def stride_difference(mine: Any, other: Any) -> str:
    """Strides of dimensions of size 1, and of empty tensors, mean nothing."""
    if tuple(mine.shape) != tuple(other.shape) or other.numel() == 0:
        return ""
    pairs = zip(mine.stride(), other.stride(), other.shape, strict=True)
    same = all(p == q for p, q, n in pairs if n > 1)
    return "" if same else f"{tuple(mine.stride())} instead of {tuple(other.stride())}"


def value_difference(mine: Any, other: Any) -> str:
    import numpy as np

    if tuple(mine.shape) != tuple(other.shape):
        return f"shape {tuple(mine.shape)} instead of {tuple(other.shape)}"
    a, b = to_numpy(mine), to_numpy(other)
    kind = short(other.dtype)
    if "float" not in kind and "complex" not in kind:
        return "" if np.array_equal(a, b) else f"{int((a != b).sum())} of {b.size} elements differ"
    rtol, atol = TOLERANCE.get(kind, DEFAULT_TOLERANCE)
    if np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True):
        return ""
    if np.array_equal(np.isfinite(a), np.isfinite(b)):
        with np.errstate(all="ignore"):
            return f"differs by up to {np.nanmax(np.abs(a.astype(complex) - b.astype(complex))):.1e}"
    return f"{a.flat[:3]} instead of {b.flat[:3]}" if b.size < 4 else "infinite or NaN in other places"


def compare_gradients(
    ours: Any, theirs: Any, mine: tuple[list, list], other: tuple[list, list]
) -> Iterator[tuple[str, str]]:
    """Backward through a weighted sum of the differentiable results of both."""
    if not any(t.requires_grad for t in other[0]) or not other[1]:
        return
    try:
        backward(theirs, *other)
    except Exception:
        return  # torch cannot either
    try:
        backward(ours, *mine)
    except Exception as err:
        yield "gradient", f"{type(err).__name__}: {first_line(err)}"
        return
    for a, b in zip(mine[1], other[1], strict=True):
        if (a.grad is None) != (b.grad is None):
            here, there = ("none" if t.grad is None else "one" for t in (a, b))
            yield "gradient", f"{here} here, {there} in torch"
        elif b.grad is not None:
            yield "gradient", value_difference(a.grad, b.grad)


def backward(fl: Any, results: list[Any], leaves: list[Any]) -> None:
    at_work(fl)
    total = None
    for result in (r for r in results if r.requires_grad):
        weights = fl.from_numpy(weights_like(tuple(result.shape))).to(result.dtype)
        part = (result * weights).sum()
        part = part.real if "complex" in short(part.dtype) else part
        total = part if total is None else total + part
    total.backward()


def child(words: list[str], start: int) -> None:
    """Compare from case number `start` on; a line of JSON before and after each."""
    import flambeau as ours
    import torch as theirs

    warnings.simplefilter("ignore")
    for number, case in enumerate(cases(words)):
        if number < start:
            continue
        print(json.dumps({"begin": number}), flush=True)
        try:
            found = list(compare(ours, theirs, case))
        except Exception as err:
            found = [("value", f"{type(err).__name__} while comparing: {first_line(err)}")]
        print(json.dumps({"end": number, "found": found}), flush=True)


def run_all(words: list[str]) -> dict[int, Found]:
    """Results by number of the case. One that ends the process is a failed comparison, or none if torch was running."""
    results: dict[int, Found] = {}
    start, count = 0, len(cases(words))
    while start < count:
        command = [sys.executable, str(Path(__file__)), *words, "--child", str(start)]
        done = subprocess.run(command, capture_output=True, text=True)
        current = None
        for line in done.stdout.splitlines():
            record = json.loads(line)
            if "begin" in record:
                current = record["begin"]
            else:
                results[record["end"]], current = record["found"], None
        if current is None and done.returncode == 0:
            break
        if current is None:
            raise SystemExit(f"[oracle] the comparing process failed:\n{done.stderr[-2000:]}")
        died = done.stderr.split()[-1]
        results[current] = [("crash", f"the process ended with {done.returncode}")] if died == "flambeau" else []
        start = current + 1
    return results


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--out", type=Path, default=ROOT / "build/oracle.md")
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child is not None:
        child(args.words, args.child)
        return 0
    chosen = cases(args.words)
    if not chosen:
        print(
            f"[oracle] no sample holds {' or '.join(args.words)}; families are {', '.join(FAMILIES)}", file=sys.stderr
        )
        return 2
    results = run_all(args.words)
    compared = [c.expression for n, c in enumerate(chosen) if any(kind == "value" for kind, _ in results.get(n, []))]
    missing = uncovered(compared) if not args.words else []
    result = report(chosen, results, missing)
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(result.document)
    print(result.summary)
    print(f"the table by operator: {args.out}")
    if result.percent < BAR:
        print(
            f"[oracle] {result.percent:.2f} % of the comparisons are equal, {BAR:.0f} % are asked for", file=sys.stderr
        )
    return 1 if missing or result.percent < BAR else 0


if __name__ == "__main__":
    sys.exit(main())
