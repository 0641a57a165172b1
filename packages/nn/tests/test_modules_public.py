"""Every public callable has a signature and a docstring; importing stays light."""

from __future__ import annotations

import inspect
import subprocess
import sys

import flambeau as fl
import pytest
from flambeau import nn

CLASSES = [name for name in nn.__all__ if isinstance(getattr(nn, name), type)]


@pytest.mark.parametrize("name", CLASSES)
def test_classes_are_documented(name):
    cls = getattr(nn, name)
    assert inspect.signature(cls.__init__)
    assert cls.__doc__
    if issubclass(cls, nn.Module):
        assert cls.__doc__ is not nn.Module.__doc__ or cls is nn.Module


@pytest.mark.parametrize("module", [nn.functional, nn.init], ids=["functional", "init"])
def test_functions_are_documented(module):
    for name in module.__all__:
        function = getattr(module, name)
        if callable(function):
            assert inspect.signature(function), name
            assert function.__doc__, name


def test_methods_of_module_are_documented():
    for name, method in inspect.getmembers(nn.Module, inspect.isfunction):
        if not name.startswith("_"):
            assert method.__doc__, name


def test_operators_are_found_by_name():
    assert nn.functional.linear is fl._C._nn.linear
    assert "conv2d" in dir(nn.functional)
    with pytest.raises(AttributeError, match="no attribute 'nope'"):
        nn.functional.nope
    with pytest.raises(AttributeError, match="no attribute 'nope'"):
        nn.nope


def test_module_paths_that_programs_import():
    from flambeau.nn.modules.batchnorm import _BatchNorm, _NormBase
    from flambeau.nn.modules.conv import _ConvNd, _ConvTransposeNd
    from flambeau.nn.modules.instancenorm import _InstanceNorm
    from flambeau.nn.modules.loss import _Loss, _WeightedLoss
    from flambeau.nn.modules.module import Module, _addindent
    from flambeau.nn.modules.utils import _ntuple, _pair, _single, _triple
    from flambeau.nn.parallel import DataParallel
    from flambeau.nn.parameter import Parameter

    assert Module is nn.Module
    assert issubclass(nn.Conv2d, _ConvNd)
    assert issubclass(nn.ConvTranspose1d, _ConvTransposeNd)
    assert issubclass(nn.SyncBatchNorm, _BatchNorm)
    assert issubclass(_InstanceNorm, _NormBase)
    assert issubclass(_WeightedLoss, _Loss)
    assert Parameter is nn.Parameter
    assert _pair(3) == _ntuple(2)(3) == (3, 3)
    assert _single([1]) == (1,)
    assert _triple((1, 2, 3)) == (1, 2, 3)
    assert _addindent("a\nb", 2) == "a\n  b"
    assert nn.DataParallel is DataParallel


def test_importing_nn_loads_no_heavy_modules():
    probe = (
        "import sys, flambeau; before = set(sys.modules); import flambeau.nn;print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "flambeau.nn" in loaded
    heavy = {"numpy", "typing", "dataclasses", "inspect", "enum", "json", "pickle", "multiprocessing"}
    assert not loaded & heavy


def test_lazy_tables_say_what_the_files_hold():
    import importlib

    from flambeau.nn import functional, modules

    for file, names in modules._FILES.items():
        loaded = importlib.import_module(f"flambeau.nn.modules.{file}")
        assert set(names) <= set(loaded.__all__), file
        assert all(modules._WHERE[name] for name in loaded.__all__), file
    for file, names in functional._FILES.items():
        loaded = importlib.import_module(f"flambeau.nn.functional.{file}")
        assert all(hasattr(loaded, name) for name in names), file
        public = {n for n, v in vars(loaded).items() if inspect.isfunction(v) and v.__module__ == loaded.__name__}
        assert {n for n in public if not n.startswith("_")} - set(names) <= {"reduced"}, file
