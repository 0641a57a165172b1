"""The quickstart script's own parts, without scikit-learn and Matplotlib."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import flambeau as fl
import pytest


@pytest.fixture(scope="module")
def digits(repository: Path):
    spec = importlib.util.spec_from_file_location("digits", repository / "docs/quickstart/digits.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def synthetic(rows: int) -> tuple[fl.Tensor, fl.Tensor]:
    """Ten patterns with noise: learnable in a few epochs."""
    generator = fl.Generator().manual_seed(1)
    y = fl.arange(rows) % 10
    patterns = fl.rand(10, 1, 8, 8, generator=generator)
    return patterns[y] + 0.1 * fl.rand(rows, 1, 8, 8, generator=generator), y


def test_the_network_learns_saves_and_reloads(digits, tmp_path: Path, capsys) -> None:
    x, y = synthetic(320)
    scans = {"train_x": x[:256], "train_y": y[:256], "test_x": x[256:], "test_y": y[256:]}
    args = digits.parse_args(["--epochs", "3", "--out", str(tmp_path)])
    model, history = digits.train(fl, scans, args)
    assert len(history) == 3
    logits = digits.predict(fl, model, scans["test_x"])
    assert digits.accuracy(logits, scans["test_y"]) > 90
    pt, st = digits.save(fl, model, tmp_path)
    digits.check_reload(fl, scans, logits, pt, st)
    assert "bit for bit" in capsys.readouterr().out


def test_wrong_options_are_refused(digits, capsys) -> None:
    with pytest.raises(SystemExit):
        digits.parse_args(["--epochs", "0"])
    assert "at least 1, got 0" in capsys.readouterr().err
