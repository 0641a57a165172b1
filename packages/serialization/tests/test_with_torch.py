"""Files go both ways between flambeau and torch. Runs where torch is installed (`nox -s oracle`)."""

import io

import flambeau
import pytest
from samples import ALL_DTYPES, checkpoint, from_bytes, raw, saved

torch = pytest.importorskip("torch")


def described(obj):
    """Types, values, geometry and sharing in words that are the same for both frameworks."""
    seen = {}

    def words(x):
        if isinstance(x, (torch.Tensor, flambeau.Tensor)):
            storage = x.untyped_storage()
            address = seen.setdefault(storage.data_ptr() if storage.nbytes() else id(storage), len(seen))
            dtype = str(x.dtype).rpartition(".")[2]
            return (type(x).__name__, dtype, tuple(x.shape), tuple(x.stride()), x.storage_offset(), x.requires_grad, address, repr(x.tolist()))  # fmt: skip
        if isinstance(x, dict):
            return (
                type(x).__name__,
                [(key, words(value)) for key, value in x.items()],
                words(getattr(x, "__dict__", None)),
            )
        if isinstance(x, (list, tuple)):
            return (type(x).__name__, [words(item) for item in x])
        if type(x).__module__.partition(".")[0] in ("torch", "flambeau"):
            return str(x).replace("flambeau", "torch")
        return (type(x).__name__, sorted(x) if isinstance(x, (set, frozenset)) else x)

    return words(obj)


@pytest.mark.parametrize("weights_only", [True, False])
@pytest.mark.parametrize("is_zip", [True, False])
def test_torch_reads_what_flambeau_writes(weights_only, is_zip):
    before = checkpoint()
    del before["fixed"]  # torch's restricted unpickler has no frozenset
    after = torch.load(saved(before, _use_new_zipfile_serialization=is_zip), weights_only=weights_only)
    assert described(after) == described(before)


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("is_zip", [True, False])
def test_flambeau_reads_what_torch_writes(protocol, is_zip):
    before = torch.load(saved(checkpoint()), weights_only=False)
    stream = io.BytesIO()
    torch.save(before, stream, pickle_protocol=protocol, _use_new_zipfile_serialization=is_zip)
    for weights_only in (True, False):
        stream.seek(0)
        assert described(flambeau.load(stream, weights_only=weights_only)) == described(before)


@pytest.mark.filterwarnings("ignore:ComplexHalf")
@pytest.mark.parametrize("dtype", ALL_DTYPES)
def test_every_dtype_goes_both_ways(dtype):
    data = bytes(range(1, 33)) if dtype != "bool" else bytes([0, 1] * 16)
    before = from_bytes(data, dtype, (1,), (1,), 1)
    there = torch.load(saved(before))
    assert str(there.dtype) == f"torch.{dtype}"
    assert bytes(there.untyped_storage()) == data
    stream = io.BytesIO()
    torch.save(there, stream)
    stream.seek(0)
    back = flambeau.load(stream)
    assert (back.dtype, back.storage_offset(), raw(back)) == (before.dtype, 1, data)


@pytest.mark.skipif(not hasattr(flambeau.Tensor, "conj_physical"), reason="needs flambeau-aten-kernels")
def test_conjugated_and_negated_views_of_torch_have_their_values():
    tensor = torch.tensor([1 + 2j, 3 - 4j])
    for before in (tensor.conj(), tensor.conj().imag):
        stream = io.BytesIO()
        torch.save(before, stream)
        stream.seek(0)
        assert flambeau.load(stream).tolist() == before.tolist()


def test_torch_maps_what_flambeau_writes(tmp_path):
    flambeau.save(checkpoint(), tmp_path / "model.pt")
    assert torch.load(tmp_path / "model.pt", mmap=True, weights_only=False)["epoch"] == 7


def test_safetensors_go_both_ways(tmp_path):
    from flambeau.serialization import safetensors

    library = pytest.importorskip("safetensors.torch")
    safetensors.save_file({"x": flambeau.tensor([1.5, 2.0], dtype=flambeau.bfloat16)}, tmp_path / "a")
    there = library.load_file(tmp_path / "a")
    assert (there["x"].dtype, there["x"].tolist()) == (torch.bfloat16, [1.5, 2.0])
    library.save_file(there, tmp_path / "b")
    assert safetensors.load_file(tmp_path / "b")["x"].tolist() == [1.5, 2.0]
