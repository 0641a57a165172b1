"""result_type and broadcast_shapes."""

import flambeau as fl
import pytest


@pytest.mark.parametrize(
    ("a", "b", "wanted"),
    [
        (fl.tensor([1]), 2.5, fl.float32),
        (fl.tensor([1], dtype=fl.int8), 300, fl.int8),
        (fl.tensor([1.0], dtype=fl.float16), fl.tensor(1.0, dtype=fl.float64), fl.float16),
        (fl.tensor([1], dtype=fl.int32), fl.tensor(1.0, dtype=fl.float64), fl.float64),
        (fl.tensor([True]), fl.tensor([1], dtype=fl.uint8), fl.uint8),
        (fl.tensor([1.0], dtype=fl.float64), 1j, fl.complex128),
        (fl.tensor([1.0], dtype=fl.float32), 1j, fl.complex64),
        (1, 2.0, fl.float32),
        (1, True, fl.int64),
        (True, False, fl.bool),
    ],
)
def test_result_type(a, b, wanted):
    assert fl.result_type(a, b) is wanted
    assert fl.result_type(b, a) is wanted


def test_result_type_follows_the_default_dtype():
    fl.set_default_dtype(fl.float64)
    try:
        assert fl.result_type(fl.tensor([1]), 2.5) is fl.float64
    finally:
        fl.set_default_dtype(fl.float32)


def test_result_type_of_other_things():
    with pytest.raises(TypeError, match=r"\[result_type\] a tensor or a number is needed, got str"):
        fl.result_type("a", 1)


@pytest.mark.parametrize(
    ("shapes", "wanted"),
    [((), ()), ((3, (2, 1)), (2, 3)), (((2, 1, 4), (3, 1)), (2, 3, 4)), (((0,), (1,)), (0,)), (((1,), (1, 1)), (1, 1))],
)
def test_broadcast_shapes(shapes, wanted):
    result = fl.broadcast_shapes(*shapes)
    assert type(result) is fl.Size
    assert result == wanted


def test_shapes_that_do_not_fit():
    with pytest.raises(RuntimeError, match=r"\[broadcast_shapes\] .*3.*4"):
        fl.broadcast_shapes((2, 3), (4,))
    with pytest.raises(ValueError, match="sizes are 0 or more, got -3"):
        fl.broadcast_shapes((2, -3))
    with pytest.raises(TypeError):
        fl.broadcast_shapes("a")
