"""The packages of this repository, read from their pyproject files; no list is kept by hand."""

from __future__ import annotations

import graphlib
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PREFIX = "flambeau"
META = "flambeau"  # the distribution that depends on all others
DEFAULT_TEST_TOOLS = ("pytest", "hypothesis", "expecttest", "numpy")


def normalise(requirement: str) -> str:
    """'Flambeau_Core.C10 == 0.1.*' -> 'flambeau-core-c10'."""
    match = re.match(r"[A-Za-z0-9][A-Za-z0-9._-]*", requirement.strip())
    if match is None:
        raise ValueError(f"not a requirement: {requirement!r}")
    return re.sub(r"[-_.]+", "-", match[0]).lower()


@dataclass(frozen=True)
class Package:
    """One distribution of this repository."""

    folder: Path
    name: str
    version: str
    backend: str
    build_requires: tuple[str, ...]
    requires: tuple[str, ...]
    test_requires: tuple[str, ...]

    @property
    def is_native(self) -> bool:
        return self.backend.startswith("scikit_build_core")

    @property
    def short(self) -> str:
        """The word people type: `nn` for flambeau-nn."""
        return self.name.removeprefix(f"{PREFIX}-")

    @property
    def wheel_glob(self) -> str:
        return f"{self.name.replace('-', '_')}-{self.version}-*.whl"

    @property
    def uses_opgen(self) -> bool:
        return any(normalise(r) == f"{PREFIX}-opgen" for r in self.build_requires)


def read(pyproject: Path) -> Package:
    """Parse one pyproject.toml."""
    data = tomllib.loads(pyproject.read_text())
    project, build = data["project"], data["build-system"]
    return Package(
        folder=pyproject.parent,
        name=normalise(project["name"]),
        version=project["version"],
        backend=build["build-backend"],
        build_requires=tuple(build["requires"]),
        requires=tuple(project.get("dependencies", ())),
        test_requires=tuple(data.get("dependency-groups", {}).get("test", DEFAULT_TEST_TOOLS)),
    )


class Repository:
    """All packages, dependencies first."""

    def __init__(self, root: Path = ROOT) -> None:
        found = (read(p) for p in (*root.glob("packages/*/pyproject.toml"), *root.glob("tools/*/pyproject.toml")))
        by_name = {p.name: p for p in sorted(found, key=lambda p: p.name)}
        graph = {p.name: self._siblings(by_name, (*p.build_requires, *p.requires)) for p in by_name.values()}
        self.root = root
        self.packages = [by_name[n] for n in graphlib.TopologicalSorter(graph).static_order()]
        self.by_name = by_name

    @staticmethod
    def _siblings(known: dict[str, Package], requirements: tuple[str, ...]) -> list[str]:
        return sorted({n for n in map(normalise, requirements) if n in known})

    def build_siblings(self, package: Package) -> list[Package]:
        """What must be installed before `package` can be built: its build requirements and what they need."""
        return self._closure(self._siblings(self.by_name, package.build_requires))

    def run_siblings(self, package: Package) -> list[Package]:
        """What `package` needs at run time, itself last."""
        return [*self._closure(self._siblings(self.by_name, package.requires)), package]

    def _closure(self, names: list[str]) -> list[Package]:
        wanted: set[str] = set()
        stack = list(names)
        while stack:
            name = stack.pop()
            if name not in wanted:
                wanted.add(name)
                stack += self._siblings(self.by_name, self.by_name[name].requires)
        return [p for p in self.packages if p.name in wanted]

    def needed_for(self, chosen: list[Package]) -> list[Package]:
        """Every package whose wheel is needed to build, install and test `chosen`."""
        names = {p.name for c in chosen for p in (*self.run_siblings(c), *self.build_siblings(c))}
        more = {p.name for n in names for p in self.build_siblings(self.by_name[n])}
        return [p for p in self.packages if p.name in names | more]

    def external(self, requirements: tuple[str, ...]) -> list[str]:
        """The requirements that are not ours."""
        return sorted({r for r in requirements if normalise(r) not in self.by_name})

    def select(self, words: list[str]) -> tuple[list[Package], list[str]]:
        """Split a command line into the packages that it names (all, when none) and the other words."""
        chosen = [p for p in self.packages if {p.name, p.short, p.folder.name} & set(words)]
        named = {w for p in chosen for w in (p.name, p.short, p.folder.name)}
        return chosen or self.packages, [w for w in words if w not in named]
