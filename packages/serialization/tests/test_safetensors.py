"""safetensors files: through the library, with flambeau's tensors."""

import json
import os
import struct
import threading

import flambeau
import pytest
from flambeau import serialization
from flambeau.serialization import safetensors
from samples import assert_same, from_bytes, shares_memory

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32", "float64", "complex64", "float8_e4m3fn", "float8_e5m2"]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_keeps_its_bits(dtype):
    itemsize = getattr(flambeau, dtype).itemsize
    data = bytes(i % 2 for i in range(32)) if dtype == "bool" else bytes(range(32))
    before = from_bytes(data, dtype, (2, 16 // itemsize), (16 // itemsize, 1))
    assert_same({"x": before}, safetensors.load(safetensors.save({"x": before})))


def test_files_come_back(tmp_path):
    before = {"b": flambeau.tensor([[1.0, 2.0]]), "a": flambeau.tensor(5), "empty": flambeau.tensor([])}
    path = tmp_path / "model.safetensors"
    serialization.save_safetensors(before, path, {"format": "pt"})
    after = serialization.load_safetensors(path)
    assert_same(dict(sorted(before.items())), after)
    meta = safetensors.load_file(path, device="meta")
    assert (meta["b"].device.type, tuple(meta["b"].shape)) == ("meta", (1, 2))


def test_large_tensors_have_storages_of_their_own():
    data = safetensors.save({"x": from_bytes(bytes(1 << 17), "uint8", (1 << 17,), (1,)), "y": flambeau.tensor([1])})
    after = safetensors.load(data)
    assert after["x"].untyped_storage().nbytes() == 1 << 17
    assert not shares_memory(after["x"], after["y"])


def test_the_file_is_what_the_format_says():
    data = safetensors.save({"x": flambeau.tensor([1.0, 2.0])}, {"k": "v"})
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    assert header["x"] == {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
    assert header["__metadata__"] == {"k": "v"}
    assert data[8 + length :] == struct.pack("<2f", 1.0, 2.0)


def test_shared_memory_is_refused_with_the_names():
    whole = flambeau.tensor([1.0, 2.0, 3.0, 4.0])
    with pytest.raises(RuntimeError, match=r"head, whole|whole, head"):
        safetensors.save({"whole": whole, "head": whole[:2], "other": flambeau.tensor([1.0])})
    safetensors.save({"head": whole[:2], "tail": whole[2:]})


def test_what_the_format_has_not_is_refused():
    with pytest.raises(TypeError, match=r'"x".*complex128.*float32'):
        safetensors.save({"x": flambeau.tensor([1j], dtype=flambeau.complex128)})
    with pytest.raises(ValueError, match=r"'x'.*int"):
        safetensors.save({"x": 3})
    with pytest.raises(ValueError, match="list"):
        safetensors.save([flambeau.tensor([1.0])])


@pytest.mark.parametrize(
    "content", [b"", b"x", b"\xff" * 8, struct.pack("<Q", 2) + b"{]", struct.pack("<Q", 1 << 40) + b"{}"]
)
def test_damaged_files_are_named(content, tmp_path):
    path = tmp_path / "model.safetensors"
    path.write_bytes(content)
    with pytest.raises(serialization.FormatError, match=r"model\.safetensors"):
        safetensors.load_file(path)


def test_cut_and_lying_files_are_refused():
    good = safetensors.save({"x": flambeau.tensor([1.0, 2.0])})
    for bad in (
        good[:-1],
        good + b"x",
        good.replace(b"[0,8]", b"[0,9]"),
        good.replace(b"[2]", b"[3]"),
        good.replace(b"F32", b"F99"),
    ):
        with pytest.raises(serialization.FormatError):
            safetensors.load(bad)


def test_files_have_the_mode_of_any_file_and_pipes_stay_pipes(tmp_path):
    plain, whole, pipe = tmp_path / "plain", tmp_path / "whole", tmp_path / "pipe"
    plain.touch()
    safetensors.save_file({"x": flambeau.tensor([1.0])}, whole)
    assert whole.stat().st_mode == plain.stat().st_mode
    os.mkfifo(pipe)
    got = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    safetensors.save_file({"x": flambeau.tensor([1.0])}, pipe)
    reader.join(10)
    assert got == [whole.read_bytes()] and pipe.is_fifo()
