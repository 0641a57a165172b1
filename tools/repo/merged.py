"""One source tree of all packages, as links: what tools that know one folder per package need to see."""

from __future__ import annotations

import shutil
from pathlib import Path

from .packages import PREFIX, Repository


def link_sources(repository: Repository, out: Path) -> Path:
    """Fill `out` with links to every Python file of `flambeau`, merged over the packages; returns `out`."""
    shutil.rmtree(out, ignore_errors=True)
    for package in repository.packages:
        source = package.folder / "src"
        for file in sorted(source.glob(f"{PREFIX}/**/*.py*")):
            if file.suffix in {".py", ".pyi"}:
                link = out / file.relative_to(source)
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(file)
    return out
