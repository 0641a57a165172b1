"""Nested containers taken apart and put together."""

import collections

import pytest
from flambeau.utils import _pytree as pytree

Pair = collections.namedtuple("Pair", "p q")
TREE = {"b": [1, (2, None)], "a": collections.OrderedDict(x=Pair(3, [4]))}


def test_leaves_come_in_order_and_go_back():
    leaves, spec = pytree.tree_flatten(TREE)
    assert leaves == [1, 2, None, 3, 4]
    assert pytree.tree_unflatten(leaves, spec) == TREE
    assert type(pytree.tree_unflatten(leaves, spec)["a"]["x"]) is Pair
    assert (spec.num_leaves, spec.num_children) == (5, 2)
    with pytest.raises(ValueError, match="length 1 .* 5"):
        pytree.tree_unflatten([1], spec)


def test_map_over_trees():
    assert pytree.tree_map(lambda a, b: (a, b), [1, {"x": 2}], [3, {"x": [4]}]) == [(1, 3), {"x": (2, [4])}]
    assert pytree.tree_map_only(int, lambda x: x + 1, [1, "a", 2.5]) == [2, "a", 2.5]
    with pytest.raises(ValueError, match="expected 2, but got 1"):
        pytree.tree_map(lambda a, b: 0, [1, 2], [1])
    with pytest.raises(ValueError, match="keys"):
        pytree.tree_map(lambda a, b: 0, {"a": 1}, {"b": 1})


def test_paths():
    paths = [pytree.keystr(path) for path, _ in pytree.tree_leaves_with_path(TREE)]
    assert paths == ["['b'][0]", "['b'][1][0]", "['b'][1][1]", "['a']['x'].p", "['a']['x'].q[0]"]
    assert [pytree.key_get(TREE, path) for path, _ in pytree.tree_leaves_with_path(TREE)] == [1, 2, None, 3, 4]


def test_other_types_can_be_made_nodes():
    class Box:
        def __init__(self, x):
            self.x = x

    assert pytree.tree_leaves([Box(1)])[0].x == 1
    pytree.register_pytree_node(Box, lambda b: ([b.x], None), lambda c, _: Box(*c))
    try:
        assert pytree.tree_map(lambda v: v + 1, [Box([1])])[0].x == [2]
        with pytest.raises(ValueError, match="already registered"):
            pytree.register_pytree_node(Box, None, None)
    finally:
        del pytree.SUPPORTED_NODES[Box]
