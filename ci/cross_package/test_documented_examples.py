"""The examples of docs/extending.md run as they stand."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs/extending.md"
BLOCKS = re.findall(r"## ([^\n]*)\n.*?```python\n(.*?)```", PAGE.read_text(), re.S)


@pytest.mark.parametrize(("title", "code"), BLOCKS, ids=[title for title, _ in BLOCKS])
def test_example(title: str, code: str) -> None:
    exec(compile(code, str(PAGE), "exec"), {"__name__": "__main__"})


def test_there_are_examples() -> None:
    assert len(BLOCKS) == 3
