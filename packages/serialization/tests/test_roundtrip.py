"""What is saved comes back: values, geometry, sharing, containers."""

import io
import pickle

import flambeau
import pytest
from flambeau import serialization
from samples import ALL_DTYPES, assert_same, checkpoint, from_bytes, memory, over, raw, round_trip, saved, shares_memory


def test_a_checkpoint_comes_back_from_memory_path_and_map(tmp_path):
    before = checkpoint()
    path = tmp_path / "model.pt"
    flambeau.save(before, path)
    assert_same(before, round_trip(before))
    assert_same(before, flambeau.load(path))
    assert_same(before, flambeau.load(str(path), mmap=True))
    assert_same(before, flambeau.load(path, weights_only=False))
    with open(path, "rb") as file:
        assert_same(before, flambeau.load(file))


def test_views_of_one_storage_share_it_again():
    after = round_trip(checkpoint())["model"]
    assert shares_memory(after["weight"], after["row"])
    assert shares_memory(after["weight"], after["column"])
    assert not shares_memory(after["weight"], after["bias"])


def test_the_same_tensor_twice_is_one_object():
    tensor = flambeau.tensor([1.0])
    after = round_trip([tensor, {"again": tensor}])
    assert after[0] is after[1]["again"]


@pytest.mark.parametrize("dtype", ALL_DTYPES)
def test_every_dtype_keeps_its_bits(dtype):
    data = bytes(range(256)) if dtype != "bool" else bytes([0, 1] * 128)
    itemsize = getattr(flambeau, dtype).itemsize
    before = from_bytes(data, dtype, (256 // itemsize,), (1,))
    assert_same(before, round_trip(before))


def test_two_dtypes_on_one_storage_still_share_it():
    floats = flambeau.tensor([1.0, 2.0])
    storage = floats.untyped_storage()
    ints, shorts = over(storage, "int32", (2,)), over(storage, "uint16", (3,))
    after = round_trip({"floats": floats, "ints": ints, "shorts": shorts})
    assert after["ints"].tolist() == ints.tolist()
    assert after["shorts"].tolist() == shorts.tolist()
    assert shares_memory(after["floats"], after["ints"])
    assert shares_memory(after["floats"], after["shorts"])


@pytest.mark.parametrize(
    ("size", "stride", "offset"),
    [
        ((), (), 3),
        ((0,), (1,), 0),
        ((2, 0, 3), (3, 3, 1), 5),
        ((5, 3), (0, 0), 7),
        ((2, 3, 2), (1, 4, 2), 1),
        ((1,) * 6, (9,) * 6, 0),
    ],
)
def test_geometry_is_kept(size, stride, offset):
    before = from_bytes(bytes(range(64)), "int32", size, stride, offset)
    assert_same(before, round_trip(before))


def test_attributes_are_kept():
    before = flambeau.tensor([1.0])
    before.note = {"lr": 0.5}
    assert round_trip(before).note == {"lr": 0.5}


def test_meta_tensors_keep_their_sizes():
    before = flambeau.load(saved(flambeau.tensor([[1.0, 2.0]])), map_location="meta")
    after = round_trip(before)
    assert (after.device.type, tuple(after.shape), after.dtype) == ("meta", (1, 2), flambeau.float32)


def test_storages_can_be_saved_themselves():
    storage = flambeau.tensor([1, 2], dtype=flambeau.int16).untyped_storage()
    after = round_trip({"storage": storage, "empty": flambeau.UntypedStorage(0)})
    assert bytes(memory(after["storage"])) == bytes(memory(storage))
    assert after["empty"].nbytes() == 0


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_every_protocol_is_written_and_read(protocol):
    before = checkpoint()
    assert_same(before, flambeau.load(saved(before, pickle_protocol=protocol)))


def test_protocols_that_torch_has_not_are_refused():
    for protocol in (0, 1, 6, "2"):
        with pytest.raises(ValueError, match=r"2 to 5"):
            flambeau.save(1, io.BytesIO(), pickle_protocol=protocol)


@pytest.mark.parametrize(
    "obj", [None, True, 3, -(2**31), 2**31, 2**2100, 1.5, "x", [], {}, (), set(), [[[]]], {"a": {"b": ()}}]
)
def test_objects_without_tensors(obj):
    assert_same(obj, round_trip(obj))


def test_a_list_may_contain_itself():
    loop = [1]
    loop.append(loop)
    after = round_trip(loop)
    assert after[0] == 1
    assert after[1] is after


def test_many_small_tensors_keep_their_order_and_values():
    before = {f"layer.{i}.weight": flambeau.tensor([float(i), -float(i)]) for i in range(3000)}
    after = round_trip(before)
    assert list(after) == list(before)
    assert all(after[key].tolist() == value.tolist() for key, value in before.items())


def test_files_of_another_pickle_module_come_back_with_it():
    before = checkpoint()
    del before["dtype"], before["device"], before["size"], before["layout"]

    class Module:
        Pickler, Unpickler = pickle.Pickler, pickle.Unpickler

    stream = saved(before, pickle_module=Module)
    assert_same(before, flambeau.load(stream, pickle_module=Module))


def test_what_cannot_be_pickled_leaves_the_target_untouched(tmp_path):
    path = tmp_path / "model.pt"
    stream = io.BytesIO(b"")
    for target in (path, stream):
        with pytest.raises((AttributeError, TypeError, pickle.PicklingError)):
            flambeau.save({"f": lambda: 1}, target)
    assert not path.exists()
    assert stream.getvalue() == b""


def test_objects_to_save_to_need_a_write_method():
    with pytest.raises(AttributeError, match=r"'write'.*int"):
        flambeau.save(1, 5)


def test_streams_without_seek_can_be_written():
    class Sink:
        def __init__(self):
            self.parts = []

        def write(self, data):
            self.parts.append(bytes(data))

    sink = Sink()
    flambeau.save(checkpoint(), sink)
    assert_same(checkpoint(), flambeau.load(io.BytesIO(b"".join(sink.parts))))


def test_an_archive_may_begin_inside_a_file():
    stream = io.BytesIO(b"header" + saved([1, 2]).getvalue())
    stream.seek(6)
    assert flambeau.load(stream) == [1, 2]


def test_names_are_where_torch_has_them():
    assert flambeau.save is serialization.save
    assert flambeau.load is serialization.load
    missing = [name for name in serialization.__all__ if not hasattr(serialization, name)]
    assert missing == []


def test_loaded_tensors_are_writable():
    after = round_trip(flambeau.tensor([1, 2, 3]))
    memory(after.untyped_storage())[0] = 9
    assert after.tolist()[0] == 9
    assert raw(after)[0] == 9
