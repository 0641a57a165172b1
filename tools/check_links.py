"""Fail when a relative link, an anchor or a path in `backticks` of a Markdown page leads nowhere."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from repo.packages import ROOT

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")
CODE_BLOCK = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
# a path in the repository, such as `packages/nn/README.md` or `tools/codegen.py`
PATH = re.compile(r"`((?:packages|tools|schemas|ci|docs|benchmarks|third_party)/[\w./-]+)`")


def pages(root: Path) -> list[Path]:
    found = [*root.glob("*.md"), *root.glob("docs/**/*.md"), *root.glob("packages/*/*.md"), *root.glob("tools/*/*.md")]
    return sorted({*found, *root.glob("third_party/**/*.md"), *root.glob("benchmarks/*.md"), *root.glob("ci/*.md")})


def anchors(page: Path) -> set[str]:
    """The anchors that a Markdown renderer gives to the headings of `page`."""
    headings = re.findall(r"^#+\s+(.*)$", CODE_BLOCK.sub("", page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", h.replace("`", "").lower()).strip().replace(" ", "-") for h in headings}


def broken(page: Path, root: Path) -> Iterator[str]:
    text = CODE_BLOCK.sub(lambda m: "\n" * m[0].count("\n"), page.read_text())
    for number, line in enumerate(text.splitlines(), 1):
        where = f"{page.relative_to(root)}:{number}"
        for match in LINK.finditer(line):
            target, _, anchor = (match[1] or match[2]).partition("#")
            if ":" in target:
                continue  # an address elsewhere: nothing is fetched here
            file = (page.parent / target).resolve() if target else page
            if not file.exists():
                yield f"{where}: link to {target}, which does not exist"
            elif anchor and file.suffix == ".md" and anchor not in anchors(file):
                yield f"{where}: {file.relative_to(root)} has no heading for #{anchor}"
        for match in PATH.finditer(line):
            if not (root / match[1]).exists():
                yield f"{where}: names {match[1]}, which does not exist"


def main() -> int:
    found = pages(ROOT)
    bad = [line for page in found for line in broken(page, ROOT)]
    print("\n".join(bad) or f"links ok: {len(found)} pages")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
