"""Padded and packed sequences."""

import flambeau
import pytest
from flambeau.nn.utils import rnn


def batch():
    """Lengths 4, 2, 3; the value says sequence and step."""
    t = flambeau.zeros(3, 4)
    for b, length in enumerate((4, 2, 3)):
        for step in range(length):
            t[b, step] = 10 * b + step + 1
    return t


def test_packing_sorts_and_lies_step_by_step():
    packed = rnn.pack_padded_sequence(batch(), [4, 2, 3], batch_first=True, enforce_sorted=False)
    assert packed.data.tolist() == [1, 21, 11, 2, 22, 12, 3, 23, 4]
    assert packed.batch_sizes.tolist() == [3, 3, 2, 1]
    assert packed.sorted_indices.tolist() == [0, 2, 1]
    assert packed.unsorted_indices.tolist() == [0, 2, 1]


@pytest.mark.parametrize("batch_first", [True, False])
def test_padding_undoes_packing(batch_first):
    x = batch() if batch_first else batch().t()
    packed = rnn.pack_padded_sequence(x, [4, 2, 3], batch_first, enforce_sorted=False)
    padded, lengths = rnn.pad_packed_sequence(packed, batch_first)
    assert padded.tolist() == x.tolist()
    assert lengths.tolist() == [4, 2, 3]
    longer, _ = rnn.pad_packed_sequence(packed, batch_first, padding_value=-1.0, total_length=6)
    assert longer.shape == ((3, 6) if batch_first else (6, 3))
    rows = longer if batch_first else longer.t()
    assert rows[1].tolist() == [11, 12, -1, -1, -1, -1]


def test_gradients_reach_the_steps_that_exist():
    x = batch().requires_grad_()
    packed = rnn.pack_padded_sequence(x, [4, 2, 3], batch_first=True, enforce_sorted=False)
    padded, _ = rnn.pad_packed_sequence(packed, batch_first=True, padding_value=5.0)
    padded.sum().backward()
    assert x.grad.tolist() == [[1, 1, 1, 1], [1, 1, 0, 0], [1, 1, 1, 0]]


def test_sequences_of_features():
    items = [flambeau.ones(2, 3), flambeau.ones(4, 3) * 2]
    packed = rnn.pack_sequence(items, enforce_sorted=False)
    assert packed.data.shape == (6, 3)
    back = rnn.unpack_sequence(packed)
    assert [t.tolist() for t in back] == [t.tolist() for t in items]


@pytest.mark.parametrize(("side", "expected"), [("right", [[1, 1, -1], [2, 2, 2]]), ("left", [[-1, 1, 1], [2, 2, 2]])])
def test_pad_sequence(side, expected):
    items = [flambeau.ones(2), flambeau.full((3,), 2.0)]
    assert rnn.pad_sequence(items, True, -1, side).tolist() == expected
    assert rnn.pad_sequence(items, False, -1, side).t().tolist() == expected
    lengths = flambeau.tensor([2, 3])
    unpadded = rnn.unpad_sequence(rnn.pad_sequence(items, True), lengths, True)
    assert [t.tolist() for t in unpadded] == [[1, 1], [2, 2, 2]]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: rnn.pack_padded_sequence(x, [4, 2], True), RuntimeError, r"got 2 \(batch_size=3\)"),
        (lambda x: rnn.pack_padded_sequence(x, [4, 2, 0], True), RuntimeError, "<= 0: 0"),
        (lambda x: rnn.pack_padded_sequence(x, [4, 2, 3], True), RuntimeError, "enforce_sorted"),
        (lambda x: rnn.pack_padded_sequence(x, [5, 2, 1], True), RuntimeError, "5, but the input has 4"),
        (lambda x: rnn.pack_padded_sequence(x[:0], [1], True), RuntimeError, "empty"),
        (lambda x: rnn.pad_sequence(3), RuntimeError, "int"),
        (lambda x: rnn.pad_sequence([]), RuntimeError, "empty list"),
        (lambda x: rnn.pad_sequence([x], padding_side="top"), RuntimeError, "top"),
    ],
)
def test_bad_input_is_refused(call, error, words):
    with pytest.raises(error, match=words):
        call(batch())


def test_a_total_length_that_is_too_short_is_refused():
    packed = rnn.pack_padded_sequence(batch(), [4, 2, 3], True, False)
    with pytest.raises(ValueError, match="total_length=3 .* 4"):
        rnn.pad_packed_sequence(packed, total_length=3)


def test_packed_sequences_convert():
    packed = rnn.pack_padded_sequence(batch(), [4, 2, 3], True, False)
    assert packed.double().data.dtype == flambeau.float64
    assert packed.float() is packed
