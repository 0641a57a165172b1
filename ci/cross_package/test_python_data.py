"""Data that crosses between Python and tensors: memory lent out, and objects that misbehave while they are read."""

import contextlib
import gc

import flambeau
import numpy
import pytest


@pytest.mark.parametrize("lend", [lambda t: t.numpy(), memoryview, numpy.asarray, numpy.from_dlpack])
@pytest.mark.parametrize(
    "replace",
    [
        lambda t: setattr(t, "data", flambeau.zeros(3)),
        lambda t: t.set_(flambeau.zeros(3)),
    ],
)
def test_lent_memory_outlives_the_tensor_s_storage(lend, replace):
    t = flambeau.arange(1000.0)
    lent = lend(t)
    replace(t)
    gc.collect()
    others = [flambeau.full((1000,), 7.0) for _ in range(5)]
    assert list(lent[:4]) == [0, 1, 2, 3]
    del others, t
    assert list(lent[:4]) == [0, 1, 2, 3]


class Shrinking:
    """A sequence whose length changes whenever it is asked for."""

    def __init__(self):
        self.length = 5

    def __len__(self):
        self.length -= 1
        return self.length

    def __getitem__(self, i):
        if i >= 2:
            raise IndexError
        return 1


class Clearing:
    """An index that empties the list it stands in."""

    def __init__(self, home):
        self.home = home

    def __index__(self):
        self.home.clear()
        return 2


def test_a_sequence_that_shrinks_is_an_error_or_read_as_it_is():
    with contextlib.suppress(ValueError, IndexError):
        assert flambeau.tensor(Shrinking()).tolist() == [1, 1]


@pytest.mark.parametrize("use", [flambeau.zeros, flambeau.ones(8).view, lambda sizes: flambeau.ones(8).reshape(sizes)])
def test_a_list_that_its_items_empty_is_an_error(use):
    sizes: list = []
    sizes += [Clearing(sizes) for _ in range(3)]
    with pytest.raises(IndexError, match="shrank"):
        use(sizes)


def test_integers_past_63_bits():
    assert flambeau.tensor([1 << 63], dtype=flambeau.uint64).numpy()[0] == 1 << 63
    assert flambeau.tensor([1 << 64], dtype=flambeau.float32).item() == 2.0**64
    for use in (lambda: flambeau.full((2,), 1 << 63), lambda: flambeau.tensor([1 << 63])):
        with pytest.raises(RuntimeError, match="9223372036854775808"):
            use()


def test_methods_want_a_tensor():
    with pytest.raises(TypeError, match="descriptor 'add'"):
        flambeau.Tensor.add(5, flambeau.ones(2))


def test_a_number_of_threads_is_not_cut_short():
    before = flambeau.get_num_threads()
    with pytest.raises(RuntimeError, match=str((1 << 32) + 1)):
        flambeau.set_num_threads((1 << 32) + 1)
    assert flambeau.get_num_threads() == before
