"""What `import flambeau` does and does not do, measured in a fresh interpreter."""

from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sys
from pathlib import Path


def test_import_loads_nothing_heavy_and_changes_nothing(repository: Path) -> None:
    done = subprocess.run([sys.executable, str(repository / "tools/check_import.py")], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_flambeau_comes_from_the_wheels(fresh, repository: Path) -> None:
    done = fresh("import flambeau; print(flambeau.__file__)")
    assert done.returncode == 0, done.stderr
    assert "site-packages" in done.stdout
    assert not done.stdout.startswith(str(repository / "packages"))


def test_every_layer_can_be_the_first_import(fresh) -> None:
    for name in ("flambeau.nn", "flambeau.optim", "flambeau.utils.data", "flambeau.autograd", "flambeau.serialization"):
        done = fresh(f"import {name} as first; import flambeau; print(first.__name__)")
        assert done.returncode == 0, f"{name}: {done.stderr}"


def test_every_public_name_resolves(fresh) -> None:
    code = """
import flambeau
for name in dir(flambeau):
    try:
        getattr(flambeau, name)
    except (AttributeError, ImportError) as err:
        print(f"flambeau.{name}: {type(err).__name__}: {err}")
"""
    done = fresh(code)
    assert done.returncode == 0, done.stderr
    assert not done.stdout, done.stdout


def test_one_copy_of_the_core_library_is_loaded(fresh) -> None:
    code = (
        "import flambeau, flambeau.nn; flambeau.ones(2).sum();"
        "print(len({l.split()[-1] for l in open('/proc/self/maps') if 'libflambeau_core' in l}))"
    )
    done = fresh(code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "1"


def test_installed_versions_are_those_of_the_checkout(repository: Path) -> None:
    code = "import json; from repo.packages import Repository; print(json.dumps({p.name: p.version for p in Repository().packages}))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=repository / "tools", check=True
    )
    for name, version in json.loads(done.stdout).items():
        if name != "flambeau-opgen":
            assert importlib.metadata.version(name) == version
