"""Train a small convolutional network on 1,797 real scans of handwritten digits.

    python digits.py            train, plot, save, reload, compare
    python digits.py --help     what can be changed

The scans (8x8 grey levels) come with scikit-learn. A fifth of them is held out and never
trained on. The script writes digits.pt, digits.safetensors and digits.png.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

HELD_OUT = 5  # one scan in five
GOAL_PERCENT = 98.0


def parse_args(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=10, help="passes over the training scans (default: 10)")
    parser.add_argument("--batch-size", type=int, default=32, help="scans per step (default: 32)")
    parser.add_argument("--lr", type=float, default=4e-3, help="highest learning rate of the cycle (default: 0.004)")
    parser.add_argument("--seed", type=int, default=0, help="fixes split, initial weights and order (default: 0)")
    parser.add_argument("--out", type=Path, default=Path("."), help="folder for the results (default: this one)")
    parser.add_argument("--framework", default="flambeau", help=argparse.SUPPRESS)  # the benchmark passes torch
    args = parser.parse_args(argv)
    for name in ("epochs", "batch_size"):
        if getattr(args, name) < 1:
            parser.error(f"--{name.replace('_', '-')} must be at least 1, got {getattr(args, name)}")
    return args


def load_digits(fl: ModuleType, seed: int) -> dict[str, Any]:
    """Images as float32 (N, 1, 8, 8) in [0, 1] and labels as int64 (N,), split at random by `seed`."""
    from sklearn.datasets import load_digits as load

    scans = load()
    images = fl.from_numpy(scans.images.astype("float32")).unsqueeze(1) / 16
    labels = fl.from_numpy(scans.target.astype("int64"))
    order = fl.randperm(len(images), generator=fl.Generator().manual_seed(seed))
    num_held_out = len(images) // HELD_OUT
    test, train = order[:num_held_out], order[num_held_out:]
    return {
        "train_x": images[train], "train_y": labels[train],
        "test_x": images[test], "test_y": labels[test],
    }  # fmt: skip


def build_model(fl: ModuleType) -> Any:
    """Three convolutions and one linear layer: 15,498 parameters."""
    nn = fl.nn
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
        nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
        nn.MaxPool2d(2),                                                 # 8x8 -> 4x4
        nn.Conv2d(32, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
        nn.MaxPool2d(2),                                                 # 4x4 -> 2x2
        nn.Flatten(), nn.Dropout(0.25), nn.Linear(32 * 2 * 2, 10),
    )  # fmt: skip


def train_epoch(fl: ModuleType, model: Any, loader: Any, optimizer: Any, scheduler: Any, label: str) -> float:
    """One pass over `loader`; the mean loss per scan."""
    loss_fn = fl.nn.CrossEntropyLoss()
    model.train()
    total, seen = 0.0, 0
    for step, (x, y) in enumerate(loader, 1):
        loss = loss_fn(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        total += loss.item() * len(x)
        seen += len(x)
        progress(label, step, len(loader))
    return total / seen


def predict(fl: ModuleType, model: Any, x: Any) -> Any:
    """Logits (N, 10), without recording gradients."""
    model.eval()
    with fl.no_grad():
        return model(x)


def accuracy(logits: Any, y: Any) -> float:
    """Per cent of rows whose largest logit is the label."""
    return 100 * (logits.argmax(dim=1) == y).float().mean().item()


def train(fl: ModuleType, digits: dict[str, Any], args: argparse.Namespace) -> tuple[Any, list[dict[str, float]]]:
    """Train with Adam; print a table with a line per epoch. Returns the model and that table."""
    data = importlib.import_module(f"{fl.__name__}.utils.data")
    fl.manual_seed(args.seed)
    model = build_model(fl)
    loader = data.DataLoader(
        data.TensorDataset(digits["train_x"], digits["train_y"]),
        batch_size=args.batch_size,
        shuffle=True,
        generator=fl.Generator().manual_seed(args.seed),
    )
    optimizer = fl.optim.Adam(model.parameters(), lr=args.lr / 2)
    steps = args.epochs * len(loader)
    scheduler = fl.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=args.lr, total_steps=steps)

    print(f"{'epoch':>5}  {'train loss':>10}  {'held-out loss':>13}  {'held-out accuracy':>17}  {'seconds':>7}")
    history = []
    for epoch in range(1, args.epochs + 1):
        start = time.perf_counter()
        loss = train_epoch(fl, model, loader, optimizer, scheduler, f"epoch {epoch}/{args.epochs}")
        seconds = time.perf_counter() - start
        logits = predict(fl, model, digits["test_x"])
        row = {
            "epoch": epoch,
            "loss": loss,
            "test_loss": fl.nn.functional.cross_entropy(logits, digits["test_y"]).item(),
            "test_accuracy": accuracy(logits, digits["test_y"]),
            "seconds": seconds,
        }
        history.append(row)
        print(
            f"{epoch:>5}  {loss:>10.4f}  {row['test_loss']:>13.4f}  {row['test_accuracy']:>15.2f} %  {seconds:>7.3f}",
            flush=True,
        )
    return model, history


def progress(label: str, step: int, total: int, width: int = 30) -> None:
    """A bar on a terminal; nothing in a log file."""
    if not sys.stderr.isatty():
        return
    done = width * step // total
    end = "\r" + " " * (len(label) + width + 20) + "\r" if step == total else ""
    sys.stderr.write(f"\r{label} [{'#' * done}{'.' * (width - done)}] {step}/{total}{end}")
    sys.stderr.flush()


def save(fl: ModuleType, model: Any, out: Path) -> tuple[Path, Path]:
    """Write the weights twice: digits.pt (torch's zip format) and digits.safetensors."""
    pt, st = out / "digits.pt", out / "digits.safetensors"
    fl.save(model.state_dict(), pt)
    safetensors_of(fl).save_file(model.state_dict(), st)
    return pt, st


def check_reload(fl: ModuleType, digits: dict[str, Any], logits: Any, pt: Path, st: Path) -> None:
    """Load each file into a new model; its predictions must equal `logits` bit for bit."""
    for path, state in ((pt, fl.load(pt)), (st, safetensors_of(fl).load_file(st))):
        fresh = build_model(fl)
        fresh.load_state_dict(state)
        again = predict(fl, fresh, digits["test_x"])
        if not fl.equal(again, logits):
            worst = (again - logits).abs().max().item()
            raise SystemExit(f"{path.name}: predictions after reloading differ by up to {worst}; this is a bug")
        print(f"  {path.name:20} reloaded: all {len(logits)} predictions are equal bit for bit")


def safetensors_of(fl: ModuleType) -> ModuleType:
    """The module that reads and writes safetensors files for this framework."""
    if fl.__name__ == "torch":
        return importlib.import_module("safetensors.torch")
    return importlib.import_module(f"{fl.__name__}.serialization.safetensors")


def plot(digits: dict[str, Any], logits: Any, history: list[dict[str, float]], path: Path) -> None:
    """Loss and accuracy curves above a grid of held-out scans; the errors come first, in red."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    rows, columns = 5, 12
    guess, truth = logits.argmax(dim=1).numpy(), digits["test_y"].numpy()
    images = digits["test_x"].squeeze(1).numpy()
    wrong = [i for i in range(len(truth)) if guess[i] != truth[i]]
    right = [i for i in range(len(truth)) if guess[i] == truth[i]]
    shown = (wrong + right)[: rows * columns]

    figure = plt.figure(figsize=(12, 9), layout="constrained")
    top, bottom = figure.subfigures(2, 1, height_ratios=[1, 1.35])
    left, right_axes = top.subplots(1, 2)
    epochs = [row["epoch"] for row in history]
    left.plot(epochs, [row["loss"] for row in history], label="training")
    left.plot(epochs, [row["test_loss"] for row in history], label="held out")
    left.set(title="Cross entropy", xlabel="epoch", yscale="log")
    left.legend()
    right_axes.plot(epochs, [row["test_accuracy"] for row in history], color="tab:green")
    right_axes.axhline(GOAL_PERCENT, color="grey", linestyle=":", label=f"goal: {GOAL_PERCENT:.0f} %")
    right_axes.set(title="Held-out accuracy, %", xlabel="epoch")
    right_axes.legend(loc="lower right")

    bottom.suptitle(
        f"Held-out scans with predictions: {len(wrong)} of {len(truth)} wrong (red, true digit in brackets)"
    )
    for axes, i in zip(bottom.subplots(rows, columns).flat, shown, strict=False):
        bad = guess[i] != truth[i]
        axes.imshow(images[i], cmap="gray_r")
        axes.set_title(
            f"{guess[i]} ({truth[i]})" if bad else f"{guess[i]}", color="red" if bad else "black", fontsize=9
        )
        axes.set(xticks=[], yticks=[])
        for side in axes.spines.values():
            side.set(color="red" if bad else "lightgrey", linewidth=2 if bad else 0.5)
    figure.savefig(path, dpi=110)
    plt.close(figure)


class Stages:
    """Remembers how long each stage took."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._start = time.perf_counter()

    def done(self, name: str) -> None:
        now = time.perf_counter()
        self.seconds[name] = now - self._start
        self._start = now


def main(argv: list[str] | None = None) -> None:
    args = parse_args(argv)
    stages = Stages()
    fl = importlib.import_module(args.framework)
    stages.done(f"import {args.framework}")

    digits = load_digits(fl, args.seed)
    stages.done("load the scans")
    print(f"{len(digits['train_x']):,} scans to train on, {len(digits['test_x'])} held out; seed {args.seed}\n")

    model, history = train(fl, digits, args)
    stages.done("train")
    logits = predict(fl, model, digits["test_x"])
    percent = accuracy(logits, digits["test_y"])
    print(f"\nheld-out accuracy {percent:.2f} %\n")

    args.out.mkdir(parents=True, exist_ok=True)
    pt, st = save(fl, model, args.out)
    check_reload(fl, digits, logits, pt, st)
    stages.done("save and reload")
    picture = args.out / "digits.png"
    plot(digits, logits, history, picture)
    stages.done("draw")

    report(stages, [picture, pt, st])
    if percent < GOAL_PERCENT:
        raise SystemExit(f"held-out accuracy {percent:.2f} % is below {GOAL_PERCENT:.0f} %: train longer (--epochs)")


def report(stages: Stages, files: list[Path]) -> None:
    print("\nwhere things are")
    for path in files:
        print(f"  {path.resolve()}  ({path.stat().st_size / 1024:,.0f} KB)")
    print("how long it took")
    for name, seconds in stages.seconds.items():
        print(f"  {name:20} {seconds:8.2f} s")
    print("what to try next")
    print("  open digits.png; or change the network in build_model() and run this file again")
    print("  --epochs 30, --seed 1, --batch-size 128: each changes one thing")
    print("  digits.pt opens in PyTorch too: torch.load('digits.pt')")


if __name__ == "__main__":
    main()
