"""The archive as others see it: torch's records, names and alignment, readable by any zip program."""

import io
import pickletools
import zipfile

import flambeau
import pytest
from flambeau import serialization
from samples import checkpoint, saved

# The opcodes that torch reads with weights_only=True.
TORCH_OPCODES = {
    *("PROTO", "STOP", "MARK", "NONE", "NEWTRUE", "NEWFALSE", "BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT"),
    *("BINUNICODE", "SHORT_BINSTRING", "EMPTY_DICT", "EMPTY_LIST", "EMPTY_SET", "EMPTY_TUPLE", "APPEND", "APPENDS"),
    *("SETITEM", "SETITEMS", "TUPLE", "TUPLE1", "TUPLE2", "TUPLE3", "GLOBAL", "REDUCE", "NEWOBJ", "BUILD", "BINPERSID"),
    *("BINGET", "LONG_BINGET", "BINPUT", "LONG_BINPUT"),
}


def opened(obj, **options):
    return zipfile.ZipFile(saved(obj, **options))


def test_records_are_torchs_and_their_checksums_hold():
    archive = opened({"a": flambeau.tensor([1.0]), "b": flambeau.tensor([2])})
    assert archive.testzip() is None
    assert archive.namelist() == [
        "archive/data.pkl",
        "archive/.format_version",
        "archive/.storage_alignment",
        "archive/byteorder",
        "archive/data/0",
        "archive/data/1",
        "archive/version",
        "archive/.data/serialization_id",
    ]
    assert archive.read("archive/version") == b"3\n"
    assert archive.read("archive/byteorder") == b"little"
    assert archive.read("archive/data/1") == b"\x02" + bytes(7)
    identity = archive.read("archive/.data/serialization_id")
    assert len(identity) == 40
    assert identity.isdigit()


def test_the_folder_is_named_after_the_file(tmp_path):
    flambeau.save(1, tmp_path / "my.model.pt")
    assert zipfile.ZipFile(tmp_path / "my.model.pt").namelist()[0] == "my.model/data.pkl"


def test_records_begin_at_multiples_of_64():
    stream = saved([flambeau.tensor([float(i)] * i) for i in range(1, 20)])
    data = stream.getvalue()
    for info in zipfile.ZipFile(stream).infolist():
        name, extra = (int.from_bytes(data[info.header_offset + at :][:2], "little") for at in (26, 28))
        assert (info.header_offset + 30 + name + extra) % 64 == 0, info.filename


def test_pickles_name_torch_and_use_only_what_torch_reads():
    record = opened(checkpoint()).read("archive/data.pkl")
    assert b"flambeau" not in record
    assert {opcode.name for opcode, _, _ in pickletools.genops(record)} <= TORCH_OPCODES
    names = {argument for opcode, argument, _ in pickletools.genops(record) if opcode.name == "GLOBAL"}
    assert {"torch._utils _rebuild_tensor_v2", "torch FloatStorage", "torch bfloat16", "torch Size"} <= names


def test_the_same_object_gives_the_same_bytes():
    assert saved(checkpoint()).getvalue() == saved(checkpoint()).getvalue()
    assert saved([1]).getvalue() != saved([2]).getvalue()


def test_byteorder_record_and_checksums_can_be_left_out():
    assert "archive/byteorder" not in opened([1], _disable_byteorder_record=True).namelist()
    serialization.set_crc32_options(False)
    try:
        assert not serialization.get_crc32_options()
        assert {info.CRC for info in opened([1]).infolist()} == {0}
        assert flambeau.load(saved([1])) == [1]
    finally:
        serialization.set_crc32_options(True)


def test_archives_that_other_programs_packed_again_are_read():
    before = opened(checkpoint())
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", method) as after:
            for name in before.namelist():
                after.writestr(name, before.read(name))
        stream.seek(0)
        assert flambeau.load(stream)["epoch"] == 7


@pytest.mark.slow
def test_files_and_records_above_4_gb(tmp_path):
    from flambeau.serialization._source import Source
    from flambeau.serialization._zip_reader import ZipReader
    from flambeau.serialization._zip_writer import ZipWriter

    size = (1 << 32) + 5
    with open(tmp_path / "large.zip", "w+b") as file:

        def write(data):
            # Zeros become a hole, so that the disk does not need the room.
            if len(data) >= 1 << 20 and not any(data[:: 1 << 12]):
                file.seek(len(data), 1)
            else:
                file.write(data)

        writer = ZipWriter(write, "archive", checksums=False)
        writer.add_zeros("big", size)
        writer.add("after", b"hello")
        writer.close()
        file.seek(0)
        reader = ZipReader(Source(file, "large.zip"))
        assert reader.records["big"].size == size
        assert reader.read("after") == b"hello"
        with zipfile.ZipFile(file) as other:
            assert other.getinfo("archive/big").file_size == size
            assert other.getinfo("archive/after").header_offset > 1 << 32
