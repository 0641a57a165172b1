"""Nested containers as a list of leaves and a description of the nesting.

A node is an object of a registered type: tuple, list, dict, named tuple, OrderedDict, defaultdict,
deque, and what `register_pytree_node` adds. Everything else, None included, is a leaf. Leaves come
in the order of the containers; dicts keep the order of insertion.
"""

from __future__ import annotations

import types
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

PyTree = Any
Context = Any
IsLeaf = Callable[[Any], bool] | None


class MappingKey(NamedTuple):
    """A step of a path: an item of a mapping."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, parent: Any) -> Any:
        return parent[self.key]


class SequenceKey(NamedTuple):
    """A step of a path: an item of a sequence."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, parent: Any) -> Any:
        return parent[self.idx]


class GetAttrKey(NamedTuple):
    """A step of a path: a field."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, parent: Any) -> Any:
        return getattr(parent, self.name)


class NodeDef(NamedTuple):
    """How one type is taken apart and put together."""

    type: Any
    flatten_fn: Callable[[Any], tuple[list[Any], Context]]
    unflatten_fn: Callable[[Iterable[Any], Context], Any]
    flatten_with_keys_fn: Callable[[Any], tuple[list[tuple[Any, Any]], Context]] | None = None


SUPPORTED_NODES: dict[Any, NodeDef] = {}


def register_pytree_node(
    cls: type,
    flatten_fn: Callable[[Any], tuple[list[Any], Context]],
    unflatten_fn: Callable[[Iterable[Any], Context], Any],
    *,
    serialized_type_name: str | None = None,
    to_dumpable_context: Any = None,
    from_dumpable_context: Any = None,
    flatten_with_keys_fn: Any = None,
) -> None:
    """Make objects of `cls` nodes.

    Parameters
    ----------
    flatten_fn : object -> (children, context)
    unflatten_fn : (children, context) -> object
    flatten_with_keys_fn : object -> ([(key, child)], context), for paths; optional
    serialized_type_name, to_dumpable_context, from_dumpable_context : accepted, not used

    Raises
    ------
    ValueError  if `cls` is registered
    """
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is already registered as pytree node.")
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn)


_register_pytree_node = register_pytree_node


class TreeSpec:
    """The nesting of a tree.

    Attributes
    ----------
    type : of the container, `namedtuple` for all named tuples, None for a leaf
    context : what else the type needs to be put together
    """

    __slots__ = ("_children", "context", "num_children", "num_leaves", "num_nodes", "type")

    def __init__(self, type: Any, context: Context, children_specs: list[TreeSpec]) -> None:
        self.type = type
        self.context = context
        self._children = children_specs
        leaf = type is None
        self.num_nodes: int = 1 + sum(c.num_nodes for c in children_specs)
        self.num_leaves: int = 1 if leaf else sum(c.num_leaves for c in children_specs)
        self.num_children = len(children_specs)

    @property
    def children_specs(self) -> list[TreeSpec]:
        """The specs of the children."""
        return self._children

    def children(self) -> list[TreeSpec]:
        """The specs of the children."""
        return self._children

    def child(self, index: int) -> TreeSpec:
        """The spec of one child."""
        return self._children[index]

    def is_leaf(self) -> bool:
        """True for the spec of a leaf."""
        return self.type is None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TreeSpec):
            return NotImplemented
        if self.type is not other.type or self.num_children != other.num_children:
            return False
        return self.context == other.context and self._children == other._children

    def __hash__(self) -> int:
        return hash((self.type, self.num_nodes, self.num_leaves))

    def __repr__(self, indent: int = 0) -> str:
        if self.is_leaf():
            return "*"
        children = (",\n" + " " * (indent + 2)).join(c.__repr__(indent + 2) for c in self._children)
        return f"TreeSpec({self.type.__name__}, {self.context}, [{children}])"

    def flatten_up_to(self, tree: PyTree) -> list[Any]:
        """Return the subtrees of `tree` at the places of this spec's leaves.

        Raises
        ------
        ValueError  if `tree` is not nested as this spec, down to its leaves
        """
        out: list[Any] = []
        self._flatten_up_to(tree, out)
        return out

    def _flatten_up_to(self, tree: PyTree, out: list[Any]) -> None:
        if self.is_leaf():
            out.append(tree)
            return
        kind = _node_type(tree)
        if kind is not self.type and not {kind, self.type} <= {dict, OrderedDict, defaultdict}:
            raise ValueError(f"Node type mismatch; expected {self.type!r}, but got {type(tree)!r}.")
        children, context = SUPPORTED_NODES[kind].flatten_fn(tree)
        if len(children) != self.num_children:
            raise ValueError(f"Node arity mismatch; expected {self.num_children}, but got {len(children)}.")
        if isinstance(tree, dict):
            keys = self.context[1] if self.type is defaultdict else self.context
            if set(tree) != set(keys):
                raise ValueError(f"Node keys mismatch; expected {keys}, but got {list(tree)}.")
            children = [tree[key] for key in keys]
        elif context != self.context:
            raise ValueError(
                f"Node context mismatch for custom node type {self.type!r}: "
                f"expected {self.context!r}, but got {context!r}."
            )
        for spec, child in zip(self._children, children):
            spec._flatten_up_to(child, out)

    def unflatten(self, leaves: Iterable[Any]) -> PyTree:
        """Put the leaves together."""
        return tree_unflatten(leaves, self)


PyTreeSpec = TreeSpec


class LeafSpec(TreeSpec):
    """The spec of a leaf."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(None, None, [])


_LEAF = LeafSpec()


def is_namedtuple_class(cls: Any) -> bool:
    """True for subclasses of tuple with `_fields`."""
    return isinstance(cls, type) and issubclass(cls, tuple) and hasattr(cls, "_fields")


def is_namedtuple_instance(obj: Any) -> bool:
    """True for objects of a class as above."""
    return is_namedtuple_class(type(obj))


def is_namedtuple(obj: Any) -> bool:
    """True for a named tuple, or its class."""
    return is_namedtuple_class(obj if isinstance(obj, type) else type(obj))


def _node_type(tree: Any) -> Any:
    kind = type(tree)
    if kind in SUPPORTED_NODES:
        return kind
    return namedtuple if is_namedtuple_class(kind) else kind


def tree_is_leaf(tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """True if `tree` is not taken apart."""
    return (is_leaf is not None and is_leaf(tree)) or _node_type(tree) not in SUPPORTED_NODES


def tree_flatten(tree: PyTree, is_leaf: IsLeaf = None) -> tuple[list[Any], TreeSpec]:
    """Return the leaves, and the spec that puts them together.

    Parameters
    ----------
    is_leaf : object -> True for nodes that are not to be taken apart, optional
    """
    leaves: list[Any] = []

    def visit(node: Any) -> TreeSpec:
        if tree_is_leaf(node, is_leaf):
            leaves.append(node)
            return _LEAF
        kind = _node_type(node)
        children, context = SUPPORTED_NODES[kind].flatten_fn(node)
        return TreeSpec(kind, context, [visit(c) for c in children])

    spec = visit(tree)
    return leaves, spec


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> PyTree:
    """Put leaves together.

    Raises
    ------
    TypeError   if `treespec` is not a TreeSpec
    ValueError  if the number of leaves does not fit
    """
    if not isinstance(treespec, TreeSpec):
        raise TypeError(f"Expected `treespec` to be an instance of PyTreeSpec but got item of type {type(treespec)}.")
    items = list(leaves)
    if len(items) != treespec.num_leaves:
        raise ValueError(
            f"treespec.unflatten(leaves): `leaves` has length {len(items)} but the spec refers to a "
            f"pytree that holds {treespec.num_leaves} items ({treespec})."
        )
    rest = iter(items)

    def build(spec: TreeSpec) -> Any:
        if spec.is_leaf():
            return next(rest)
        children = [build(c) for c in spec._children]
        return SUPPORTED_NODES[spec.type].unflatten_fn(children, spec.context)

    return build(treespec)


def tree_iter(tree: PyTree, is_leaf: IsLeaf = None) -> Iterator[Any]:
    """Yield the leaves."""
    if tree_is_leaf(tree, is_leaf):
        yield tree
        return
    for child in SUPPORTED_NODES[_node_type(tree)].flatten_fn(tree)[0]:
        yield from tree_iter(child, is_leaf)


def tree_leaves(tree: PyTree, is_leaf: IsLeaf = None) -> list[Any]:
    """Return the leaves."""
    return list(tree_iter(tree, is_leaf))


def tree_structure(tree: PyTree, is_leaf: IsLeaf = None) -> TreeSpec:
    """Return the nesting."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None) -> PyTree:
    """Return the tree of func(leaf, ...); further trees are nested at least as the first."""
    leaves, spec = tree_flatten(tree, is_leaf)
    columns = [leaves, *(spec.flatten_up_to(r) for r in rests)]
    return tree_unflatten(map(func, *columns), spec)


def tree_map_(func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None) -> PyTree:
    """Call func(leaf, ...) for its effect; return `tree`."""
    leaves, spec = tree_flatten(tree, is_leaf)
    deque(map(func, leaves, *(spec.flatten_up_to(r) for r in rests)), maxlen=0)
    return tree


def map_only(types_or_pred: Any, /) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    """Return a decorator for functions that leave other leaves alone."""
    matches = _predicate(types_or_pred)

    def wrap(func: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda x: func(x) if matches(x) else x

    return wrap


def tree_map_only(
    type_or_types_or_pred: Any, /, func: Callable[[Any], Any], tree: PyTree, is_leaf: IsLeaf = None
) -> PyTree:
    """As `tree_map`, for leaves of the given types, or that the predicate holds for."""
    return tree_map(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_map_only_(
    type_or_types_or_pred: Any, /, func: Callable[[Any], Any], tree: PyTree, is_leaf: IsLeaf = None
) -> PyTree:
    """As `tree_map_`, for leaves of the given types, or that the predicate holds for."""
    return tree_map_(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_all(pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """True if `pred` holds for all leaves."""
    return all(map(pred, tree_iter(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """True if `pred` holds for a leaf."""
    return any(map(pred, tree_iter(tree, is_leaf)))


def tree_all_only(type_or_types: Any, /, pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """True if `pred` holds for all leaves of the given types."""
    return all(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, type_or_types))


def tree_any_only(type_or_types: Any, /, pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """True if `pred` holds for a leaf of the given types."""
    return any(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, type_or_types))


# ---- paths


def tree_leaves_with_path(tree: PyTree, is_leaf: IsLeaf = None) -> list[tuple[tuple[Any, ...], Any]]:
    """Return (path, leaf) pairs; a path is a tuple of keys."""
    return list(_with_path((), tree, is_leaf))


def tree_flatten_with_path(tree: PyTree, is_leaf: IsLeaf = None) -> tuple[list[tuple[tuple[Any, ...], Any]], TreeSpec]:
    """Return (path, leaf) pairs and the spec."""
    return tree_leaves_with_path(tree, is_leaf), tree_structure(tree, is_leaf)


def tree_map_with_path(func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None) -> PyTree:
    """Return the tree of func(path, leaf, ...)."""
    pairs, spec = tree_flatten_with_path(tree, is_leaf)
    columns: list[Any] = [*zip(*pairs)] if pairs else [(), ()]
    columns += [spec.flatten_up_to(r) for r in rests]
    return tree_unflatten(map(func, *columns), spec)


def keystr(kp: tuple[Any, ...]) -> str:
    """Return a path as it would be written after the tree's name."""
    return "".join(map(str, kp))


def key_get(obj: Any, kp: tuple[Any, ...]) -> Any:
    """Follow a path."""
    for key in kp:
        obj = key.get(obj)
    return obj


def _with_path(path: tuple[Any, ...], tree: PyTree, is_leaf: IsLeaf) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if tree_is_leaf(tree, is_leaf):
        yield path, tree
        return
    node = SUPPORTED_NODES[_node_type(tree)]
    if node.flatten_with_keys_fn is None:
        raise ValueError(
            f"Did not find a flatten_with_keys_fn for type: {node.type}. Please pass a flatten_with_keys_fn "
            "argument to register_pytree_node."
        )
    for key, child in node.flatten_with_keys_fn(tree)[0]:
        yield from _with_path((*path, key), child, is_leaf)


# ---- helpers of operators that take one value for many leaves


def _broadcast_to_and_flatten(tree: PyTree, treespec: TreeSpec, is_leaf: IsLeaf = None) -> list[Any] | None:
    """Return one leaf of `tree` for each leaf of `treespec`, a leaf standing for all below it; None if they do not fit."""
    if tree_is_leaf(tree, is_leaf):
        return [tree] * treespec.num_leaves
    if treespec.is_leaf() or _node_type(tree) is not treespec.type:
        return None
    children, context = SUPPORTED_NODES[treespec.type].flatten_fn(tree)
    if len(children) != treespec.num_children or context != treespec.context:
        return None
    out: list[Any] = []
    for child, spec in zip(children, treespec._children):
        part = _broadcast_to_and_flatten(child, spec, is_leaf)
        if part is None:
            return None
        out += part
    return out


def _predicate(types_or_pred: Any) -> Callable[[Any], bool]:
    if isinstance(types_or_pred, (type, tuple, types.UnionType)):
        return lambda x: isinstance(x, types_or_pred)
    if callable(types_or_pred):
        return types_or_pred
    raise TypeError("Argument must be a type, a tuple of types, or a callable.")


# ---- built-in nodes


def _sequence_keys(x: Any) -> tuple[list[tuple[Any, Any]], Context]:
    children, context = SUPPORTED_NODES[_node_type(x)].flatten_fn(x)
    return [(SequenceKey(i), c) for i, c in enumerate(children)], context


def _mapping_keys(x: Any) -> tuple[list[tuple[Any, Any]], Context]:
    return [(MappingKey(k), v) for k, v in x.items()], SUPPORTED_NODES[type(x)].flatten_fn(x)[1]


def _field_keys(x: Any) -> tuple[list[tuple[Any, Any]], Context]:
    return [(GetAttrKey(n), v) for n, v in zip(x._fields, x)], type(x)


for _node in (
    NodeDef(tuple, lambda x: (list(x), None), lambda c, _: tuple(c), _sequence_keys),
    NodeDef(list, lambda x: (x, None), lambda c, _: list(c), _sequence_keys),
    NodeDef(dict, lambda x: (list(x.values()), list(x)), lambda c, k: dict(zip(k, c)), _mapping_keys),
    NodeDef(namedtuple, lambda x: (list(x), type(x)), lambda c, t: t(*c), _field_keys),
    NodeDef(OrderedDict, lambda x: (list(x.values()), list(x)), lambda c, k: OrderedDict(zip(k, c)), _mapping_keys),
    NodeDef(
        defaultdict,
        lambda x: (list(x.values()), [x.default_factory, list(x)]),
        lambda c, k: defaultdict(k[0], zip(k[1], c)),
        _mapping_keys,
    ),
    NodeDef(deque, lambda x: (list(x), x.maxlen), lambda c, n: deque(c, maxlen=n), _sequence_keys),
):
    SUPPORTED_NODES[_node.type] = _node
