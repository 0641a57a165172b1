"""All layers together: train, save, load, compare."""

from __future__ import annotations

from pathlib import Path

import flambeau as fl
import pytest


def train(steps: int = 60) -> tuple[fl.nn.Module, list[float]]:
    fl.manual_seed(0)
    x = fl.linspace(-3, 3, 128).unsqueeze(1)
    y = fl.sin(x)
    model = fl.nn.Sequential(fl.nn.Linear(1, 32), fl.nn.Tanh(), fl.nn.Linear(32, 1))
    optimizer = fl.optim.Adam(model.parameters(), lr=1e-2)
    losses = []
    for _ in range(steps):
        loss = fl.nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return model, losses


def test_training_reduces_the_loss_and_repeats_exactly() -> None:
    first, again = train()[1], train()[1]
    assert first[-1] < first[0] / 3
    assert first == again


def test_a_saved_model_predicts_the_same_bits(tmp_path: Path) -> None:
    model, _ = train(5)
    x = fl.randn(16, 1)
    expected = model(x)
    fl.save(model.state_dict(), tmp_path / "model.pt")
    fresh = fl.nn.Sequential(fl.nn.Linear(1, 32), fl.nn.Tanh(), fl.nn.Linear(32, 1))
    fresh.load_state_dict(fl.load(tmp_path / "model.pt"))
    assert fl.equal(fresh(x), expected)


def test_safetensors_keeps_the_same_bits(tmp_path: Path) -> None:
    from flambeau.serialization import safetensors

    model, _ = train(2)
    safetensors.save_file(model.state_dict(), tmp_path / "model.safetensors")
    loaded = safetensors.load_file(tmp_path / "model.safetensors")
    for name, tensor in model.state_dict().items():
        assert fl.equal(loaded[name], tensor)


def test_requires_grad_is_saved(tmp_path: Path) -> None:
    fl.save([fl.ones(1, requires_grad=True), fl.ones(1)], tmp_path / "tensors.pt")
    again = fl.load(tmp_path / "tensors.pt")
    assert [t.requires_grad for t in again] == [True, False]
    again[0].mul(2).backward()
    assert again[0].grad.tolist() == [2]


def test_an_error_of_one_layer_is_pythons_own_kind() -> None:
    with pytest.raises(RuntimeError, match="mat1|shape|size"):
        fl.ones(2, 3) @ fl.ones(4, 5)
    with pytest.raises(IndexError):
        fl.ones(2)[5]
    with pytest.raises(TypeError):
        fl.add("a", "b")


def test_parameters_made_in_inference_mode_meet_what_needs_no_gradient() -> None:
    with fl.inference_mode():
        layer = fl.nn.Linear(2, 2)
    assert layer(fl.ones(1, 2)).requires_grad


def test_a_parameter_shares_the_version_counter_of_its_tensor() -> None:
    weight = fl.ones(4)
    weight.add_(1)
    assert fl.nn.Parameter(weight)._version == 1
