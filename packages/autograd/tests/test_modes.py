"""Modes of recording: inference mode, hooks on saved tensors, anomaly detection."""

from __future__ import annotations

import flambeau as fl
import pytest
from flambeau.autograd import detect_anomaly, set_detect_anomaly
from flambeau.autograd.graph import save_on_cpu, saved_tensors_hooks

# ---- inference mode


def test_inference_mode_records_nothing():
    x = fl.ones(3, requires_grad=True)
    with fl.inference_mode():
        assert fl.is_inference_mode_enabled()
        assert not fl.is_grad_enabled()
        y = x * 2
        assert y.is_inference() and not y.requires_grad and y.grad_fn is None
    assert not fl.is_inference_mode_enabled()
    assert fl.is_grad_enabled()
    assert (x * 2).requires_grad
    assert not x.is_inference()


def test_inference_tensors_stay_out_of_the_graph():
    with fl.inference_mode():
        y = fl.ones(3)
    x = fl.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="[Ii]nference"):
        x * y
    assert (y.clone() * x).requires_grad
    with fl.inference_mode():
        assert y.add_(1).tolist() == [2, 2, 2]


def test_inference_tensors_are_not_written_outside():
    with fl.inference_mode():
        y = fl.ones(3)
    with pytest.raises(RuntimeError, match="[Ii]nference"):
        y.add_(1)


def test_inference_mode_as_decorator_and_switched_off():
    x = fl.ones(3, requires_grad=True)

    @fl.inference_mode()
    def run():
        return x * 2

    @fl.inference_mode
    def run_too():
        return x * 2

    assert run().is_inference() and run_too().is_inference()
    with fl.inference_mode(), fl.inference_mode(False):
        assert (x * 2).requires_grad
    with pytest.raises(ValueError), fl.inference_mode():
        raise ValueError
    assert not fl.is_inference_mode_enabled()


# ---- hooks on saved tensors


def test_saved_tensors_pass_through_the_hooks():
    packed, unpacked = [], []

    def pack(t):
        packed.append(t)
        return len(packed) - 1

    def unpack(number):
        unpacked.append(number)
        return packed[number]

    x = fl.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = fl.tensor([4.0, 5.0, 6.0], requires_grad=True)
    with saved_tensors_hooks(pack, unpack):
        z = x * y
    assert len(packed) == 2 and not unpacked
    z.sum().backward()
    assert sorted(unpacked) == [0, 1]
    assert x.grad.tolist() == [4, 5, 6] and y.grad.tolist() == [1, 2, 3]


def test_what_unpack_gives_is_what_backward_uses():
    x = fl.ones(3, requires_grad=True)
    with saved_tensors_hooks(lambda t: None, lambda _: fl.full((3,), 7.0)):
        y = x * x
    y.sum().backward()
    assert x.grad.tolist() == [14, 14, 14]


def test_hooks_end_with_their_block_and_nest():
    names = []
    x = fl.ones(3, requires_grad=True)

    def named(name):
        return saved_tensors_hooks(lambda t: names.append(name) or t, lambda t: t)

    with named("outer"):
        x.exp()
        with named("inner"):
            x.exp()
        x.exp()
    x.exp()
    assert names == ["outer", "inner", "outer"]


def test_a_hook_that_fails_leaves_its_own_error():
    x = fl.ones(3, requires_grad=True)
    with saved_tensors_hooks(lambda t: t, lambda t: 1 / 0):
        y = x.exp()
    with pytest.raises(ZeroDivisionError):
        y.sum().backward()
    with saved_tensors_hooks(lambda t: t, lambda t: "no tensor"):
        y = x.exp()
    with pytest.raises((TypeError, RuntimeError), match="[Tt]ensor"):
        y.sum().backward()


def test_save_on_cpu_keeps_copies():
    x = fl.ones(3, requires_grad=True)
    w = fl.full((3,), 2.0)
    with save_on_cpu():
        y = x * w
    w.zero_()  # without the copy, backward would refuse
    y.sum().backward()
    assert x.grad.tolist() == [2, 2, 2]


# ---- anomaly detection


class Broken(fl.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        raise ValueError("broken on purpose")


class MakesNaN(fl.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        return grad * float("nan")


@pytest.fixture
def anomaly():
    with pytest.warns(UserWarning, match="Anomaly Detection has been enabled"):
        mode = detect_anomaly()
    with mode:
        yield
    assert not fl.is_anomaly_enabled()


def test_a_gradient_that_becomes_nan_is_refused(anomaly):
    x = fl.ones(3, requires_grad=True)
    y = MakesNaN.apply(x)
    with pytest.raises(RuntimeError, match="MakesNaN.* nan values"):
        y.sum().backward()


def test_without_detection_nan_passes():
    x = fl.ones(3, requires_grad=True)
    MakesNaN.apply(x).sum().backward()
    assert x.grad.isnan().all()


@pytest.mark.filterwarnings("ignore")
def test_a_native_node_that_makes_nan_is_named(anomaly):
    x = fl.zeros(3, requires_grad=True)
    y = (x * 0 / x).sqrt()
    with pytest.raises(RuntimeError, match="Sqrt|Div"):
        y.sum().backward()


def test_a_failing_backward_names_the_line_that_recorded_it(anomaly):
    x = fl.ones(3, requires_grad=True)
    y = Broken.apply(x)  # this line
    with pytest.warns(UserWarning, match="this line"), pytest.raises(ValueError, match="on purpose"):
        y.sum().backward()


def test_set_detect_anomaly_is_undone():
    assert not fl.is_anomaly_enabled()
    with set_detect_anomaly(True):
        assert fl.is_anomaly_enabled()
        with set_detect_anomaly(False):
            assert not fl.is_anomaly_enabled()
        assert fl.is_anomaly_enabled()
    assert not fl.is_anomaly_enabled()


def test_check_nan_can_be_left_out():
    x = fl.ones(3, requires_grad=True)
    with set_detect_anomaly(True, check_nan=False):
        MakesNaN.apply(x).sum().backward()
    assert x.grad.isnan().all()
