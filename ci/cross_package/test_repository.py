"""The checks that `nox -s lint` runs on the checkout; here so that no test run passes without them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("check", ["layers", "versions", "links"])
def test_checkout(check: str, repository: Path) -> None:
    done = subprocess.run([sys.executable, f"tools/check_{check}.py"], capture_output=True, text=True, cwd=repository)
    assert done.returncode == 0, done.stdout + done.stderr


def write_package(root: Path, name: str, needs: list[str], code: str) -> None:
    folder = root / "packages" / name
    source = folder / "src/flambeau" / name.split("-")[0]
    source.mkdir(parents=True)
    (source / "__init__.py").write_text(code)
    (folder / "pyproject.toml").write_text(
        f'[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
        f'[project]\nname = "flambeau-{name}"\nversion = "0.1.0"\ndependencies = {needs}\n'
    )


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("import flambeau.nn", True),
        ("from flambeau import nn", True),
        ("from ..nn import Linear", True),
        ("def f():\n    import flambeau.nn", True),
        ("try:\n    import flambeau.nn\nexcept ImportError:\n    pass", False),
        ("import flambeau", False),
    ],
)
def test_an_import_that_goes_up_is_found(tmp_path: Path, repository: Path, code: str, found: bool) -> None:
    sys.path.insert(0, str(repository / "tools"))
    import check_layers
    from repo.packages import Repository

    write_package(tmp_path, "core-c10", [], "")
    write_package(tmp_path, "lower", ["flambeau-core-c10==0.1.*"], code)
    write_package(tmp_path, "nn", ["flambeau-lower==0.1.*"], "import flambeau.lower")
    small = Repository(tmp_path)
    table = check_layers.owners(small)
    bad = [line for p in small.packages for line in check_layers.check_package(small, p, table)]
    assert [("lower" in line and "flambeau-nn" in line) for line in bad] == ([True] if found else [])


def test_a_wheel_is_stale_exactly_when_its_inputs_changed(tmp_path: Path, repository: Path) -> None:
    sys.path.insert(0, str(repository / "tools"))
    from repo.packages import Repository
    from repo.wheels import Dist

    (tmp_path / "ci").mkdir()
    (tmp_path / "ci/constraints.txt").write_text("")
    (tmp_path / "ci/wheel_budgets.toml").write_text("[bytes]\n")
    write_package(tmp_path, "core-c10", [], "a = 1")

    def hash_now() -> str:
        repo = Repository(tmp_path)
        return Dist(repo).hash_of(repo.by_name["flambeau-core-c10"])

    first = hash_now()
    (tmp_path / "packages/core-c10/tests").mkdir()
    (tmp_path / "packages/core-c10/tests/test_x.py").write_text("pass")
    assert hash_now() == first, "tests are no input"
    (tmp_path / "packages/core-c10/src/flambeau/core/__init__.py").write_text("a = 2")
    assert hash_now() != first
