"""What files may name, and what is said when they name something else."""

import collections
import io
import os
import pickle
import re

import flambeau
import pytest
from flambeau import serialization
from samples import saved


class Point:
    def __init__(self, x):
        self.x = x


class Custom:
    def __setstate__(self, state):
        self.restored = state["value"] + 1


def scale(value):
    return value * 2


class Scaled:
    def __reduce__(self):
        return scale, (21,)


@pytest.fixture(autouse=True)
def empty_list():
    serialization.clear_safe_globals()
    yield
    serialization.clear_safe_globals()


def refusal(obj, **options):
    with pytest.raises(pickle.UnpicklingError) as caught:
        flambeau.load(saved(obj, **options))
    return str(caught.value)


@pytest.mark.parametrize("protocol", [2, 4])
def test_one_message_lists_everything_refused(protocol):
    message = refusal([Point(1), Scaled(), collections.deque(), os.system], pickle_protocol=protocol)
    assert "needs 4 names" in message
    for name in (f"{__name__}.Point", f"{__name__}.scale", "collections.deque", "posix.system"):
        assert f"  {name}" in message
    assert "module posix is blocked" in message
    assert "add_safe_globals([deque, Point, scale])" in message
    assert "<BytesIO>" in message


def test_allowed_functions_take_only_what_the_file_may_hold():
    serialization.add_safe_globals([scale])
    assert "Point" in refusal([Scaled(), Point(1)])


def test_allowed_classes_and_functions_are_used():
    serialization.add_safe_globals([Point, Custom, scale])
    custom = Custom()
    custom.value = 4
    point, custom, scaled = flambeau.load(saved([Point(flambeau.tensor([1.0])), custom, Scaled()]))
    assert type(point) is Point
    assert point.x.tolist() == [1.0]
    assert custom.restored == 5
    assert scaled == 42


def test_safe_globals_hold_inside_the_block_only():
    stream = saved(Point(3))
    with serialization.safe_globals([Point]):
        assert serialization.get_safe_globals() == [Point]
        assert flambeau.load(stream).x == 3
    assert serialization.get_safe_globals() == []
    stream.seek(0)
    with pytest.raises(pickle.UnpicklingError, match="Point"):
        flambeau.load(stream)


def test_an_object_may_be_allowed_under_an_old_name():
    serialization.set_crc32_options(False)
    try:
        data = saved(Point(3)).getvalue().replace(f"{__name__}\nPoint".encode(), f"{__name__}\nPaint".encode())
    finally:
        serialization.set_crc32_options(True)
    with serialization.safe_globals([(Point, f"{__name__}.Paint")]):
        assert flambeau.load(io.BytesIO(data)).x == 3


def test_names_that_give_the_machine_away_cannot_be_allowed():
    serialization.add_safe_globals([os.system])
    assert "posix.system" in refusal(os.system)


def test_what_can_be_allowed_is_checked():
    with pytest.raises(TypeError, match=r"1.*int"):
        serialization.add_safe_globals([1])
    with pytest.raises(ValueError, match="pair"):
        serialization.add_safe_globals([(Point, 3)])


def test_unsafe_globals_are_listed_without_loading(tmp_path):
    path = tmp_path / "model.pt"
    flambeau.save([Point(1), os.system, flambeau.tensor([1])], path)
    assert serialization.get_unsafe_globals_in_checkpoint(path) == ["posix.system", f"{__name__}.Point"]
    with serialization.safe_globals([Point]):
        assert serialization.get_unsafe_globals_in_checkpoint(saved(Point(1))) == []


def test_unrestricted_loading_needs_the_word():
    assert flambeau.load(saved(Point(3)), weights_only=False).x == 3
    assert flambeau.load(saved(Scaled()), weights_only=False) == 42
    with pytest.raises(RuntimeError, match="pickle_module"):
        flambeau.load(saved(1), weights_only=True, pickle_module=pickle)


def test_message_names_file_and_remedy(tmp_path):
    flambeau.save(Point(1), tmp_path / "model.pt")
    with pytest.raises(pickle.UnpicklingError, match=re.escape(f'"{tmp_path}/model.pt" needs 1 name that is not')):
        flambeau.load(tmp_path / "model.pt")
