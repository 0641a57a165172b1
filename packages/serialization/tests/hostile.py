"""Files that try to do harm. `python hostile.py FOLDER` writes them for use elsewhere.

Each case is a name, the bytes, and a pattern that the message of the error must match.
"""

from __future__ import annotations

import pickle
import struct
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

Case = tuple[str, bytes, str]


def text(value: str) -> bytes:
    raw = value.encode()
    return b"X" + len(raw).to_bytes(4, "little") + raw


def number(value: int) -> bytes:
    raw = pickle.encode_long(value)
    return b"\x8a" + bytes((len(raw),)) + raw


def name(module: str, attribute: str) -> bytes:
    return f"c{module}\n{attribute}\n".encode()


def numbers(values: tuple[int, ...]) -> bytes:
    return b"(" + b"".join(map(number, values)) + b"t"


def storage(
    kind: str = "FloatStorage", key: str = "0", location: str = "cpu", count: int = 4, module: str = "torch"
) -> bytes:
    return b"(" + text("storage") + name(module, kind) + text(key) + text(location) + number(count) + b"tQ"


ODICT = name("collections", "OrderedDict") + b")R"
REBUILD = name("torch._utils", "_rebuild_tensor_v2")


def tensor(
    part: bytes | None = None,
    offset: int = 0,
    size: tuple[int, ...] = (4,),
    stride: tuple[int, ...] = (1,),
    grad: bytes = b"\x89",
) -> bytes:
    part = storage() if part is None else part
    return REBUILD + b"(" + part + number(offset) + numbers(size) + numbers(stride) + grad + ODICT + b"tR"


def program(*parts: bytes) -> bytes:
    return b"\x80\x02" + b"".join(parts) + b"."


def zipped(records: dict[str, bytes], *, prefix: str = "archive/", crc: dict[str, int] | None = None, sizes: dict[str, int] | None = None, flags: int = 0, method: int = 0, at: dict[str, int] | None = None) -> bytes:  # fmt: skip
    """A zip archive whose directory may lie about its records."""
    body, directory = b"", b""
    for key, data in records.items():
        path = (prefix + key).encode()
        check = zlib.crc32(data) if crc is None or key not in crc else crc[key]
        size = len(data) if sizes is None or key not in sizes else sizes[key]
        offset = len(body) if at is None or key not in at else at[key]
        common = struct.pack("<3H2HI2I", 20, flags, method, 0, 0x21, check, size, size)
        body += b"PK\x03\x04" + common + struct.pack("<2H", len(path), 0) + path + data
        directory += b"PK\x01\x02" + b"\x14\0" + common + struct.pack("<5H2I", len(path), 0, 0, 0, 0, 0, offset) + path
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, len(records), len(records), len(directory), len(body), 0)
    return body + directory + end


def archive(data: bytes, stored: bytes | None = bytes(16), **lies: object) -> bytes:
    records = {"data.pkl": data, "byteorder": b"little"}
    if stored is not None:
        records["data/0"] = stored
    return zipped(records | {"version": b"3\n"}, **lies)  # type: ignore[arg-type]


GOOD = archive(program(tensor()))


def containers() -> Iterator[Case]:
    """Damage to the zip archive."""
    yield "text", b"hello world, this is no checkpoint", r"no checkpoint.*b'hello wo'"
    yield "html", b"<!DOCTYPE html><html>404</html>", r"no checkpoint"
    yield "plain_pickle", pickle.dumps({"a": 1}), r"a pickle, but not of a checkpoint"
    yield "safetensors", struct.pack("<Q", 2) + b"{}" + bytes(8), r"safetensors"
    yield "tar", bytes(257) + b"ustar" + bytes(300), r"tar archive"
    yield "magic_only", b"PK\x03\x04", r"cut short or damaged"
    yield "half", GOOD[: len(GOOD) // 2], r"cut short or damaged"
    yield "last_byte_missing", GOOD[:-1], r"cut short or damaged"
    yield "trailing_bytes", GOOD + b"x", r"cut short or damaged"
    yield "bit_flip_in_data", GOOD.replace(bytes(16), bytes(7) + b"\x01" + bytes(8), 1), r"data/0.*checksum"
    yield "bit_flip_in_pickle", GOOD.replace(b"storage", b"storagf", 1), r"data.pkl.*checksum"
    yield "wrong_checksum", archive(program(tensor()), crc={"data/0": 0xDEADBEEF}), r"data/0.*checksum.*deadbeef"
    yield "no_pickle", zipped({"other": b"x"}), r"data\.pkl"
    yield "torchscript", zipped({"constants.pkl": b"x", "data.pkl": b"N."}), r"TorchScript"
    yield "empty_archive", zipped({})[:0] + b"PK\x03\x04" + zipped({}), r"data\.pkl"
    yield "two_folders", zipped({"a/data.pkl": b"\x80\x02N.", "b/x": b""}, prefix=""), r"outside the folder"
    yield "encrypted", zipped({"data.pkl": b"\x80\x02N."}, flags=1), r"encrypted"
    yield "method_12", zipped({"data.pkl": b"\x80\x02N."}, method=12), r"method 12"
    yield "deflate_of_garbage", zipped({"data.pkl": b"\xff\xff\xff"}, method=8), r"does not unpack"
    yield "size_beyond_file", archive(program(tensor()), sizes={"data/0": 1 << 30}), r"data/0.*1,073,741,824"
    yield "size_overlaps_next", archive(program(tensor()), sizes={"data/0": 40}), r"does not end before|damaged"
    yield "offset_beyond_file", archive(program(tensor()), at={"data/0": 1 << 30}), r"data/0.*does not end before"
    yield "offset_of_another", archive(program(tensor()), at={"data/0": 0}), r"does not end before|no valid header"
    yield "zip64_without_field", archive(program(tensor()), sizes={"data/0": 0xFFFFFFFF}), r"zip64"
    doubled = zipped({"data.pkl": b"\x80\x02N.", "data.pk1": b"\x80\x02N."}).replace(b"data.pk1", b"data.pkl")
    yield "record_twice", doubled, r"data\.pkl.*twice"
    lying = bytearray(GOOD)
    lying[-14:-10] = struct.pack("<2H", 60000, 60000)
    yield "record_count", bytes(lying), r"60,000 records"
    lying = bytearray(GOOD)
    lying[-6:-2] = struct.pack("<I", len(GOOD))
    yield "directory_beyond_file", bytes(lying), r"directory"
    yield "name_not_utf8", GOOD.replace(b"archive/version", b"archive/v\xffrsion"), r"UTF-8"
    machine = zlib.compressobj(9, zlib.DEFLATED, -15)
    bomb = machine.compress(bytes(50_000_000)) + machine.flush()
    yield "bomb", zipped({"data.pkl": bomb}, method=8, sizes={"data.pkl": len(bomb)}), r"does not unpack"
    yield "bad_byteorder", zipped({"data.pkl": b"\x80\x02N.", "byteorder": b"middle"}), r"'middle'"


def tensors() -> Iterator[Case]:
    """Tensors that reach outside their storage, or are none."""

    def case(label: str, body: bytes, pattern: str, **options: object) -> Case:
        return label, archive(program(body), **options), pattern  # type: ignore[arg-type]

    yield case("size_too_large", tensor(size=(5,)), r"needs 5 elements.*has 4")
    yield case("stride_too_large", tensor(size=(2,), stride=(4,)), r"strides \(4\).*needs 5 elements")
    yield case("offset_too_large", tensor(offset=1), r"offset 1.*needs 5")
    yield case("offset_beyond_empty", tensor(offset=100, size=(0,)), r"offset 100")
    yield case("offset_negative", tensor(offset=-1), r"offset.*-1")
    yield case("size_negative", tensor(size=(-1,)), r"sizes.*-1")
    yield case("stride_negative", tensor(stride=(-1,)), r"strides.*-1")
    yield case("size_huge", tensor(size=(2**62,)), r"needs 4,611,686,018,427,387,904")
    yield case("size_overflows", tensor(size=(2**40, 2**40), stride=(0, 0)), r"63 bits")
    yield case("offset_overflows", tensor(offset=2**63 - 1), r"needs 9,223")
    yield case("integer_of_8000_bits", tensor(offset=2**2000), r"integer of 2001 bits")
    yield case("integer_of_40000_bits", tensor(offset=2**2020 - 1), r"integer of 2020 bits")
    yield case("count_of_2000_bits", tensor(storage(count=2**2000)), r"integer of 2001 bits elements")
    many = (1,) * 70
    yield case("rank_70", tensor(size=many, stride=many), r"70 dimensions")
    yield case("ranks_differ", tensor(size=(2, 2)), r"one for each dimension")
    yield case("size_is_text", REBUILD + b"(" + storage() + b"K\0" + text("ab") + numbers((1,)) + b"\x89" + ODICT + b"tR", r"sizes.*'ab'")  # fmt: skip
    yield case(
        "size_is_float", REBUILD + b"(" + storage() + b"K\0(G?\xf0\0\0\0\0\0\0tK\x01\x85\x89" + ODICT + b"tR", r"sizes"
    )
    yield case("grad_is_none", tensor(grad=b"N"), r"requires_grad.*None")
    yield case(
        "grad_of_integers", tensor(storage("LongStorage", count=2), size=(2,), grad=b"\x88"), r"int64 cannot require"
    )
    yield case("storage_is_none", tensor(b"N"), r"takes a storage.*None")
    yield case("storage_is_a_tensor", tensor(tensor()), r"takes a storage")
    yield case(
        "hooks_are_missing", REBUILD + b"(" + storage() + b"K\0K\x04\x85K\x01\x85tR", r"does not take the arguments"
    )
    yield case("count_beyond_record", tensor(storage(count=5)), r'declares 20 bytes.*record "archive/data/0" has 16')
    yield case("count_below_record", tensor(storage(count=3), size=(3,)), r"declares 12 bytes.*has 16")
    yield case("count_negative", tensor(storage(count=-4)), r"-4 elements")
    yield case("count_huge", tensor(storage(count=2**60)), r"declares 4,6.*has 16")
    yield case("no_record", tensor(storage(key="7")), r'"7", but has no record')
    yield case("path_as_key", tensor(storage(key="../data.pkl")), r"no record")
    yield case(
        "two_sizes_of_one_key",
        b"(" + tensor() + tensor(storage("DoubleStorage", count=4)) + b"t",
        r'"0" with 4 elements of 8',
    )
    yield case("unknown_storage", tensor(storage("EvilStorage")), r"torch\.EvilStorage")
    yield case("unknown_location", tensor(storage(location="moon")), r"'moon'")
    yield case("storage_in_another_module", tensor(storage(module="os")), r"os\.FloatStorage")
    yield case("unknown_dtype", name("torch", "float33"), r"torch\.float33")
    v3 = name("torch._utils", "_rebuild_tensor_v3") + b"(" + storage("UntypedStorage", count=16, module="torch.storage")
    yield case(
        "v3_without_dtype", v3 + b"K\0K\x08\x85K\x01\x85\x89" + ODICT + text("float16") + b"tR", r"dtype.*'float16'"
    )
    yield case(
        "v3_too_large",
        v3 + b"K\0K\x09\x85K\x01\x85\x89" + ODICT + name("torch", "uint16") + b"tR",
        r"needs 9 elements of uint16",
    )
    yield case("metadata", tensor()[:-2] + b"}" + text("evil") + b"\x88stR", r"'conj' and 'neg'")
    from_type = name("torch._tensor", "_rebuild_from_type_v2")
    yield case("subclass_of_int", from_type + b"(" + REBUILD + name("torch", "float32") + b")NtR", r"tensor class")
    yield case(
        "builder_is_a_class",
        from_type + b"(" + name("torch", "Tensor") + name("torch", "Tensor") + b")NtR",
        r"builds tensors",
    )
    inner = tensor()
    args = inner[len(REBUILD) : -1]
    state = b"}" + text("__class__") + b"Ns"
    yield case(
        "attribute_is_reserved",
        from_type + b"(" + REBUILD + name("torch", "Tensor") + args + state + b"tR",
        r"'__class__'",
    )
    state = b"}" + text("data") + b"Ns"
    yield case(
        "attribute_is_a_method", from_type + b"(" + REBUILD + name("torch", "Tensor") + args + state + b"tR", r"'data'"
    )
    meta = name("torch._utils", "_rebuild_meta_tensor_no_storage") + b"(" + name("torch", "float32")
    yield case("meta_negative", meta + numbers((-3,)) + numbers((1,)) + b"\x89tR", r"-3")
    yield case(
        "parameter_of_text",
        name("torch._utils", "_rebuild_parameter") + b"(" + text("x") + b"\x88" + ODICT + b"tR",
        r"takes a tensor",
    )
    yield case("layout", name("torch.serialization", "_get_layout") + text("torch.load") + b"\x85R", r"not a layout")


def pickles() -> Iterator[Case]:
    """Pickles that try to run code, to exhaust memory or stack, or are malformed."""

    def case(label: str, body: bytes, pattern: str) -> Case:
        return label, archive(body), pattern

    for module, attribute in [("os", "system"), ("posix", "system"), ("builtins", "eval"), ("__builtin__", "exec"), ("subprocess", "Popen"),
                              ("builtins", "getattr"), ("torch.hub", "load"), ("torch", "load"), ("flambeau", "save"), ("torch._C", "__loader__"),
                              ("torch._utils", "_rebuild_tensor_v2.__globals__"), ("collections", "OrderedDict.__init__")]:  # fmt: skip
        call = program(name(module, attribute), text("echo gotcha"), b"\x85R")
        yield case(f"call_{module}_{attribute}", call, r"not on the allow-list")
        modern = b"\x80\x04" + text(module) + text(attribute) + b"\x93" + text("x") + b"\x85R."
        yield case(f"stack_global_{module}_{attribute}", modern, r"not on the allow-list")
    yield case("inst", b"\x80\x02(ios\nsystem\n.", r"0x69 \(INST\)")
    yield case("obj", b"\x80\x02(" + name("collections", "OrderedDict") + b"o.", r"0x6f \(OBJ\)")
    yield case("ext1", b"\x80\x02\x82\x01.", r"0x82 \(EXT1\)")
    yield case("persid_text", b"\x80\x02Pstorage\n.", r"0x50 \(PERSID\)")
    yield case("unknown_opcode", b"\x80\x02\xff.", r"0xff")
    yield case("protocol_9", b"\x80\x09N.", r"protocol 9")
    yield case("empty", b"\x80\x02", r"STOP")
    yield case("nothing_on_the_stack", program(), r"not there|STOP")
    yield case("two_results", program(b"NN"), r"left on its stack")
    yield case("mark_left", program(b"(N"), r"left on its stack")
    yield case("no_mark", program(b"Nt") + bytes(20), r"not there")
    yield case("memo_missing", program(b"h\x05"), r"refers.*has not stored")
    yield case("long_memo_missing", program(b"j\xff\xff\xff\x7f"), r"refers.*has not stored")
    yield case("text_beyond_end", b"\x80\x02X\xff\xff\xff\x7fabc.", r"declares 2,147,483,647 bytes")
    yield case("bytes_beyond_end", b"\x80\x04\x8e" + b"\xff" * 7 + b"\x7fabc.", r"declares 9,223,372,036,854,775,807")
    yield case("long_beyond_end", b"\x80\x02\x8b\xff\xff\xff\x7fabc.", r"declares 2,147,483,647")
    yield case("text_not_utf8", program(b"X\x02\0\0\0\xff\xfe"), r"UTF-8")
    yield case("name_without_end", b"\x80\x02cos", r"ends inside the name")
    yield case("call_text", program(text("x") + b")R"), r"'x' is called")
    yield case("call_dtype", program(name("torch", "float32") + b")R"), r"is called")
    yield case("call_with_list", program(name("collections", "OrderedDict") + b"]R"), r"is called with")
    yield case("new_of_function", program(REBUILD + b")\x81"), r"classes of the allow-list")
    yield case("new_of_tensor", program(name("torch", "Tensor") + b")\x81"), r"classes of the allow-list")
    yield case(
        "build_on_function", program(REBUILD + b"}" + text("__defaults__") + b"Nsb"), r"state is set on a function"
    )
    yield case(
        "build_on_class",
        program(name("collections", "OrderedDict") + b"N}" + text("x") + b"Ns\x86b"),
        r"state is set on",
    )
    yield case("build_on_tensor", program(tensor() + b"}b"), r"state is set on a Tensor")
    yield case("build_with_list", program(ODICT + b"]b"), r"state of an OrderedDict")
    yield case("append_to_dict", program(b"}Na"), r"only lists")
    yield case("set_in_list", program(b"]NNs"), r"only dicts")
    yield case("odd_items", program(b"}(Nu"), r"pairs")
    yield case("list_as_key", program(b"}]Ns"), r"key of a dict")
    yield case("dict_in_set", b"\x80\x04\x8f(}\x90.", r"key of a dict or an item of a set")
    deep = b")" + b"\x85" * 200_000
    yield case("deep_tuple_as_key", program(b"}" + deep + b"Ns"), r"nests tuples")
    yield case("deep_tuple_in_set", program(name("builtins", "set") + b"](" + deep + b"e\x85R"), r"nests tuples")
    doubling = b"Nq\x000" + b"h\0h\0\x86q\x000" * 30
    yield case("doubling_tuple_as_key", program(doubling + b"}h\0Ns"), r"nests tuples")
    yield case(
        "bytearray_of_length",
        program(name("builtins", "bytearray") + number(2**40) + b"\x85R"),
        r"bytearray does not take",
    )
    codec = text("x") + text("zlib_codec") + b"\x86R"
    yield case("codec", program(name("_codecs", "encode") + codec), r"zlib_codec")
    yield case("set_of_number", program(name("builtins", "set") + number(5) + b"\x85R"), r"made of a list")
    yield case("complex_of_text", program(name("builtins", "complex") + text("1j") + b"\x85R"), r"two numbers")
    yield case("size_of_text", program(name("torch", "Size") + text("ab") + b"\x85\x85R"), r"torch\.Size does not take")
    yield case(
        "device_of_text", program(name("torch", "device") + text("moon") + b"\x85R"), r"torch\.device does not take"
    )
    yield case("persistent_text", program(text("x") + b"Q"), r"persistent id.*'x'")
    yield case("persistent_module", program(b"(" + text("module") + b"NNNNtQ"), r"persistent id")
    yield case(
        "persistent_kind",
        program(b"(" + text("storage") + b"N" + text("0") + text("cpu") + b"K\x04tQ"),
        r"storage class",
    )


def legacy() -> Iterator[Case]:
    """Damage to the format from before zip."""
    magic = pickle.dumps(0x1950A86A20F9469CFC6C, 2)
    version = pickle.dumps(1001, 2)
    facts = pickle.dumps({"little_endian": True, "protocol_version": 1001, "type_sizes": {}}, 2)
    old_storage = storage()[:-2] + b"NtQ"
    keys = program(b"]" + text("0") + b"a")
    good = magic + version + facts + program(tensor(old_storage)) + keys + struct.pack("<q", 4) + bytes(16)
    yield "legacy_cut", good[:-1], r"15 bytes are left"
    yield "legacy_no_data", good[:-24], r"cut short"
    yield "legacy_count", good[:-24] + struct.pack("<q", 5) + bytes(20), r"must have 4 elements.*5 are declared"
    yield "legacy_version", magic + pickle.dumps(1002, 2), r"version 1002"
    yield "legacy_ends", magic + version, r"STOP|ends"
    yield "legacy_facts", magic + version + pickle.dumps([1], 2), r"byte order"
    no_keys = magic + version + facts + program(tensor(old_storage)) + program(b"]")
    yield "legacy_no_keys", no_keys, r"'0' and has no elements"
    more = program(b"](" + text("0") + text("1") + b"e")
    yield (
        "legacy_more_keys",
        magic + version + facts + program(tensor(old_storage)) + more + struct.pack("<q", 4) + bytes(16),
        r"'1', which nothing uses",
    )
    huge = storage(count=2**50)[:-2] + b"NtQ"
    yield "legacy_huge", magic + version + facts + program(tensor(huge)) + keys, r"declares 4,503,599,627,370,496 bytes"
    yield (
        "legacy_code",
        magic + version + facts + program(name("os", "system") + text("x") + b"\x85R") + keys,
        r"os\.system",
    )
    view = storage()[:-2] + b"(" + text("v") + b"K\0K\x01ttQ"
    yield "legacy_view", magic + version + facts + program(tensor(view)) + keys, r"torch 0\.1"


def all_cases() -> list[Case]:
    return [*containers(), *tensors(), *pickles(), *legacy()]


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for label, content, _ in all_cases():
        (folder / f"{label.replace('.', '_')}.pt").write_bytes(content)
    print(f"{len(all_cases())} files in {folder}")
