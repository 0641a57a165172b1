"""Where loaded storages go, and the settings of saving and loading."""

import io
import mmap
import sys
import zipfile

import flambeau
import pytest
from flambeau import serialization
from samples import assert_same, checkpoint, from_bytes, memory, round_trip, saved


@pytest.mark.parametrize("location", ["meta", flambeau.device("meta"), {"cpu": "meta"}, lambda storage, tag: flambeau.UntypedStorage(storage.nbytes(), device="meta")])  # fmt: skip
def test_map_location_to_meta(location):
    tensor = flambeau.load(saved(flambeau.tensor([1.0, 2.0])), map_location=location)
    assert (tensor.device.type, tuple(tensor.shape)) == ("meta", (2,))


@pytest.mark.parametrize(
    "location", [None, "cpu", flambeau.device("cpu"), {}, {"cuda:0": "cpu"}, lambda storage, tag: None]
)
def test_map_location_that_stays_on_the_cpu(location):
    assert_same(checkpoint(), flambeau.load(saved(checkpoint()), map_location=location))


def test_map_location_function_gets_storage_and_tag_once_for_each_storage():
    seen = []

    def locate(storage, tag):
        seen.append((storage.nbytes(), tag))
        return storage

    tensor = flambeau.tensor([1.0, 2.0])
    flambeau.load(saved([tensor, tensor[1:], flambeau.tensor([1])]), map_location=locate)
    assert seen == [(8, "cpu"), (8, "cpu")]


def test_devices_that_are_not_here_are_named():
    for location in ("cuda", "foo:1"):
        with pytest.raises(RuntimeError, match=f"{location}.*cpu"):
            flambeau.load(saved(flambeau.tensor([1])), map_location=location)
    with pytest.raises(TypeError, match=r"3.*int"):
        flambeau.load(saved(1), map_location=3)


def test_packages_can_be_registered():
    from flambeau.serialization import _locations

    before = list(_locations._registry)
    try:
        serialization.register_package(
            5, lambda s: "disk" if s.nbytes() == 3 else None, lambda s, tag: s if tag == "disk" else None
        )
        tensor = flambeau.tensor([1, 2, 3], dtype=flambeau.uint8)
        assert serialization.location_tag(tensor.untyped_storage()) == "disk"
        assert serialization.location_tag(flambeau.tensor([1]).untyped_storage()) == "cpu"
        stream = saved(tensor)
        assert b"disk" in stream.getvalue()
        assert flambeau.load(stream).tolist() == [1, 2, 3]
    finally:
        _locations._registry[:] = before
    stream.seek(0)
    with pytest.raises(RuntimeError, match="'disk'"):
        flambeau.load(stream)


def test_mapped_tensors_are_private_unless_shared(tmp_path):
    path = tmp_path / "model.pt"
    flambeau.save(flambeau.tensor([1, 2], dtype=flambeau.uint8), path)
    private = flambeau.load(path, mmap=True)
    memory(private.untyped_storage())[0] = 9
    assert private.tolist() == [9, 2]
    assert flambeau.load(path).tolist() == [1, 2]
    with serialization.set_default_mmap_options(mmap.MAP_SHARED):
        shared = flambeau.load(path, mmap=True)
        memory(shared.untyped_storage())[0] = 7
    assert serialization.get_default_mmap_options() == mmap.MAP_PRIVATE
    del shared
    assert flambeau.load(path, mmap=True).tolist() == [7, 2]


def test_mmap_needs_a_path():
    with pytest.raises(ValueError, match=r"path.*BytesIO"):
        flambeau.load(saved(1), mmap=True)
    with pytest.raises(ValueError, match="MAP_SHARED"):
        serialization.set_default_mmap_options(77)


def test_skip_data_leaves_the_elements_out():
    tensor = flambeau.tensor([1.0, 2.0, 3.0])
    with serialization.skip_data():
        stream = saved({"a": tensor, "b": tensor[1:]})
    after = flambeau.load(stream)
    assert after["a"].tolist() == [0.0, 0.0, 0.0]
    assert tuple(after["b"].shape) == (2,)
    with serialization.skip_data():
        assert tuple(round_trip(tensor).shape) == (3,)


def other_byte_order(tensor, itemsize):
    """A file as a machine of the other byte order writes it."""
    other = {"little": b"big", "big": b"little"}[sys.byteorder]
    before, stream = zipfile.ZipFile(saved(tensor)), io.BytesIO()
    with zipfile.ZipFile(stream, "w") as after:
        for name in before.namelist():
            data = before.read(name)
            if name.endswith("byteorder"):
                data = other
            if "/data/" in name:
                data = b"".join(data[i : i + itemsize][::-1] for i in range(0, len(data), itemsize))
            after.writestr(name, data)
    stream.seek(0)
    return stream


@pytest.mark.parametrize(
    ("dtype", "width"),
    [("int16", 2), ("float32", 4), ("float64", 8), ("complex64", 4), ("complex128", 8), ("uint8", 1)],
)
def test_the_other_byte_order_is_turned_around(dtype, width):
    before = from_bytes(bytes(range(32)), dtype, (2,), (1,))
    assert_same(before, flambeau.load(other_byte_order(before, width)))


def test_bytes_of_the_other_order_without_a_width_are_refused():
    before = from_bytes(bytes(range(32)), "uint16", (2,), (1,))
    with pytest.raises(serialization.FormatError, match="byte order"):
        flambeau.load(other_byte_order(before, 2))


def test_default_byte_order_counts_where_the_file_says_none():
    stream = saved(flambeau.tensor([1], dtype=flambeau.int16), _disable_byteorder_record=True)
    assert serialization.get_default_load_endianness() is None
    serialization.set_default_load_endianness(serialization.LoadEndianness.BIG)
    try:
        assert flambeau.load(stream).tolist() == [256]
    finally:
        serialization.set_default_load_endianness(None)
    with pytest.raises(TypeError, match="'big'"):
        serialization.set_default_load_endianness("big")


def test_small_helpers():
    class Module:
        __name__, __version__ = "mod", "1.12.3"

    assert serialization.check_module_version_greater_or_equal(Module, (1, 9, 0))
    assert not serialization.check_module_version_greater_or_equal(Module, (2, 0))
    Module.__version__ = "x.y"
    with pytest.raises(RuntimeError, match="malformed"):
        serialization.check_module_version_greater_or_equal(Module, (1,))
    with serialization.mkdtemp() as folder:
        assert isinstance(folder, str)
    with pytest.raises(RuntimeError, match="cuda"):
        serialization.validate_cuda_device("cuda:0")
