"""Datasets, samplers and collation."""

import collections

import flambeau
import pytest
from flambeau.utils import data


class Letters(data.IterableDataset):
    def __init__(self, text):
        self.text = text

    def __iter__(self):
        return iter(self.text)

    def __len__(self):
        return len(self.text)


# ---- datasets


def test_tensor_dataset_gives_rows():
    ds = data.TensorDataset(flambeau.arange(6).reshape(3, 2), flambeau.tensor([7, 8, 9]))
    x, y = ds[1]
    assert x.tolist() == [2, 3]
    assert y.item() == 8
    assert len(ds) == 3
    with pytest.raises(AssertionError, match="Size mismatch"):
        data.TensorDataset(flambeau.zeros(2), flambeau.zeros(3))


def test_shared_list_gives_what_was_put_in():
    items = [{"a": [1, 2]}, "text", None, (3, b"x")]
    shared = data.SharedList(items)
    assert [shared[i] for i in range(len(shared))] == items
    assert shared[-1] == items[-1]
    assert shared[0] is not shared[0]
    for i in (4, -5):
        with pytest.raises(IndexError, match=f"{i} is out of range for 4"):
            shared[i]
    assert len(data.SharedList([])) == 0


def test_stack_dataset_gives_tuples_or_dicts():
    assert data.StackDataset([1, 2], "ab")[1] == (2, "b")
    named = data.StackDataset(n=[1, 2], c="ab")
    assert named[0] == {"n": 1, "c": "a"}
    assert named.__getitems__([1, 0]) == [{"n": 2, "c": "b"}, {"n": 1, "c": "a"}]
    for bad in (lambda: data.StackDataset(), lambda: data.StackDataset([1], a=[1]), lambda: data.StackDataset([1], [])):
        with pytest.raises(ValueError):
            bad()


def test_concat_dataset_counts_through_its_parts():
    ds = data.Subset("abc", [0, 1, 2]) + data.Subset("de", [1, 0])
    assert [ds[i] for i in range(len(ds))] == list("abced")
    assert ds[-1] == "d"
    assert ds.cumulative_sizes == [3, 5]
    with pytest.raises(ValueError, match="absolute value"):
        ds[-6]
    with pytest.raises(AssertionError, match="IterableDataset"):
        data.ConcatDataset([Letters("a")])


def test_chain_dataset_follows_its_parts():
    chained = Letters("ab") + Letters("c")
    assert list(chained) == list("abc")
    assert len(chained) == 3


def test_subset_passes_whole_batches_on():
    class Many(data.Dataset):
        def __getitems__(self, indices):
            return [f"many {i}" for i in indices]

    assert data.Subset(Many(), [5, 6, 7]).__getitems__([0, 2]) == ["many 5", "many 7"]


def test_random_split_gives_the_parts_of_torch():
    flambeau.manual_seed(3)
    parts = data.random_split(range(10), [0.3, 0.3, 0.4])
    assert [list(p.indices) for p in parts] == [[6, 0, 3], [7, 8, 5], [1, 9, 2, 4]]
    assert [len(p) for p in data.random_split(range(10), [0.35, 0.35, 0.3])] == [4, 3, 3]
    with pytest.raises(ValueError, match="sum up to 6, the dataset has 10"):
        data.random_split(range(10), [3, 3])
    with pytest.raises(ValueError, match="index 1"):
        data.random_split(range(10), [0.5, -0.1, 0.6])


def test_a_dataset_without_items_says_so():
    with pytest.raises(NotImplementedError, match="__getitem__"):
        data.Dataset()[0]


# ---- samplers: orders recorded from torch 2.13.0 with the seed 3


def seeded(sampler):
    flambeau.manual_seed(3)
    return list(sampler)


def test_samplers_give_the_orders_of_torch():
    assert seeded(data.SubsetRandomSampler([5, 7, 9, 11])) == [9, 11, 7, 5]
    assert seeded(data.RandomSampler(range(4), num_samples=10)) == [3, 1, 0, 2, 3, 0, 2, 1, 0, 1]
    drawn = seeded(data.RandomSampler(range(10), True, 40))
    assert drawn[:12] == [7, 8, 5, 1, 8, 6, 2, 2, 3, 9, 8, 6]
    assert drawn[30:] == [1, 5, 3, 3, 7, 4, 3, 6, 0, 9]


def test_weighted_sampler_gives_the_draws_of_torch():
    weights = [1.0, 0.0, 3.0, 2.0]
    assert seeded(data.WeightedRandomSampler(weights, 12)) == [0, 2, 3, 2, 3, 2, 2, 2, 2, 3, 2, 2]
    assert seeded(data.WeightedRandomSampler([1.0, 0.5, 3.0, 2.0], 4, False)) == [0, 3, 2, 1]


def test_distributed_sampler_gives_the_shares_of_torch():
    shares = []
    for rank in range(3):
        sampler = data.DistributedSampler(range(10), 3, rank, seed=1)
        sampler.set_epoch(2)
        shares.append(list(sampler))
    assert shares == [[6, 7, 1, 4], [0, 8, 9, 6], [3, 5, 2, 0]]
    straight = data.DistributedSampler(range(10), 3, 1, shuffle=False, drop_last=True)
    assert list(straight) == [1, 4, 7]
    assert len(straight) == 3
    assert list(data.DistributedSampler(range(2), 5, 4, shuffle=False)) == [0]
    with pytest.raises(ValueError, match=r"rank 3, .*\[0, 2\]"):
        data.DistributedSampler(range(10), 3, 3)


@pytest.mark.parametrize(
    ("drop_last", "expected"), [(False, [[0, 1, 2], [3, 4, 5], [6]]), (True, [[0, 1, 2], [3, 4, 5]])]
)
def test_batch_sampler(drop_last, expected):
    sampler = data.BatchSampler(data.SequentialSampler(range(7)), 3, drop_last)
    assert list(sampler) == expected
    assert len(sampler) == len(expected)


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: data.RandomSampler(range(3), num_samples=0), ValueError, "num_samples=0"),
        (lambda: data.RandomSampler(range(3), replacement=1), TypeError, "replacement=1"),
        (lambda: data.RandomSampler([]), ValueError, "num_samples=0"),
        (lambda: data.WeightedRandomSampler([1, 2], 0), ValueError, "num_samples=0"),
        (lambda: data.WeightedRandomSampler([[1, 2]], 1), ValueError, r"\(1, 2\)"),
        (lambda: data.WeightedRandomSampler([1, 2], 1, 3), ValueError, "replacement=3"),
        (lambda: data.BatchSampler([1], 0, False), ValueError, "batch_size=0"),
        (lambda: data.BatchSampler([1], 1, 3), ValueError, "drop_last=3"),
    ],
)
def test_a_bad_option_of_a_sampler_is_refused_by_name(make, error, words):
    with pytest.raises(error, match=words):
        make()


# ---- collation

Pair = collections.namedtuple("Pair", "a b")


def same(x, y):
    if isinstance(x, flambeau.Tensor):
        return isinstance(y, flambeau.Tensor) and x.dtype == y.dtype and x.tolist() == y.tolist()
    if isinstance(x, dict):
        return type(x) is type(y) and x.keys() == y.keys() and all(same(x[k], y[k]) for k in x)
    if isinstance(x, (list, tuple)):
        return type(x) is type(y) and len(x) == len(y) and all(map(same, x, y))
    return x == y


@pytest.mark.parametrize(
    ("batch", "expected"),
    [
        ([1, 2], flambeau.tensor([1, 2])),
        ([1.0, 2.0], flambeau.tensor([1.0, 2.0], dtype=flambeau.float64)),
        ([True, False], flambeau.tensor([True, False])),
        (["a", "b"], ["a", "b"]),
        ([flambeau.ones(2), flambeau.zeros(2)], flambeau.tensor([[1.0, 1.0], [0.0, 0.0]])),
        ([(1, "x"), (2, "y")], [flambeau.tensor([1, 2]), ("x", "y")]),
        ([[1], [2]], [flambeau.tensor([1, 2])]),
        ([{"a": 1}, {"a": 2}], {"a": flambeau.tensor([1, 2])}),
        ([Pair(1, "x"), Pair(2, "y")], Pair(flambeau.tensor([1, 2]), ("x", "y"))),
        (
            [collections.OrderedDict(a=[1, 2])] * 2,
            collections.OrderedDict(a=[flambeau.tensor([1, 1]), flambeau.tensor([2, 2])]),
        ),
        ([[], []], []),
    ],
    ids=str,
)
def test_default_collate(batch, expected):
    assert same(data.default_collate(batch), expected)


def test_default_collate_of_numpy():
    numpy = pytest.importorskip("numpy")
    assert data.default_collate([numpy.zeros(2), numpy.ones(2)]).tolist() == [[0, 0], [1, 1]]
    scalars = data.default_collate([numpy.float32(1), numpy.float32(2)])
    assert scalars.dtype == flambeau.float32
    assert scalars.tolist() == [1.0, 2.0]
    with pytest.raises(TypeError, match="<U1"):
        data.default_collate([numpy.array("a")])
    converted = data.default_convert({"a": numpy.zeros(2), "b": [1, numpy.float32(2)], "c": "s"})
    assert converted["a"].dtype == flambeau.float64
    assert converted["b"][1].item() == 2.0


@pytest.mark.parametrize(
    ("batch", "error", "words"),
    [
        ([None], TypeError, "NoneType"),
        ([{1}], TypeError, "set"),
        ([[1], [2, 3]], RuntimeError, "equal size"),
        ([flambeau.zeros(2), flambeau.zeros(3)], RuntimeError, "stack"),
    ],
)
def test_what_cannot_be_collated_is_named(batch, error, words):
    with pytest.raises(error, match=words):
        data.default_collate(batch)


def test_collate_takes_rules_for_other_types():
    from flambeau.utils.data._utils.collate import collate, default_collate_fn_map

    def count(batch, *, collate_fn_map=None):
        return len(batch)

    rules = {set: count, **default_collate_fn_map}
    assert same(collate([({1}, 2), ({3}, 4)], collate_fn_map=rules), [2, flambeau.tensor([2, 4])])
