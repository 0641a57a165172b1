"""Every hostile file gives an exception that says what is wrong; none crashes, none loads."""

import io
import pickle
import re

import flambeau
import hostile
import pytest
from flambeau import serialization

CASES = hostile.all_cases()


@pytest.mark.parametrize(("label", "content", "pattern"), CASES, ids=[label for label, _, _ in CASES])
def test_hostile_files_are_refused_with_the_reason(label, content, pattern, tmp_path):
    path = tmp_path / "evil.pt"
    path.write_bytes(content)
    with pytest.raises((RuntimeError, pickle.UnpicklingError)) as caught:
        flambeau.load(path)
    message = str(caught.value)
    assert re.search(pattern, message, re.DOTALL), message
    assert len(message) < 1500
    with pytest.raises((RuntimeError, pickle.UnpicklingError)):
        flambeau.load(io.BytesIO(content))


def test_the_base_of_the_hostile_files_loads():
    assert flambeau.load(io.BytesIO(hostile.GOOD)).tolist() == [0.0] * 4


@pytest.mark.parametrize(
    ("label", "content", "pattern"), list(hostile.containers()), ids=[c[0] for c in hostile.containers()]
)
def test_damage_is_noticed_when_mapped_except_in_elements(label, content, pattern, tmp_path):
    path = tmp_path / "evil.pt"
    path.write_bytes(content)
    if label in ("bit_flip_in_data", "wrong_checksum"):
        flambeau.load(path, mmap=True)  # documented: checksums of elements are not compared
        return
    with pytest.raises(RuntimeError):
        flambeau.load(path, mmap=True)


def test_empty_and_missing_files(tmp_path):
    (tmp_path / "empty.pt").write_bytes(b"")
    for options in ({}, {"mmap": True}):
        with pytest.raises(EOFError, match=r"empty\.pt"):
            flambeau.load(tmp_path / "empty.pt", **options)
        with pytest.raises(FileNotFoundError):
            flambeau.load(tmp_path / "missing.pt", **options)
    with pytest.raises(EOFError):
        flambeau.load(io.BytesIO())


def test_what_is_no_file_is_refused():
    with pytest.raises(AttributeError, match=r"int.*seek"):
        flambeau.load(5)
    with pytest.raises(TypeError, match="text"):
        flambeau.load(io.StringIO("x"))

    class Pipe(io.BytesIO):
        def seek(self, *args):
            raise io.UnsupportedOperation("seek")

    with pytest.raises(io.UnsupportedOperation, match="BytesIO"):
        flambeau.load(Pipe())


def test_listing_names_survives_hostile_pickles():
    for _, content, _ in hostile.pickles():
        assert isinstance(serialization.get_unsafe_globals_in_checkpoint(io.BytesIO(content)), list)
