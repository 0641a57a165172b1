"""Compare optimizers, schedulers and data loading with torch: numbers, states in both directions, orders, random streams.

python ci/oracle/training.py        prints the differences and how many checks there were
"""

from __future__ import annotations

import copy
import itertools
import random
import sys
import warnings
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import flambeau
import numpy as np
import torch

# After 20 steps in float32, relative to the largest parameter of the tensor: about ten roundings.
STEP_TOLERANCE = 1e-6

Options = dict[str, Any]


def grid(**choices: tuple[Any, ...]) -> list[Options]:
    """All combinations."""
    return [dict(zip(choices, values)) for values in itertools.product(*choices.values())]


OPTIMIZERS: dict[str, list[Options]] = {
    "SGD": [
        *grid(lr=(0.1,), momentum=(0, 0.9), dampening=(0, 0.3), weight_decay=(0, 0.1), maximize=(False, True)),
        *grid(lr=(0.1,), momentum=(0.9,), nesterov=(True,), weight_decay=(0, 0.1)),
    ],
    "Adam": grid(
        weight_decay=(0, 0.1), amsgrad=(False, True), maximize=(False, True), decoupled_weight_decay=(False, True)
    ),
    "AdamW": grid(weight_decay=(0, 0.1), amsgrad=(False, True), betas=((0.9, 0.999), (0.5, 0.7))),
    "RMSprop": grid(weight_decay=(0, 0.1), momentum=(0, 0.9), centered=(False, True), maximize=(False, True)),
    "Adagrad": grid(weight_decay=(0, 0.1), lr_decay=(0, 0.2), initial_accumulator_value=(0, 0.1)),
    "Adadelta": grid(weight_decay=(0, 0.1), rho=(0.9, 0.5)),
    "Adamax": grid(weight_decay=(0, 0.1), maximize=(False, True)),
    "NAdam": grid(weight_decay=(0, 0.1), momentum_decay=(4e-3, 0.1), decoupled_weight_decay=(False, True)),
    "RAdam": grid(weight_decay=(0, 0.1), betas=((0.9, 0.999), (0.5, 0.7)), decoupled_weight_decay=(False, True)),
    "Rprop": grid(etas=((0.5, 1.2), (0.3, 1.4)), maximize=(False, True)),
    "ASGD": grid(weight_decay=(0, 0.1), t0=(1e6, 5), lambd=(1e-4, 0.1)),
    "Adafactor": grid(weight_decay=(0, 0.1), d=(1.0, 2.0), beta2_decay=(-0.8, -0.5)),
}
MODES: list[Options] = [{}, {"foreach": True}, {"foreach": False}]

SCHEDULERS: list[tuple[str, Options]] = [
    ("StepLR", {"step_size": 3}),
    ("MultiStepLR", {"milestones": [3, 3, 8]}),
    ("ConstantLR", {"factor": 0.5}),
    ("LinearLR", {"start_factor": 1.0, "end_factor": 0.1, "total_iters": 9}),
    ("ExponentialLR", {"gamma": 0.9}),
    ("PolynomialLR", {"total_iters": 6, "power": 2.0}),
    ("CosineAnnealingLR", {"T_max": 4, "eta_min": 0.1}),
    ("CosineAnnealingWarmRestarts", {"T_0": 3, "T_mult": 2}),
    ("CyclicLR", {"base_lr": 0.1, "max_lr": 1.0, "step_size_up": 3, "mode": "triangular2"}),
    ("OneCycleLR", {"max_lr": 1.0, "total_steps": 60}),
    ("OneCycleLR", {"max_lr": 1.0, "total_steps": 60, "three_phase": True, "anneal_strategy": "linear"}),
    ("LambdaLR", {"lr_lambda": lambda e: 0.9**e}),
    ("MultiplicativeLR", {"lr_lambda": lambda e: 0.9}),
]


class Report:
    """Counts checks; prints those that differ."""

    def __init__(self) -> None:
        self.checks = 0
        self.differences = 0

    def note(self, what: str, why: str) -> None:
        """Count a check; `why` is empty if it held."""
        self.checks += 1
        if why:
            self.differences += 1
            print(f"{what}: {why}")


def moved(x: Any, to: ModuleType) -> Any:
    """Copy a nest of tensors to the other framework."""
    if isinstance(x, dict):
        return {k: moved(v, to) for k, v in x.items()}
    if isinstance(x, (list, tuple)):
        return type(x)(moved(v, to) for v in x)
    if isinstance(x, (torch.Tensor, flambeau.Tensor)):
        return to.from_numpy(np.array(x.detach().numpy()))
    return copy.copy(x)


# ---- optimizers


def gradients(params: list[Any], step: int) -> list[Any]:
    g = np.random.RandomState(100 + step)
    out = [g.standard_normal(tuple(p.shape)).astype(np.float32) for p in params]
    return [np.asarray(x + 0.2 * p.detach().numpy(), np.float32) for x, p in zip(out, params)]


def compare_optimizer(name: str, options: Options, mode: Options) -> str:
    """Take 20 steps in both frameworks; exchange the states after ten."""
    start = [
        np.random.RandomState(i).standard_normal(s).astype(np.float32) for i, s in enumerate([(4, 3), (5,), (2, 3, 4)])
    ]
    theirs = [torch.from_numpy(x.copy()).requires_grad_() for x in start]
    ours = [flambeau.from_numpy(x.copy()).requires_grad_() for x in start]
    a = getattr(torch.optim, name)(theirs, foreach=False, **options)
    b = getattr(flambeau.optim, name)(ours, **options, **mode)
    for step in range(20):
        if step == 10:
            why = exchange_states(a, b)
            if why:
                return why
        for p, q, g in zip(theirs, ours, gradients(theirs, step)):
            skipped = step % 3 == 1 and p.dim() == 1
            p.grad = None if skipped else torch.from_numpy(g.copy())
            q.grad = None if skipped else flambeau.from_numpy(g.copy())
        a.step()
        b.step()
    pairs = [(p.detach().numpy(), q.detach().numpy()) for p, q in zip(theirs, ours)]
    worst = max(float(np.abs(p - q).max() / np.abs(p).max()) for p, q in pairs)
    return "" if worst < STEP_TOLERANCE else f"parameters differ by {worst:.1e}"


def exchange_states(a: Any, b: Any) -> str:
    sa, sb = a.state_dict(), b.state_dict()
    if list(sa["param_groups"][0]) != list(sb["param_groups"][0]):
        return f"option names {list(sb['param_groups'][0])}"
    for i, state in sa["state"].items():
        if list(state) != list(sb["state"][i]):
            return f"state names {list(sb['state'][i])}, torch has {list(state)}"
        for key, value in state.items():
            own = sb["state"][i][key]
            if tuple(value.shape) != tuple(own.shape) or str(value.dtype)[6:] != str(own.dtype).rpartition(".")[2]:
                return f"state {key} is {own.dtype} {tuple(own.shape)}"
    a.load_state_dict(moved(sb, torch))
    b.load_state_dict(moved(sa, flambeau))
    for group in a.param_groups:
        group["foreach"] = False
    return ""


# ---- schedulers


def rates(framework: ModuleType, make: Callable[[ModuleType, Any], Any]) -> list[Any]:
    """What 30 epochs do: rates, momenta, and the scheduler's state."""
    groups = [{"params": [framework.zeros(1, requires_grad=True)], "lr": lr} for lr in (0.5, 0.25)]
    optimizer = framework.optim.SGD(groups, lr=0.1, momentum=0.9)
    scheduler = make(framework.optim.lr_scheduler, optimizer)
    out = []
    for _ in range(30):
        out.append([(g["lr"], g["momentum"]) for g in optimizer.param_groups])
        out.append(scheduler.state_dict())
        optimizer.step()
        scheduler.step()
    return out


def scheduler_cases() -> Iterator[tuple[str, Callable[[ModuleType, Any], Any]]]:
    for name, options in SCHEDULERS:
        yield name, lambda lr, o, n=name, k=options: getattr(lr, n)(o, **k)
    g = random.Random(0)
    for i in range(60):
        picks = [g.choice(SCHEDULERS) for _ in range(g.randint(1, 4))]
        milestones = sorted(g.sample(range(1, 20), len(picks) - 1))

        def make(
            lr: ModuleType, o: Any, picks: Any = picks, milestones: Any = milestones, chain: bool = i % 3 == 0
        ) -> Any:
            parts = [getattr(lr, n)(o, **k) for n, k in picks]
            return lr.ChainedScheduler(parts) if chain else lr.SequentialLR(o, parts, milestones)

        yield f"{'chained' if i % 3 == 0 else 'sequential'} {[n for n, _ in picks]} {milestones}", make


def close(a: Any, b: Any) -> bool:
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(close(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)):
        return isinstance(b, (list, tuple)) and len(a) == len(b) and all(map(close, a, b))
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return a == b or abs(a - b) <= 1e-9 * abs(a) + 1e-12
    return bool(a == b)


# ---- data


def loader_cases() -> Iterator[tuple[str, Options, Options]]:
    workers: list[Options] = [{}, {"num_workers": 2}, {"num_workers": 2, "persistent_workers": True}]
    batches: list[Options] = [
        {"batch_size": 4},
        {"batch_size": 4, "shuffle": True},
        {"batch_size": 5, "shuffle": True, "drop_last": True},
        {"batch_size": None, "shuffle": True},
    ]
    for w, b in itertools.product(workers, batches):
        yield f"DataLoader {w} {b}", w, b


class Draws:
    """A sample is its key and a number of each generator."""

    def __init__(self, framework: ModuleType) -> None:
        self.framework = framework

    def __len__(self) -> int:
        return 11

    def __getitem__(self, i: int) -> Any:
        return i, random.random(), np.random.rand(), self.framework.rand(2)


def batches(framework: ModuleType, options: Options) -> list[Any]:
    import importlib

    data = importlib.import_module(f"{framework.__name__}.utils.data")
    random.seed(3)
    np.random.seed(3)
    framework.manual_seed(3)
    loader = data.DataLoader(Draws(framework), **options)
    passes = [[[getattr(c, "tolist", lambda c=c: c)() for c in batch] for batch in loader] for _ in range(2)]
    generator = framework.Generator().manual_seed(9)
    loader = data.DataLoader(list(range(23)), 4, shuffle=True, generator=generator)
    orders = [[b.tolist() for b in loader] for _ in range(2)]
    samplers = [
        list(data.RandomSampler(range(7), num_samples=20)),
        list(data.RandomSampler(range(7), replacement=True, num_samples=50)),
        list(data.SubsetRandomSampler([3, 5, 7])),
        list(data.WeightedRandomSampler([1.0, 2.0, 3.0], 10)),
        [list(s.indices) for s in data.random_split(range(10), [0.3, 0.3, 0.4])],
        list(data.DistributedSampler(range(10), 3, 1, seed=4)),
    ]
    return [passes, orders, samplers, framework.rand(1).item()]


def main() -> int:
    warnings.simplefilter("ignore")
    report = Report()
    for name, all_options in OPTIMIZERS.items():
        for options, mode in itertools.product(all_options, MODES):
            report.note(f"{name} {options} {mode}", compare_optimizer(name, options, mode))
    for label, make in scheduler_cases():
        same = close(rates(torch, make), rates(flambeau, make))
        report.note(label, "" if same else "rates or states differ")
    for label, workers, options in loader_cases():
        same = close(*(batches(f, {**workers, **options}) for f in (torch, flambeau)))
        report.note(label, "" if same else "batches or numbers differ")
    print(f"{report.checks} checks of training, {report.differences} differ")
    return 1 if report.differences else 0


if __name__ == "__main__":
    sys.exit(main())
