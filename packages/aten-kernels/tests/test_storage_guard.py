"""Kernels only ever see tensors whose memory is there: storages shrunk by hand, and devices that do not mix."""

import flambeau
import pytest


@pytest.fixture
def shrunk() -> flambeau.Tensor:
    x = flambeau.ones(1000)
    x.untyped_storage().resize_(0)
    return x


@pytest.mark.parametrize(
    "use",
    [
        lambda x: x + 1,
        lambda x: x.sum(),
        lambda x: x.clone(),
        lambda x: x @ x,
        lambda x: x.fill_(1),
        lambda x: x.mul_(2),
        lambda x: x.sort(),
        lambda x: x[3],
        lambda x: x.tolist(),
        lambda x: x.view(10, 100),
        lambda x: memoryview(x),
        lambda x: flambeau.cat([x, x]),
        lambda x: flambeau.add(flambeau.ones(1000), 1, out=x),
        lambda x: flambeau.ones(1000).copy_(x),
        lambda x: x.uniform_(),
    ],
)
def test_a_tensor_past_the_end_of_its_storage_is_refused(shrunk, use):
    with pytest.raises(RuntimeError, match="storage"):
        use(shrunk)


def test_geometry_of_a_shrunk_tensor_is_still_there(shrunk):
    assert flambeau.empty_like(shrunk).shape == shrunk.shape == (1000,)
    shrunk.untyped_storage().resize_(4000)
    assert shrunk.fill_(2).sum() == 2000


@pytest.mark.parametrize(
    "use",
    [
        lambda a, m: a[m.long()],
        lambda a, m: flambeau.mm(a.view(1, 3), m.view(3, 1)),
        lambda a, m: flambeau.mm(m.view(1, 3), a.view(3, 1)),
        lambda a, m: a + m[0],
        lambda a, m: flambeau.embedding(a.view(3, 1), m.long()),
        lambda a, m: flambeau.batch_norm(a.view(1, 3, 1), m, m, None, None, True, 0.1, 1e-5, False),
    ],
)
def test_memory_and_meta_do_not_mix(use):
    with pytest.raises(RuntimeError, match="same device"):
        use(flambeau.ones(3), flambeau.empty(3, device="meta"))


def test_copies_into_meta_tensors_have_nothing_to_do():
    a, m = flambeau.ones(3), flambeau.empty(3, device="meta")
    assert m.copy_(a) is m
    with pytest.raises(NotImplementedError, match="no data"):
        a.copy_(m)
