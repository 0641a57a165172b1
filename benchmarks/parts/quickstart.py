"""One epoch of docs/quickstart/digits.py, the same script on both frameworks."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

from harness import Case

TITLE = "quickstart"
SCRIPT = Path(__file__).resolve().parents[2] / "docs/quickstart/digits.py"


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("digits", SCRIPT)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot load {SCRIPT}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def setup(fl: ModuleType) -> dict[str, Any]:
    digits = script()
    importlib.import_module(f"{fl.__name__}.utils.data")
    scans = digits.load_digits(fl, 0)
    fl.manual_seed(0)
    model = digits.build_model(fl)
    dataset = fl.utils.data.TensorDataset(scans["train_x"], scans["train_y"])
    generator = fl.Generator().manual_seed(0)
    loader = fl.utils.data.DataLoader(dataset, batch_size=32, shuffle=True, generator=generator)
    optimizer = fl.optim.Adam(model.parameters(), lr=1e-3)
    scheduler = fl.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1e-3, total_steps=100_000)
    return {
        "epoch": lambda: digits.train_epoch(fl, model, loader, optimizer, scheduler, ""),
        "predict": lambda: digits.predict(fl, model, scans["test_x"]),
    }


def cases() -> list[Case]:
    return [
        Case("one epoch of training", setup, "epoch()", bar=2, rounds=5),
        Case("predict the held-out fifth", setup, "predict()", rounds=5),
    ]
