"""One virtual environment that holds, for each package in turn, exactly what that package declares.

The layers form nearly a chain, so moving from one package's environment to the next costs a few installs and
removals; a fresh environment per package would cost most of the time of a test run.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from .packages import Package, normalise
from .wheels import Dist

Pip = Callable[..., object]
EXTERNAL = "external:"


class SiblingEnvironment:
    """Installs and removes our wheels in an environment that `pip` acts on."""

    def __init__(self, dist: Dist, pip: Pip, state_file: Path) -> None:
        self.dist = dist
        self.pip = pip
        self.state_file = state_file  # what is installed now: name, hash of its inputs
        self.installed = self._load()

    def _load(self) -> dict[str, str]:
        if not self.state_file.exists():
            return {}
        return dict(line.split(" ", 1) for line in self.state_file.read_text().splitlines())

    def _store(self) -> None:
        self.state_file.write_text("".join(f"{n} {h}\n" for n, h in sorted(self.installed.items())))

    def hold(self, packages: list[Package], tools: tuple[str, ...] = ()) -> None:
        """Make the environment hold `packages` with what they require, and `tools`, and nothing else installed here."""
        wanted = self._wanted(packages, tools)
        gone = [n for n in self.installed if n not in wanted]
        if gone:
            self.pip("uninstall", "-y", "-q", *[n.removeprefix(EXTERNAL) for n in gone])
            self._forget(gone)
        self.add(packages, tools)

    def add(self, packages: list[Package], tools: tuple[str, ...] = ()) -> None:
        """Like `hold`, but leave what else is there."""
        wanted = self._wanted(packages, tools)
        new = [n for n, state in wanted.items() if self.installed.get(n) != state]
        self._forget(new)
        externals = [wanted[n] for n in new if n.startswith(EXTERNAL)]
        if externals:
            self.pip("install", "-q", *externals)
        wheels = [str(self.dist.wheel(p)) for p in packages if p.name in new]
        if wheels:
            # by file and without an index: a sibling comes from dist/ or not at all
            self.pip("install", "-q", "--no-index", "--no-deps", "--force-reinstall", *wheels)
        if new:
            self.installed |= wanted
            self._store()
            self.pip("check")

    def _wanted(self, packages: list[Package], tools: tuple[str, ...]) -> dict[str, str]:
        externals = {r for p in packages for r in self.dist.repository.external(p.requires)} | set(tools)
        ours = {p.name: self.dist.hash_of(p) for p in packages}
        return ours | {EXTERNAL + normalise(r): r for r in sorted(externals)}

    def _forget(self, names: list[str]) -> None:
        self.installed = {n: state for n, state in self.installed.items() if n not in names}
        self._store()
