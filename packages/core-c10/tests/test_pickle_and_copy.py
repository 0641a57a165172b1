"""Tensors and storages through `pickle` and `copy`."""

import copy
import pickle

import flambeau
import pytest


def shares_memory(a, b):
    return a.untyped_storage() == b.untyped_storage()


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickled_tensors_come_back_and_share_storages_again(protocol):
    whole = flambeau.tensor([[1.0, 2.0], [3.0, 4.0]])
    after = pickle.loads(pickle.dumps({"whole": whole, "row": whole[1], "other": flambeau.tensor([5])}, protocol))
    assert after["whole"].tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert after["row"].tolist() == [3.0, 4.0]
    assert shares_memory(after["whole"], after["row"])
    assert after["other"].dtype == flambeau.int64


def test_protocol_5_hands_the_memory_over_without_copying():
    tensor = flambeau.tensor([1, 2, 3], dtype=flambeau.uint8)
    buffers = []
    data = pickle.dumps(tensor, 5, buffer_callback=buffers.append)
    assert [bytes(buffer.raw()) for buffer in buffers] == [b"\x01\x02\x03"]
    assert pickle.loads(data, buffers=buffers).tolist() == [1, 2, 3]


def test_geometry_of_views_is_kept():
    view = flambeau.tensor([[1, 2, 3], [4, 5, 6]])[:, 1:]
    after = pickle.loads(pickle.dumps(view))
    assert (tuple(after.shape), after.stride(), after.storage_offset()) == ((2, 2), (3, 1), 1)


def test_deep_copies_have_memory_of_their_own_and_keep_sharing():
    whole = flambeau.tensor([1, 2, 3])
    whole.note = ["x"]
    a, b = copy.deepcopy([whole, whole[1:]])
    assert a.tolist() == [1, 2, 3]
    assert b.tolist() == [2, 3]
    assert shares_memory(a, b)
    assert not shares_memory(a, whole)
    assert a.note == ["x"]
    assert a.note is not whole.note
    again = copy.deepcopy([whole, whole])
    assert again[0] is again[1]


def test_shallow_copies_share_the_memory():
    tensor = flambeau.tensor([1, 2])
    assert shares_memory(copy.copy(tensor), tensor)


def test_subclasses_stay_what_they_are():
    after = pickle.loads(pickle.dumps(flambeau.tensor([1.0]).as_subclass(Special)))
    assert type(after) is Special
    assert type(copy.deepcopy(after)) is Special


class Special(flambeau.Tensor):
    pass


def test_storages_are_pickled_and_copied_by_their_bytes():
    storage = flambeau.tensor([7], dtype=flambeau.uint8).untyped_storage()
    for after in (pickle.loads(pickle.dumps(storage)), copy.deepcopy(storage)):
        assert bytes(memoryview(after)) == b"\x07"
        assert after != storage
    meta = flambeau.UntypedStorage(5, device="meta")
    assert pickle.loads(pickle.dumps(meta)).nbytes() == copy.deepcopy(meta).nbytes() == 5


def test_a_storage_can_be_resized_again_when_its_buffers_are_gone():
    storage = flambeau.UntypedStorage(4)
    with memoryview(storage) as first:
        second = memoryview(first)
        assert not storage.resizable()
        with pytest.raises(RuntimeError):
            storage.resize_(8)
        second.release()
    assert storage.resizable()
    storage.resize_(8)
    assert storage.nbytes() == 8
