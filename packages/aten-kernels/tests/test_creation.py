"""Factories, conversions, copies: what they make, and what they refuse."""

import math

import flambeau as fl
import numpy as np
import pytest


def test_factories_honour_dtype_device_and_defaults():
    assert fl.zeros(2, 3).dtype is fl.float32
    assert fl.full((2,), 3).dtype is fl.int64
    assert fl.full((2,), True).dtype is fl.bool
    assert fl.full((2,), 1j).dtype is fl.complex64
    assert fl.ones(2, dtype=int).dtype is fl.int64
    with fl.device("meta"):
        assert fl.empty(3).device.type == "meta"
        assert fl.zeros(3, device="cpu").device.type == "cpu"
    assert fl.empty(3).device.type == "cpu"
    fl.set_default_device("meta")
    try:
        assert fl.arange(3).device.type == "meta"
    finally:
        fl.set_default_device(None)


@pytest.mark.parametrize(
    ("args", "want"),
    [
        ((5,), np.arange(5)),
        ((1, 5), np.arange(1, 5)),
        ((5, 1, -2), np.arange(5, 1, -2)),
        ((0.0, 1.0, 0.25), np.arange(0, 1, 0.25, dtype=np.float32)),
    ],
)
def test_arange(args, want):
    got = fl.arange(*args).numpy()
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)


def test_sequences_end_where_they_should():
    line = fl.linspace(0, 1, 7, dtype=fl.float64).numpy()
    assert line[0] == 0 and line[-1] == 1
    np.testing.assert_allclose(line, np.linspace(0, 1, 7))
    np.testing.assert_allclose(fl.logspace(0, 2, 3).numpy(), [1, 10, 100])
    np.testing.assert_array_equal(fl.eye(2, 3).numpy(), np.eye(2, 3))
    np.testing.assert_array_equal(fl.tril_indices(3, 4, -1).numpy(), np.array(np.tril_indices(3, -1, 4)))


@pytest.mark.parametrize(
    "call",
    [
        lambda: fl.zeros(-1), lambda: fl.zeros(2**62, 2**62), lambda: fl.arange(1, 5, 0), lambda: fl.arange(0, math.inf), lambda: fl.arange(5, 1),
        lambda: fl.full((2,), 300, dtype=fl.uint8), lambda: fl.eye(-1), lambda: fl.ones(2).fill_(1j), lambda: fl.empty(2, memory_format=fl.channels_last),
        lambda: fl.linspace(0, 1, -1), lambda: fl.ones(3).expand(2, 3).add_(1),
    ],
)  # fmt: skip
def test_refusals_are_runtime_errors(call):
    with pytest.raises(RuntimeError):
        call()


def test_conversions_return_self_where_nothing_changes():
    x = fl.ones(2, 2)
    assert x.to(fl.float32) is x and x.contiguous() is x and x.to("cpu") is x and x.float() is x
    assert x.to(fl.float32, copy=True) is not x
    assert x.to(fl.ones(1).long()).dtype is fl.int64
    assert x.T.clone().stride() == (1, 2)
    assert x.T.contiguous().stride() == (2, 1)
    image = fl.ones(2, 3, 4, 5)
    assert image.contiguous(memory_format=fl.channels_last).stride() == (60, 1, 15, 3)
    assert x.type() == "torch.FloatTensor" and x.type("torch.DoubleTensor").dtype is fl.float64


def test_numpy_shares_memory():
    x = fl.arange(6).reshape(2, 3)
    array = x.numpy()
    array[0, 0] = 9
    assert x[0, 0].item() == 9
    np.testing.assert_array_equal(np.asarray(x.T), array.T)
    with pytest.raises(TypeError):
        fl.ones(2, dtype=fl.bfloat16).numpy()


def test_dlpack_both_ways():
    x = fl.arange(6, dtype=fl.float32).reshape(2, 3)
    array = np.from_dlpack(x)
    array_back = fl.from_dlpack(np.arange(4.0))
    np.testing.assert_array_equal(array, x.numpy())
    assert array_back.tolist() == [0, 1, 2, 3]
    capsule = fl.to_dlpack(x)
    again = fl.from_dlpack(capsule)
    again[0, 0] = 7
    assert x[0, 0].item() == 7
    with pytest.raises(RuntimeError):
        fl.from_dlpack(capsule)


def test_geometry_in_place():
    x = fl.arange(6)
    assert x.resize_(2, 3).shape == (2, 3)
    assert x.t_().shape == (3, 2) and x.unsqueeze_(0).shape == (1, 3, 2) and x.squeeze_(0).shape == (3, 2)
    assert x.resize_(4).tolist() == [0, 1, 2, 3]
    assert f"{fl.tensor(1.5):.3f}" == "1.500"
    y = fl.ones(5)
    view = y[1:]
    assert y.share_memory_().is_shared() and view.is_shared() and view.sum().item() == 4


def test_legacy_classes_name_a_dtype():
    assert fl.LongTensor([1, 2]).dtype is fl.int64
    assert fl.FloatTensor(2, 3).shape == (2, 3)
    assert isinstance(fl.ones(1), fl.FloatTensor)
    assert not isinstance(fl.ones(1), fl.LongTensor)
    assert fl.ones(3).storage().tolist() == [1, 1, 1]


def test_windows():
    for ours, theirs in (
        (fl.hann_window, np.hanning),
        (fl.hamming_window, np.hamming),
        (fl.blackman_window, np.blackman),
        (fl.bartlett_window, np.bartlett),
    ):
        np.testing.assert_allclose(ours(9, False, dtype=fl.float64).numpy(), theirs(9), atol=1e-12)
        np.testing.assert_allclose(ours(8, dtype=fl.float64).numpy(), theirs(9)[:8], atol=1e-12)
    np.testing.assert_allclose(fl.kaiser_window(9, False, 5.0, dtype=fl.float64).numpy(), np.kaiser(9, 5.0))


def test_writes_of_one_number_take_expanded_tensors():
    made = lambda: fl.zeros(1, 3).expand(3, 3)  # noqa: E731
    assert made().fill_(2).tolist() == [[2.0] * 3] * 3
    assert made().fill_(fl.tensor(2.0)).tolist() == [[2.0] * 3] * 3
    assert fl.ones(1, 3).expand(3, 3).zero_().tolist() == [[0.0] * 3] * 3
    assert made().fill_diagonal_(3).tolist() == [[3.0] * 3] * 3
    with pytest.raises(RuntimeError, match="single memory location"):
        made().add_(1)


@pytest.mark.parametrize("name", ["hann", "hamming", "blackman", "bartlett", "kaiser"])
def test_windows_of_every_length(name):
    window = getattr(fl, f"{name}_window")
    numpy = {"hann": "hanning"}.get(name, name)
    beta = (12.0,) if name == "kaiser" else ()
    for n in (3, 8, 17):
        want = getattr(np, numpy)(n, *beta)
        np.testing.assert_allclose(window(n, False, dtype=fl.float64).numpy(), want, atol=1e-15)
        np.testing.assert_allclose(window(n - 1, dtype=fl.float64).numpy(), want[:-1], atol=1e-15)
    assert window(0).shape == (0,) and window(1).tolist() == [1.0]
    assert window(5, device="meta").shape == (5,)
    with pytest.raises(MemoryError, match="allocate"):
        window(2**50)
    with pytest.raises(RuntimeError, match=f"{name}_window requires non-negative"):
        window(-1)


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("empty", lambda: fl.empty(1 << 50)),
        ("exp", lambda: fl.ones(1).expand(1 << 50).exp()),
        ("add", lambda: fl.ones(1).expand(1 << 50) + 1),
        ("cat", lambda: fl.cat([fl.ones(1).expand(1 << 50)] * 2)),
        ("resize_", lambda: fl.ones(1).resize_(1 << 50)),
    ],
)
def test_an_allocation_that_fails_names_the_operator_and_the_size(name, make):
    with pytest.raises(MemoryError, match=rf"\[{name}\] can't allocate memory: you tried to allocate \d+ bytes"):
        make()


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("as_strided", lambda: fl.ones(3).as_strided([1 << 62], [1])),
        ("as_strided", lambda: fl.ones(3).as_strided([1 << 62, 1 << 62], [1, 1])),
        ("expand", lambda: fl.ones(1, 1).expand(1 << 62, 1 << 62)),
    ],
)
def test_sizes_that_overflow_name_the_operator(name, make):
    with pytest.raises(RuntimeError, match=rf"\[{name}\] sizes .* overflow"):
        make()
