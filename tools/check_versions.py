"""Fail when versions of packages that link natively differ in X.Y, or a sibling pin is not `==X.Y.*`, or the version that core-c10 tells is not its own.

python tools/check_versions.py              check
python tools/check_versions.py --set 0.2.0  write the version and the pins everywhere
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from repo.packages import ROOT, Repository, normalise

TOLD = ROOT / "packages/core-c10/src/flambeau/version.py"  # what flambeau.__version__ is


def minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def problems(repository: Repository) -> Iterator[str]:
    native = {p.name: minor(p.version) for p in repository.packages if p.is_native}
    if len(set(native.values())) > 1:
        yield f"native packages must share X.Y, found {native}; run tools/check_versions.py --set X.Y.Z"
    for package in repository.packages:
        for requirement in (*package.build_requires, *package.requires):
            sibling = repository.by_name.get(normalise(requirement))
            if sibling is None:
                continue
            wanted = f"{sibling.name}=={minor(sibling.version)}.*"
            if requirement.replace(" ", "") != wanted:
                yield f"{package.folder.name}/pyproject.toml asks for {requirement!r}; the checkout has {wanted!r}"
        if not (package.folder / "README.md").exists():
            yield f"{package.folder.name} has no README.md"
    core = repository.by_name["flambeau-core-c10"].version
    if f'__version__ = "{core}"' not in TOLD.read_text():
        yield f"{TOLD.relative_to(ROOT)} does not say {core}; run tools/check_versions.py --set {core}"


def set_version(repository: Repository, version: str) -> None:
    """Edit the version and every sibling pin in each pyproject.toml, and what `flambeau.__version__` tells."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise SystemExit(f"[versions] --set takes X.Y.Z, got {version!r}")
    TOLD.write_text(re.sub(r'__version__ = ".*"', f'__version__ = "{version}"', TOLD.read_text()))
    names = "|".join(re.escape(p.name) for p in repository.packages)
    for package in repository.packages:
        file = package.folder / "pyproject.toml"
        text = re.sub(r'(?m)^version = ".*"', f'version = "{version}"', file.read_text(), count=1)
        file.write_text(re.sub(rf'"({names})\s*==[^"]*"', rf'"\1=={minor(version)}.*"', text))


def main() -> int:
    repository = Repository(ROOT)
    if "--set" in sys.argv:
        set_version(repository, sys.argv[sys.argv.index("--set") + 1])
        repository = Repository(ROOT)
    bad = list(problems(repository))
    print("\n".join(bad) or f"versions ok: {', '.join(f'{p.short} {p.version}' for p in repository.packages)}")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
