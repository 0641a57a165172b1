"""How names of `flambeau` are found, and what is said of those that are not there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import flambeau
import pytest
from flambeau import _lazy


@pytest.mark.parametrize("name", ["nn", "save", "linalg", "autograd"])
def test_missing_layer_says_what_to_install(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_lazy, "_is_installed", lambda probe: False)
    distribution = next(d for d, names in _lazy._DISTRIBUTIONS.items() if name in names)
    assert _lazy.missing(name) == (
        f"flambeau.{name} is in {distribution}, which is not installed: pip install {distribution}"
    )


@pytest.mark.parametrize("name", ["sparse", "func", "distributions", "distributed", "nowhere"])
def test_nobody_is_told_to_install_what_does_not_exist(name: str) -> None:
    assert _lazy.missing(name) is None
    with pytest.raises(AttributeError, match=f"module 'flambeau' has no attribute '{name}'"):
        getattr(flambeau, name)
    with pytest.raises(ModuleNotFoundError, match=f"No module named 'flambeau.{name}'"):
        __import__(f"flambeau.{name}")


def test_known_names_of_an_installed_layer_are_there() -> None:
    for names in _lazy._DISTRIBUTIONS.values():
        for name in names:
            if _lazy._is_installed(names[0]):
                getattr(flambeau, name)


def test_operators_are_missed_with_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_lazy, "_is_installed", lambda probe: False)
    with pytest.raises(AttributeError, match="operators are in flambeau-aten-kernels, which is not installed"):
        flambeau.no_such_operator  # noqa: B018


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a compiler")
def test_layer_built_for_another_core(tmp_path: Path) -> None:
    """The loader's complaint becomes one clear line."""
    layer = tmp_path / "flambeau/layer"
    layer.mkdir(parents=True)
    (tmp_path / "flambeau/_index").mkdir()
    (tmp_path / "flambeau/_index/layer.py").write_text('LOAD = "flambeau.layer"\nNAMES = {}\n')
    (layer / "__init__.py").write_text("from flambeau.layer import _C\n")
    (tmp_path / "core.cpp").write_text("int core() { return 0; }\n")
    (tmp_path / "layer.cpp").write_text("int core(); int layer() { return core(); }\n")
    core = tmp_path / "libflambeau_core.so.99"
    build = ["g++", "-shared", "-fPIC"]
    subprocess.run([*build, "core.cpp", f"-Wl,-soname,{core.name}", "-o", core], cwd=tmp_path, check=True)
    subprocess.run([*build, "layer.cpp", core, "-o", layer / "_C.so"], cwd=tmp_path, check=True)
    core.unlink()
    path = os.pathsep.join([str(tmp_path), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", "import flambeau"],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert "ImportError: [flambeau.layer] built against core ABI 99, ABI 1 is installed" in done.stderr
