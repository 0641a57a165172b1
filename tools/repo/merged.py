"""One source tree of all packages, as links: what tools that know one folder per package need to see."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from .packages import PREFIX, Package


def link_sources(packages: Sequence[Package], out: Path, generated: Path) -> Path:
    """Fill `out` with links to every Python file and stub of `flambeau`, merged over `packages`; returns `out`.

    `generated` is where `tools/codegen.py` wrote: its stubs lie where the wheels have them.
    """
    shutil.rmtree(out, ignore_errors=True)
    for package in packages:
        source = package.folder / "src"
        for file in sorted(source.glob(f"{PREFIX}/**/*")):
            if file.suffix in {".py", ".pyi"} or file.name == "py.typed":
                _link(out / file.relative_to(source), file)
        for file in sorted(generated.glob(f"{package.short.split('-')[0]}/stubs/*.pyi")):
            _link(out / PREFIX / "_stubs" / file.name, file)
    return out


def read_by_checkers(merged: Path) -> list[Path]:
    """The files of a merged tree that a type checker reads: where a stub stands beside a module, the stub."""
    stubs = set(merged.rglob("*.pyi"))
    return sorted(f for f in merged.rglob("*.py*") if f in stubs or (f.suffix == ".py" and Path(f"{f}i") not in stubs))


def _link(link: Path, file: Path) -> None:
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(file)
