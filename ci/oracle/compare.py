"""Evaluate the sample expressions in flambeau and in torch and compare: values, dtypes, strides, gradients, errors.

    python ci/oracle/compare.py                  everything; a table, and the differences
    python ci/oracle/compare.py linalg svd       families by name, other words select by text
    python ci/oracle/compare.py --out build/oracle.md

Work is done in child processes, so that a crash costs one expression. Exits with 1 where fewer than BAR of the comparisons
are equal, with 2 where the words select nothing.
"""

from __future__ import annotations

import argparse
import importlib
import json
import re
import subprocess
import sys
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FAMILIES = ("pointwise", "reduce", "shape", "linalg", "neural")
TOLERANCE = {"float64": (1e-9, 1e-9), "complex128": (1e-9, 1e-9), "float16": (2e-3, 2e-3), "bfloat16": (1.6e-2, 1.6e-2)}
DEFAULT_TOLERANCE = (2e-5, 2e-5)  # float32 and complex64; integers compare exactly
BAR = 0.99  # the share of comparisons that must be equal
BUILTIN_ERRORS = (NotImplementedError, IndexError, TypeError, ValueError, RuntimeError)


def samples(words: list[str]) -> list[tuple[str, str, str]]:
    """(family, dtype, expression) for each sample that `words` selects."""
    from inputs import DTYPES

    families = [w for w in words if w in FAMILIES] or list(FAMILIES)
    text = [w for w in words if w not in FAMILIES]
    return [
        (family, dtype, expression)
        for family in families
        for kinds, expression in importlib.import_module(f"samples.{family}").SAMPLES
        if not text or any(w in expression for w in text)
        for dtype in DTYPES[kinds]
    ]


def operator_of(expression: str) -> str:
    """The operator that a line is counted under: the first name called on `fl`, `F` or a tensor."""
    seeded = re.search(r"manual_seed\(7\), (.*)\)\[1\]$", expression)
    text = seeded[1] if seeded else expression
    if match := re.match(r"(?:fl\.linalg|fl|F)\.(\w+)", text):
        return f"linalg.{match[1]}" if text.startswith("fl.linalg") else match[1]
    if match := re.match(r"\w+\([^()]*\)\.(\w+)", text):
        return match[1]
    return "indexing" if "[" in text else "operators + - * / ..."


def evaluate(fl: Any, dtype: str, expression: str) -> tuple[Any, list[Any] | Exception]:
    """The result (or the exception) and the leaves that its gradient goes to."""
    from inputs import Inputs, seed_of

    inputs = Inputs(fl, dtype, seed_of(expression))
    try:
        return eval(expression, inputs.names()), inputs.leaves
    except Exception as err:
        return err, []


def tensors_in(value: Any) -> list[Any]:
    if isinstance(value, list | tuple):
        return [t for v in value for t in tensors_in(v)]
    return [value] if hasattr(value, "stride") and hasattr(value, "dtype") else []


def error_class(err: Exception) -> str:
    """The built-in class that code would catch; framework errors of other libraries count as RuntimeError."""
    return next((c.__name__ for c in BUILTIN_ERRORS if isinstance(err, c)), "RuntimeError")


def short(dtype: Any) -> str:
    return str(dtype).split(".")[-1]


def compare(ours: Any, theirs: Any, dtype: str, expression: str) -> Iterator[tuple[str, str]]:
    """(kind of comparison, difference or '') for one expression."""
    expected, their_leaves = evaluate(theirs, dtype, expression)
    if isinstance(expected, Exception) and "not implemented for" in str(expected):
        return  # torch has no kernel for this dtype; having one is no difference
    found, our_leaves = evaluate(ours, dtype, expression)
    if isinstance(expected, Exception):
        if not isinstance(found, Exception):
            yield "error", f"torch raises {error_class(expected)}: {str(expected)[:80]}; flambeau gives a result"
        else:
            same = error_class(found) == error_class(expected)
            yield (
                "error",
                "" if same else f"{error_class(expected)} in torch, {type(found).__name__} here: {str(found)[:80]}",
            )
        return
    if isinstance(found, Exception):
        yield "value", f"{type(found).__name__}: {str(found)[:100]}"
        return
    a, b = tensors_in(found), tensors_in(expected)
    if len(a) != len(b) or not b:
        same = repr(found).replace("flambeau", "torch") == repr(expected)
        yield "value", "" if same and len(a) == len(b) else f"{str(found)[:60]} instead of {str(expected)[:60]}"
        return
    for mine, other in zip(a, b, strict=True):
        yield (
            "dtype",
            "" if short(mine.dtype) == short(other.dtype) else f"{short(mine.dtype)} instead of {short(other.dtype)}",
        )
        yield "value", value_difference(mine, other)
        yield "stride", stride_difference(mine, other)
    yield from compare_gradients(ours, theirs, (a, our_leaves), (b, their_leaves))


def stride_difference(mine: Any, other: Any) -> str:
    """Strides of dimensions of size 1, and of empty tensors, mean nothing."""
    if tuple(mine.shape) != tuple(other.shape) or other.numel() == 0:
        return ""
    pairs = zip(mine.stride(), other.stride(), other.shape, strict=True)
    return (
        ""
        if all(p == q for p, q, n in pairs if n > 1)
        else f"{tuple(mine.stride())} instead of {tuple(other.stride())}"
    )


def value_difference(mine: Any, other: Any) -> str:
    import numpy as np
    from inputs import to_numpy

    if tuple(mine.shape) != tuple(other.shape):
        return f"shape {tuple(mine.shape)} instead of {tuple(other.shape)}"
    a, b = to_numpy(mine), to_numpy(other)
    kind = short(other.dtype)
    if "float" not in kind and "complex" not in kind:
        return "" if np.array_equal(a, b) else f"{int((a != b).sum())} of {b.size} elements differ"
    rtol, atol = TOLERANCE.get(kind, DEFAULT_TOLERANCE)
    if np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True):
        return ""
    with np.errstate(all="ignore"):
        return f"differs by up to {np.nanmax(np.abs(a.astype(complex) - b.astype(complex))):.3g}"


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
        yield "gradient", f"{type(err).__name__}: {str(err)[:100]}"
        return
    for a, b in zip(mine[1], other[1], strict=True):
        if (a.grad is None) != (b.grad is None):
            yield (
                "gradient",
                f"{'none' if a.grad is None else 'one'} here, {'none' if b.grad is None else 'one'} in torch",
            )
        elif b.grad is not None:
            yield "gradient", value_difference(a.grad, b.grad)


def backward(fl: Any, results: list[Any], leaves: list[Any]) -> None:
    from inputs import weights_like

    total = None
    for result in (r for r in results if r.requires_grad):
        weights = fl.from_numpy(weights_like(tuple(result.shape))).to(result.dtype)
        part = (result * weights).sum()
        part = part.real if "complex" in short(part.dtype) else part
        total = part if total is None else total + part
    total.backward()


def child(words: list[str], start: int) -> None:
    """Compare from sample number `start` on; a line of JSON before and after each."""
    import flambeau as ours
    import torch as theirs

    warnings.simplefilter("ignore")
    for number, (_, dtype, expression) in enumerate(samples(words)):
        if number < start:
            continue
        print(json.dumps({"begin": number}), flush=True)
        try:
            found = list(compare(ours, theirs, dtype, expression))
        except Exception as err:
            found = [("value", f"{type(err).__name__} while comparing: {str(err)[:100]}")]
        print(json.dumps({"end": number, "found": found}), flush=True)


def run_all(words: list[str]) -> dict[int, list[tuple[str, str]]]:
    """Results by sample number; a sample whose process dies has one failed comparison."""
    results: dict[int, list[tuple[str, str]]] = {}
    start, count = 0, len(samples(words))
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
        results[current] = [("crash", f"the process ended with {done.returncode}")]
        start = current + 1
    return results


def report(words: list[str], results: dict[int, list[tuple[str, str]]]) -> tuple[str, float]:
    """A Markdown table with a line per operator, and the list of differences; the share that is equal (0 of nothing)."""
    table: dict[str, Counter[str]] = defaultdict(Counter)
    differences: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    total = Counter[str]()
    for number, (family, dtype, expression) in enumerate(samples(words)):
        for kind, difference in results.get(number, []):
            name = operator_of(expression)
            table[f"{family} | {name}"].update([kind, f"{kind} equal"] if not difference else [kind])
            total.update([kind, f"{kind} equal"] if not difference else [kind])
            if difference:
                differences[(expression, kind, difference)].append(dtype)
    kinds = ["value", "dtype", "stride", "gradient", "error"]
    lines = [
        "# flambeau beside torch",
        "",
        f"| family | operator | {' | '.join(kinds)} |",
        "|---|---|" + "---|" * len(kinds),
    ]
    for name in sorted(table):
        cells = [f"{table[name][k + ' equal']}/{table[name][k]}" if table[name][k] else "" for k in kinds]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    lines += ["", "## Differences", ""]
    for (expression, kind, difference), dtypes in sorted(differences.items()):
        lines.append(f"- `{expression}` ({', '.join(dtypes)}) {kind}: {difference}")
    equal = sum(v for k, v in total.items() if k.endswith(" equal"))
    count = sum(v for k, v in total.items() if not k.endswith(" equal"))
    by_kind = ", ".join(f"{k} {total[k + ' equal']:,}/{total[k]:,}" for k in [*kinds, "crash"] if total[k])
    lines += ["", f"{equal:,} of {count:,} comparisons equal ({100 * equal / max(count, 1):.2f} %): {by_kind}"]
    return "\n".join(lines), equal / max(count, 1)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--out", type=Path, default=ROOT / "build/oracle.md")
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child is not None:
        child(args.words, args.child)
        return 0
    if not samples(args.words):
        print(
            f"[oracle] no sample holds {' or '.join(args.words)}; families are {', '.join(FAMILIES)}", file=sys.stderr
        )
        return 2
    text, share = report(args.words, run_all(args.words))
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(text + "\n")
    print(text.split("## Differences")[1].strip())
    print(f"\nthe table by operator: {args.out}")
    if share < BAR:
        print(
            f"[oracle] {100 * share:.2f} % of the comparisons are equal, {100 * BAR:.0f} % are asked for",
            file=sys.stderr,
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
