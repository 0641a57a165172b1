"""Building wheels: only those whose inputs changed, siblings from dist/ only, each within its size budget."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

from .packages import META, PREFIX, Package, Repository

# what lies in a package folder and does not reach its wheel
NOT_INPUTS = {"tests", "build", "dist", "__pycache__", "CHANGELOG.md", ".pytest_cache", ".hypothesis", ".mypy_cache"}
IGNORED_SUFFIXES = {".pyc", ".so"}
SOURCES = {".cpp", ".cc", ".cu", ".o", ".a"}


class WheelError(Exception):
    """A wheel is not as it has to be; the message says which rule, the file and the remedy."""


def files_under(folder: Path) -> Iterator[Path]:
    """Every input file below `folder`, in a fixed order."""
    for path in sorted(folder.iterdir()):
        if path.name in NOT_INPUTS or path.suffix in IGNORED_SUFFIXES:
            continue
        if path.is_dir():
            yield from files_under(path)
        else:
            yield path


def digest_folder(folder: Path) -> str:
    """sha256 over the names and contents of the input files below `folder`."""
    digest = hashlib.sha256()
    for path in files_under(folder) if folder.is_dir() else ():
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        digest.update(f"{path.relative_to(folder)}\0{content}\n".encode())
    return digest.hexdigest()


def toolchain() -> str:
    """Compiler, interpreter and build switches: a change of any makes native wheels stale."""
    compiler = os.environ.get("CXX", "c++").split()[-1]
    try:
        shown = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as err:
        raise WheelError(
            f"[wheels] no C++20 compiler: {compiler} --version failed ({err}); install g++ or set CXX"
        ) from err
    switches = {k: v for k, v in sorted(os.environ.items()) if k in {"CXXFLAGS", "CMAKE_ARGS"}}
    return f"{shown.splitlines()[0]} {sys.implementation.cache_tag} {switches}"


class Dist:
    """The folder of built wheels and the record of what each was built from."""

    def __init__(self, repository: Repository, folder: Path | None = None) -> None:
        self.repository = repository
        self.folder = folder or repository.root / "dist"
        self.record_file = self.folder / ".hashes.json"
        self.budgets = tomllib.loads((repository.root / "ci/wheel_budgets.toml").read_text())["bytes"]
        self._hashes: dict[str, str] = {}

    def hash_of(self, package: Package) -> str:
        """Content hash of everything that the wheel is made from."""
        if package.name not in self._hashes:
            root = self.repository.root
            parts = [digest_folder(package.folder), (root / "ci/constraints.txt").read_text()]
            parts += [self.hash_of(s) for s in self.repository.build_siblings(package)]
            if package.uses_opgen:
                parts.append(digest_folder(root / "schemas"))
            if package.is_native:
                parts += [toolchain(), digest_folder(root / "tools/cmake")]
            self._hashes[package.name] = hashlib.sha256("\n".join(parts).encode()).hexdigest()
        return self._hashes[package.name]

    def record(self) -> dict[str, str]:
        return json.loads(self.record_file.read_text()) if self.record_file.exists() else {}

    def wheel(self, package: Package) -> Path:
        """The wheel of `package`; raises when there is not exactly one."""
        found = list(self.folder.glob(package.wheel_glob))
        if len(found) != 1:
            raise WheelError(
                f"[wheels] dist/ holds {len(found)} wheels of {package.name} {package.version}; run nox -s wheels"
            )
        return found[0]

    def is_current(self, package: Package) -> bool:
        built = list(self.folder.glob(package.wheel_glob))
        return len(built) == 1 and self.record().get(package.name) == self.hash_of(package)

    def build(self, package: Package, run_pip: Callable[..., object]) -> str:
        """Build one wheel with `run_pip("wheel", ...)`, check it, and record its inputs. Returns a line to print."""
        self.folder.mkdir(exist_ok=True)
        for old in self.folder.glob(f"{package.name.replace('-', '_')}-[0-9]*.whl"):
            old.unlink()  # an older version left here would win, or be installed by mistake
        start = time.perf_counter()
        run_pip("wheel", "--no-deps", "--wheel-dir", str(self.folder), str(package.folder))
        wheel = self.wheel(package)
        self.check(package, wheel)
        self.record_file.write_text(json.dumps({**self.record(), package.name: self.hash_of(package)}, indent=1))
        size, budget = wheel.stat().st_size, self.budgets[package.name]
        return f"{package.name:24} {time.perf_counter() - start:6.1f} s   {size / 1e6:6.2f} MB of {budget / 1e6:g} MB"

    def check(self, package: Package, wheel: Path) -> None:
        """Size budget and contents: no tests, no sources, no library twice, one owner of the namespace root."""
        size, budget = wheel.stat().st_size, self.budgets.get(package.name)
        if budget is None:
            raise WheelError(f"[wheels] {package.name} has no size budget; add a line to ci/wheel_budgets.toml")
        if size > budget:
            raise WheelError(f"[wheels] {wheel.name} is {size:,} bytes, over the {budget:,} of ci/wheel_budgets.toml")
        with zipfile.ZipFile(wheel) as archive:
            libraries: dict[str, str] = {}
            for name in archive.namelist():
                self._check_name(package, name)
                if ".so" in Path(name).suffixes:
                    content = hashlib.sha256(archive.read(name)).hexdigest()
                    if content in libraries:
                        raise WheelError(
                            f"[wheels] {wheel.name} holds one library twice: {libraries[content]} and {name}"
                        )
                    libraries[content] = name

    @staticmethod
    def _check_name(package: Package, name: str) -> None:
        parts = Path(name).parts
        if ".dist-info" in parts[0]:
            return
        if "tests" in parts or Path(name).suffix in SOURCES:
            raise WheelError(f"[wheels] {package.name} ships {name}: tests and sources stay out of wheels")
        own_root = "opgen" if package.short == "opgen" else PREFIX
        if parts[0] != own_root:
            raise WheelError(f"[wheels] {package.name} ships {name}: everything belongs below {own_root}/")
        if name == f"{PREFIX}/__init__.py" and package.short != "core-c10":
            raise WheelError(
                f"[wheels] {package.name} ships {name}, which core-c10 owns: uninstalling one would break the other"
            )


def build_environment(dist: Dist, packages: list[Package]) -> list[str]:
    """What a build environment must hold for `packages`, our own wheels aside."""
    repository = dist.repository
    needs = {"pip"}
    for package in packages:
        needs |= set(repository.external(package.build_requires))
        for sibling in repository.build_siblings(package):
            needs |= set(repository.external(sibling.requires))
    if any(p.is_native for p in packages):
        needs |= {tool for tool in ("cmake", "ninja") if shutil.which(tool) is None}
    return sorted(needs)


def sibling_constraints(dist: Dist, constraints: Path, out: Path) -> Path:
    """Constraints that tie every sibling to its wheel in dist/, so that no index can offer another one."""
    lines = [constraints.read_text().rstrip()]
    for package in dist.repository.packages:
        if package.name != META and dist.is_current(package):
            lines.append(f"{package.name} @ {dist.wheel(package).as_uri()}")
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text("\n".join(lines) + "\n")
    return out
