"""Which comparisons there are: every sample, over dtypes and forms."""

from __future__ import annotations

import importlib
import re
from typing import NamedTuple

from forms import forms_of
from inputs import DTYPES, EVERY_DTYPE

FAMILIES = (
    "creation", "pointwise", "special", "reduce", "sort", "shape", "indexing", "linalg", "fft", "neural", "internal", "random"
)  # fmt: skip


class Case(NamedTuple):
    """One evaluation in both frameworks. `text` is the sample as its table has it, `expression` what the form makes of it."""

    family: str
    dtype: str
    text: str
    form: str
    expression: str


def samples(family: str) -> list[tuple[str, str]]:
    """(kinds of dtypes, expression) as the family's table lists them."""
    return importlib.import_module(f"samples.{family}").SAMPLES


def cases(words: list[str]) -> list[Case]:
    """The cases that `words` select: families by name, other words by text."""
    families = [w for w in words if w in FAMILIES] or list(FAMILIES)
    text = [w for w in words if w not in FAMILIES]
    chosen = [
        (family, kinds, sample)
        for family in families
        for kinds, sample in samples(family)
        if not text or any(w in sample for w in text)
    ]
    listed = [
        Case(family, dtype, sample, form, expression)
        for family, kinds, sample in chosen
        for form, expression in forms_of(sample)
        for dtype in DTYPES[kinds]
    ]
    named = {(c.text, c.dtype) for c in listed}
    others = [
        Case(family, dtype, sample, "other dtypes", sample)
        for family, kinds, sample in chosen
        if kinds != "-"
        for dtype in EVERY_DTYPE
        if (sample, dtype) not in named
    ]
    return list(dict.fromkeys(listed + others))


def operator_of(text: str) -> str:
    """The operator that a sample is counted under: the first name called on `fl`, `F` or a tensor."""
    seeded = re.search(r"manual_seed\(7\), (.*)\)\[1\]$", text)
    text = seeded[1] if seeded else text
    if match := re.match(r"fl\.(linalg|special|fft)\.(\w+)", text):
        return f"{match[1]}.{match[2]}"
    if match := re.match(r"(?:fl\.ops\.aten|fl|F)\.(\w+)", text):
        return match[1]
    if match := re.match(r"\w+\([^()]*\)\.(\w+)", text):
        return match[1]
    return "indexing" if "[" in text else "operators + - * / ..."
