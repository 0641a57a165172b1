"""Each set of layers works on its own, and taking one away leaves the rest working."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

import pytest

LAYERS = ["flambeau-core-c10", "flambeau-aten-kernels", "flambeau-autograd", "flambeau-nn", "flambeau-serialization"]
# a line that works exactly when the layer is there, and the name that asks for it
USES = {
    "flambeau-core-c10": "assert flambeau.float32.itemsize == 4",
    "flambeau-aten-kernels": "assert flambeau.ones(3).sum().item() == 3",
    "flambeau-autograd": "x = flambeau.ones(2, requires_grad=True); (x * x).sum().backward(); assert x.grad.tolist() == [2, 2]",
    "flambeau-nn": "assert flambeau.nn.Linear(2, 3)(flambeau.zeros(1, 2)).shape == (1, 3)",
    "flambeau-serialization": "import io; assert callable(flambeau.save) and callable(flambeau.load)",
}
ASKS = {
    "flambeau-nn": "flambeau.nn",
    "flambeau-serialization": "flambeau.save",
    "flambeau-autograd": "flambeau.autograd.grad",
}


class Site:
    """A virtual environment without pip; the test's own pip installs into it."""

    def __init__(self, folder: Path, wheels: dict[str, Path]) -> None:
        venv.create(folder, with_pip=False, symlinks=True)
        self.python = folder / "bin/python"
        self.folder = folder
        self.wheels = wheels

    def pip(self, *args: str) -> None:
        command = [sys.executable, "-m", "pip", "--python", str(self.python), *args]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr

    def install(self, *names: str) -> None:
        self.pip("install", "-q", "--no-index", "--no-deps", *(str(self.wheels[n]) for n in names))

    def uninstall(self, *names: str) -> None:
        self.pip("uninstall", "-q", "-y", *names)

    def run(self, code: str) -> subprocess.CompletedProcess[str]:
        command = [str(self.python), "-I", "-c", code]
        return subprocess.run(command, capture_output=True, text=True, cwd=self.folder, timeout=120)

    def expect(self, *names: str) -> None:
        for name in names:
            done = self.run(f"import flambeau; {USES[name]}")
            assert done.returncode == 0, f"{name}: {done.stderr}"

    @property
    def packages(self) -> Path:
        return next(self.folder.glob("lib/python*/site-packages"))


@pytest.fixture
def site(tmp_path: Path, wheels: dict[str, Path]) -> Site:
    return Site(tmp_path / "site", wheels)


def test_layers_work_from_the_bottom_up(site: Site) -> None:
    for count, name in enumerate(LAYERS[:4], 1):
        site.install(name)
        site.expect(*LAYERS[:count])


def test_a_missing_layer_says_what_to_install(site: Site) -> None:
    site.install("flambeau-core-c10")
    for name, asked in ASKS.items():
        done = site.run(f"import flambeau\n{asked}")
        assert done.returncode != 0
        assert f"pip install {name}" in done.stderr, done.stderr


def test_uninstalling_one_leaves_the_rest_working(site: Site) -> None:
    site.install(*LAYERS)
    for gone in ("flambeau-serialization", "flambeau-nn", "flambeau-autograd"):
        site.uninstall(gone)
        site.expect(*(n for n in LAYERS[: LAYERS.index(gone)]))
        done = site.run(f"import flambeau\n{ASKS[gone]}")
        assert f"pip install {gone}" in done.stderr, done.stderr


def test_serialization_rests_on_core_alone(site: Site) -> None:
    site.install("flambeau-core-c10", "flambeau-serialization")
    site.expect("flambeau-serialization")


def test_a_pure_package_may_come_from_the_checkout(site: Site, repository: Path) -> None:
    site.install(*(n for n in LAYERS if n != "flambeau-nn"))
    (site.packages / "nn-from-the-checkout.pth").write_text(f"{repository / 'packages/nn/src'}\n")
    done = site.run("import flambeau.nn; print(flambeau.nn.__file__)")
    assert done.returncode == 0, done.stderr
    assert str(repository) in done.stdout
    site.expect(*LAYERS[:4])


def test_wheels_in_two_site_folders_find_each_other(site: Site, wheels: dict[str, Path], tmp_path: Path) -> None:
    """A user site beside an environment: the library is found by name since the core is loaded first."""
    site.install("flambeau-core-c10")
    other = tmp_path / "other"
    site.pip("install", "-q", "--no-index", "--no-deps", "--target", str(other), str(wheels["flambeau-aten-kernels"]))
    (site.packages / "other.pth").write_text(f"{other}\n")
    site.expect("flambeau-aten-kernels")
