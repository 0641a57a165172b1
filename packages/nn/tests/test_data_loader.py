"""The loader: orders, batches, streams, options; in this process and by workers."""

import random
import warnings

import flambeau
import pytest
from flambeau.utils import data
from flambeau.utils.data import DataLoader

NUMBERS = list(range(10))
WORKERS = [{}, {"num_workers": 2}, {"num_workers": 2, "persistent_workers": True}]


def values(loader):
    return [batch.tolist() for batch in loader]


class Stream(data.IterableDataset):
    """0 .. n - 1, shared out over the workers."""

    def __init__(self, n, length=None):
        self.n = n
        self.length = n if length is None else length

    def __len__(self):
        return self.length

    def __iter__(self):
        info = data.get_worker_info()
        first, step = (0, 1) if info is None else (info.id, info.num_workers)
        return iter(range(first, self.n, step))


@pytest.mark.parametrize("workers", WORKERS, ids=str)
def test_the_order_of_a_seed_is_that_of_torch(workers):
    flambeau.manual_seed(3)
    loader = DataLoader(NUMBERS, 4, shuffle=True, **workers)
    assert values(loader) == [[6, 2, 0, 1], [8, 3, 5, 4], [7, 9]]
    if not loader.persistent_workers:  # those draw no second seed
        assert values(loader) == [[3, 4, 0, 9], [6, 7, 1, 2], [5, 8]]
        assert flambeau.rand(1).item() == pytest.approx(0.5944212079048157)


@pytest.mark.parametrize("workers", WORKERS[:2], ids=str)
def test_the_order_of_a_generator_is_that_of_torch(workers):
    generator = flambeau.Generator().manual_seed(9)
    loader = DataLoader(NUMBERS, 4, shuffle=True, generator=generator, **workers)
    assert values(loader) == [[4, 6, 8, 1], [5, 2, 7, 9], [0, 3]]
    assert values(loader) == [[8, 7, 0, 2], [3, 1, 6, 9], [4, 5]]
    assert flambeau.rand(1, generator=generator).item() == pytest.approx(0.938154399394989)


def draw(i):
    info = data.get_worker_info()
    return info.id, info.seed, random.random(), flambeau.rand(()).item()


class Draws(data.Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, i):
        return draw(i)


def test_workers_draw_the_numbers_of_torch():
    flambeau.manual_seed(3)
    drawn = list(DataLoader(Draws(), None, num_workers=2))
    expected = [
        (0, 937055941807507096, 0.21793848432592644, 0.2876076102256775),
        (1, 937055941807507097, 0.09049729754573688, 0.7470175623893738),
        (0, 937055941807507096, 0.5235545516688277, 0.686290979385376),
        (1, 937055941807507097, 0.2920232533511594, 0.8290408253669739),
    ]
    for got, want in zip(drawn, expected, strict=True):
        assert got[:2] == list(want[:2])
        assert got[2:] == pytest.approx(want[2:], rel=1e-6)


@pytest.mark.parametrize("workers", WORKERS, ids=str)
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"batch_size": 4}, [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]),
        ({"batch_size": 4, "drop_last": True}, [[0, 1, 2, 3], [4, 5, 6, 7]]),
        ({"sampler": [3, 1, 1]}, [[3], [1], [1]]),
        ({"batch_sampler": [[9], [1, 2]]}, [[9], [1, 2]]),
    ],
)
def test_batches(workers, options, expected):
    loader = DataLoader(NUMBERS, **options, **workers)
    assert values(loader) == expected
    assert len(loader) == len(expected)
    assert values(loader) == expected


@pytest.mark.parametrize("workers", WORKERS, ids=str)
def test_samples_without_batches(workers):
    assert list(DataLoader(NUMBERS, None, **workers)) == NUMBERS


@pytest.mark.parametrize("workers", WORKERS, ids=str)
def test_tensor_datasets_are_gathered_as_if_row_by_row(workers):
    x = flambeau.arange(20.0).reshape(10, 2)
    ds = data.TensorDataset(x, flambeau.arange(10))
    inner = data.Subset(ds, [9, 8, 7, 0])
    for batch in DataLoader(inner, 2, **workers):
        assert isinstance(batch, list)
        assert batch[0].tolist() == [x[i].tolist() for i in batch[1].tolist()]
    first = next(iter(DataLoader(ds, 2, sampler=[-1, 3], **workers)))
    assert first[1].tolist() == [9, 3]
    with pytest.raises(IndexError, match="10"):
        list(DataLoader(ds, 2, sampler=[1, 10], **workers))


@pytest.mark.parametrize("workers", [{}, {"num_workers": 1}], ids=str)
def test_streams(workers):
    assert values(DataLoader(Stream(5), 2, **workers)) == [[0, 1], [2, 3], [4]]
    assert values(DataLoader(Stream(5), 2, drop_last=True, **workers)) == [[0, 1], [2, 3]]
    assert list(DataLoader(Stream(3), None, **workers)) == [0, 1, 2]


@pytest.mark.parametrize("persistent", [False, True])
def test_streams_are_shared_out_over_workers(persistent):
    loader = DataLoader(Stream(11), 2, num_workers=3, persistent_workers=persistent)
    for _ in range(3):
        batches = values(loader)
        assert sorted(v for b in batches for v in b) == list(range(11))
        assert batches[:3] == [[0, 3], [1, 4], [2, 5]]


def test_a_stream_longer_than_it_said_warns():
    loader = DataLoader(Stream(5, length=3), 1)
    assert len(loader) == 3
    with pytest.warns(UserWarning, match="reported to be 3"):
        assert len(list(loader)) == 5


def test_without_order_all_batches_come():
    loader = DataLoader(NUMBERS, 1, num_workers=2, in_order=False)
    assert sorted(values(loader)) == [[i] for i in NUMBERS]


def test_an_epoch_left_early_does_not_leak_into_the_next():
    loader = DataLoader(NUMBERS, 1, num_workers=2, persistent_workers=True)
    for _ in loader:
        break
    pids = loader._iterator._workers.pids
    assert values(loader) == [[i] for i in NUMBERS]
    assert loader._iterator._workers.pids == pids


def test_pin_memory_is_accepted_and_says_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(list(DataLoader(NUMBERS, 5, pin_memory=True))) == 2


def make(**options):
    return DataLoader(NUMBERS, **options)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"num_workers": -1}, ValueError, "num_workers"),
        ({"timeout": -1}, ValueError, "timeout"),
        ({"prefetch_factor": 2}, ValueError, "prefetch_factor"),
        ({"num_workers": 1, "prefetch_factor": -1}, ValueError, "prefetch_factor"),
        ({"persistent_workers": True}, ValueError, "persistent_workers"),
        ({"sampler": [1], "shuffle": True}, ValueError, "sampler"),
        ({"batch_sampler": [[1]], "batch_size": 2}, ValueError, "batch_sampler"),
        ({"batch_size": None, "drop_last": True}, ValueError, "drop_last"),
        ({"batch_size": 0}, ValueError, "batch_size=0"),
        ({"batch_size": 1.5}, ValueError, "batch_size=1.5"),
        ({"multiprocessing_context": "fork"}, ValueError, "num_workers=0"),
        ({"num_workers": 1, "multiprocessing_context": "x"}, ValueError, "'x'"),
        ({"num_workers": 1, "multiprocessing_context": 3}, TypeError, "=3"),
    ],
    ids=str,
)
def test_a_bad_option_is_refused_by_name(options, error, words):
    with pytest.raises(error, match=words):
        make(**options)


@pytest.mark.parametrize("option", [{"shuffle": True}, {"sampler": [1]}, {"batch_sampler": [[1]]}], ids=str)
def test_streams_take_no_order(option):
    with pytest.raises(ValueError, match=next(iter(option))):
        DataLoader(Stream(3), **option)


def test_what_the_batches_depend_on_is_fixed():
    loader = make(batch_size=2)
    for name in ("batch_size", "sampler", "dataset", "drop_last"):
        with pytest.raises(ValueError, match=f"{name} attribute"):
            setattr(loader, name, 3)
    loader.worker_init_fn = None


def test_worker_info_is_none_here_and_fixed_there():
    assert data.get_worker_info() is None
    info = data.WorkerInfo(1, 2, 3, None)
    with pytest.raises(RuntimeError, match="WorkerInfo"):
        info.id = 2
    assert repr(info).startswith("WorkerInfo(id=1, num_workers=2, seed=3")
