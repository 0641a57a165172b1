"""Random damage to good files: an exception of the known kinds, or a load; never anything else."""

import io
import os
import pickle
import subprocess
import sys
from pathlib import Path

import flambeau
import pytest
from flambeau import serialization
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from samples import assert_same, checkpoint, saved

EXPECTED = (RuntimeError, pickle.UnpicklingError, EOFError)
HERE = Path(__file__).parent


def files():
    state = checkpoint()
    serialization.set_crc32_options(False)
    try:
        unchecked = saved(state).getvalue()
        return [
            unchecked,
            saved(state, pickle_protocol=4).getvalue(),
            saved(state, _use_new_zipfile_serialization=False).getvalue(),
        ]
    finally:
        serialization.set_crc32_options(True)


FILES = files()


@st.composite
def damaged(draw):
    """A good file with bytes changed, removed, repeated or inserted; without checksums, so that damage goes deep."""
    data = bytearray(FILES[draw(st.integers(0, len(FILES) - 1))])
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(data) - 1))
        kind = draw(st.integers(0, 4))
        if kind == 0:
            data[at] = draw(st.integers(0, 255))
        elif kind == 1:
            del data[at : at + draw(st.integers(1, 64))]
        elif kind == 2:
            data[at:at] = draw(st.binary(min_size=1, max_size=16))
        elif kind == 3:
            data[at : at + 4] = draw(
                st.sampled_from([b"\xff" * 4, b"\0" * 4, b"\x7f\xff\xff\xff", b"\xff\xff\xff\x7f"])
            )
        else:
            length = draw(st.integers(1, 64))
            data[at:at] = data[at : at + length]
        if not data:
            break
    return bytes(data)


def load_or_refuse(data):
    try:
        flambeau.load(io.BytesIO(data))
    except EXPECTED as error:
        assert str(error)


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(damaged())
def test_damaged_files(data):
    load_or_refuse(data)


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.binary(max_size=200))
def test_random_pickles(body):
    import hostile

    load_or_refuse(hostile.archive(b"\x80\x02" + body + b"."))


OPCODES = [bytes([code]) for code in b"N()]}tesua0212QRb\x81\x85\x86\x87\x88\x89\x8f\x90\x91\x93\x94"]


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_random_programs_of_valid_opcodes(data):
    import hostile

    pieces = [
        *OPCODES,
        hostile.text("storage"),
        hostile.text("0"),
        hostile.text("cpu"),
        hostile.number(4),
        hostile.number(-1),
        hostile.ODICT,
        hostile.REBUILD,
        hostile.storage(),
        hostile.tensor(),
        hostile.name("torch", "FloatStorage"),
        hostile.name("torch", "Tensor"),
        hostile.name("torch", "float32"),
        hostile.name("torch._tensor", "_rebuild_from_type_v2"),
        hostile.name("collections", "Counter"),
        b"q\x00",
        b"h\x00",
        b"K\x02",
    ]
    program = b"".join(data.draw(st.lists(st.sampled_from(pieces), max_size=30)))
    load_or_refuse(hostile.archive(hostile.program(program)))


@pytest.mark.slow
def test_no_hostile_file_ends_the_process(tmp_path):
    import hostile

    for number, (_, content, _) in enumerate(hostile.all_cases()):
        (tmp_path / f"{number}.pt").write_bytes(content)
    script = (
        "import sys, os, pickle, flambeau\n"
        "for name in sorted(os.listdir(sys.argv[1])):\n"
        "    for options in ({}, {'mmap': True}, {'map_location': 'meta'}):\n"
        "        try: flambeau.load(os.path.join(sys.argv[1], name), **options)\n"
        "        except (RuntimeError, pickle.UnpicklingError): pass\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)],
        env=os.environ,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_no_flipped_bit_changes_what_is_loaded():
    before = checkpoint()
    good = saved(before).getvalue()
    for at in range(len(good)):
        bad = bytearray(good)
        bad[at] ^= 1 << at % 8
        try:
            after = flambeau.load(io.BytesIO(bytes(bad)))
        except EXPECTED:
            continue
        assert_same(before, after, f"byte {at}")
