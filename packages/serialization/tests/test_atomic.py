"""A file at a path is the old one or the new one, never half of one."""

import os
import signal
import subprocess
import sys
import textwrap

import flambeau
import pytest
from flambeau.serialization import _save, safetensors


def test_a_writer_that_is_killed_leaves_the_old_file_whole(tmp_path):
    path = tmp_path / "model.pt"
    flambeau.save({"version": 1}, path)
    script = textwrap.dedent(
        f"""
        import os, signal
        import flambeau
        from flambeau.serialization import _zip_writer
        put = _zip_writer.ZipWriter._put
        def dying(self, data):
            put(self, bytes(data)[: len(data) // 2])
            if self._position > 2000:
                os.kill(os.getpid(), signal.SIGKILL)
        _zip_writer.ZipWriter._put = dying
        flambeau.save({{"version": 2, "data": flambeau.tensor([0.0] * 5000)}}, {str(path)!r})
        """
    )
    died = subprocess.run([sys.executable, "-c", script], check=False, timeout=120)
    assert died.returncode == -signal.SIGKILL
    assert flambeau.load(path) == {"version": 1}


def test_a_write_that_fails_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    path = tmp_path / "model.pt"
    flambeau.save(1, path)

    def fail(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_save, "_write_archive", fail)
    with pytest.raises(OSError, match="No space"):
        flambeau.save(2, path)
    assert flambeau.load(path) == 1
    assert os.listdir(tmp_path) == ["model.pt"]


def test_links_keep_pointing_and_permissions_stay(tmp_path):
    real, link = tmp_path / "real.pt", tmp_path / "link.pt"
    flambeau.save(1, real)
    real.chmod(0o640)
    link.symlink_to(real)
    flambeau.save(2, link)
    assert link.is_symlink()
    assert flambeau.load(real) == 2
    assert real.stat().st_mode & 0o777 == 0o640


def test_devices_are_written_directly():
    flambeau.save([1] * 1000, os.devnull)
    assert os.path.exists(os.devnull)


def test_paths_that_cannot_be_written(tmp_path):
    with pytest.raises(RuntimeError, match=r"Parent directory .*nowhere does not exist"):
        flambeau.save(1, tmp_path / "nowhere" / "model.pt")
    with pytest.raises(IsADirectoryError):
        flambeau.save(1, tmp_path)


def test_a_relative_path_is_written_where_it_points(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    flambeau.save(3, "model.pt")
    assert flambeau.load("model.pt") == 3


def test_safetensors_are_atomic_too(tmp_path):
    path = tmp_path / "model.safetensors"
    safetensors.save_file({"a": flambeau.tensor([1.0])}, path)
    with pytest.raises(Exception, match=r"(?i)metadata|str"):
        safetensors.save_file({"a": flambeau.tensor([2.0])}, path, metadata={"n": 3})
    assert safetensors.load_file(path)["a"].tolist() == [1.0]
    assert os.listdir(tmp_path) == ["model.safetensors"]
