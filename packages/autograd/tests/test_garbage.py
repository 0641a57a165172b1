"""Cycles through the graph: the collector sees hooks and contexts that only garbage keeps alive, and nothing else."""

import gc
import weakref
from collections.abc import Callable

import flambeau as fl
import pytest
from flambeau.autograd import Function
from flambeau.autograd.graph import saved_tensors_hooks


class Marker:
    """Something whose death can be seen."""


def leaf(*values: float) -> fl.Tensor:
    return fl.tensor(values, dtype=fl.float64, requires_grad=True)


class Noted(Function):
    """y = 2x; `note` is called with the context and the output."""

    @staticmethod
    def forward(ctx, x, note):
        y = x * 2
        note(ctx, y)
        return y

    @staticmethod
    def backward(ctx, grad):
        return grad * 2, None


def hook_of_leaf(o: Marker) -> None:
    x = leaf(1)
    x.register_hook(lambda g: (x, o))


def hook_of_leaf_after_accumulation(o: Marker) -> None:
    x = leaf(1)
    x.register_post_accumulate_grad_hook(lambda p: (x, o))


def hook_of_result(o: Marker) -> None:
    y = leaf(1) * 2
    y.register_hook(lambda g: (y, o))


def hook_that_holds_a_later_result(o: Marker) -> None:
    x = leaf(1)
    y = (x * x).sin()
    z = ((y * y) + y.exp()).sum()
    y.register_hook(lambda g: (z, o))


def hook_of_node(o: Marker) -> None:
    node = (leaf(1) * 2).grad_fn
    node.register_hook(lambda i, g: (node, o))


def metadata_of_node(o: Marker) -> None:
    y = leaf(1) * 2
    y.grad_fn.metadata["tensor"] = (y, o)


def context_that_holds_the_output(o: Marker) -> None:
    def note(ctx, y):
        ctx.held = (y, o)

    Noted.apply(leaf(1), note)


def context_that_holds_a_later_result(o: Marker) -> None:
    contexts = []
    y = Noted.apply(leaf(1), lambda ctx, y: contexts.append(ctx))
    contexts[0].held = (y.exp() * 2, o)


def saved_output(o: Marker) -> None:
    y = Noted.apply(leaf(1), lambda ctx, y: ctx.save_for_backward(y))
    y.held = (y, o)


def packed_by_hooks(o: Marker) -> None:
    x, box = leaf(1), []
    with saved_tensors_hooks(lambda t: (t, o, box), lambda p: p[0]):
        box.append(x * x)


def attribute_of_a_saved_tensor(o: Marker) -> None:
    x = leaf(1)
    x.held = (x * x, o)


def attribute_of_a_gradient(o: Marker) -> None:
    x = leaf(1)
    (x * 2).sum().backward()
    x.grad.held = (x, o)


def attribute_of_a_base(o: Marker) -> None:
    base = leaf(1, 2) * 1
    view = base[:1]
    base.held = (view, o)


MAKERS = [v for v in list(globals().values()) if callable(v) and getattr(v, "__annotations__", {}).get("o") is Marker]


@pytest.mark.parametrize("make", MAKERS, ids=lambda f: f.__name__)
def test_cycle_is_collected(make: Callable[[Marker], None]):
    o = Marker()
    seen = weakref.ref(o)
    make(o)
    del o
    gc.collect()
    gc.collect()
    assert seen() is None


def test_hooks_in_use_stay():
    x = leaf(1, 2)
    seen = []

    def build() -> fl.Tensor:
        y = x * 2
        o = Marker()
        y.register_hook(lambda g: seen.append((o, y.tolist())) or g * 3)
        return y.sum()

    total = build()
    for _ in range(3):
        gc.collect()
    total.backward()
    assert seen[0][1] == [2, 4] and x.grad.tolist() == [6, 6]


def test_contexts_in_use_stay():
    x = leaf(1, 2)
    contexts = []

    def note(ctx, y):
        ctx.save_for_backward(y)
        ctx.held = y
        contexts.append(ctx)

    total = Noted.apply(x, note).exp().sum()
    gc.collect()
    total.backward(retain_graph=True)
    del total
    gc.collect()
    (saved,) = contexts[0].saved_tensors
    assert saved.tolist() == [2, 4] and contexts[0].held.tolist() == [2, 4]


def test_attributes_survive_the_object():
    x = leaf(1)
    x.note = "kept"
    y = x * x
    del x
    gc.collect()
    variable = y.grad_fn.next_functions[0][0].variable
    assert variable.note == "kept"


def test_finalizer_sees_a_whole_tensor():
    seen = []

    class Watched(fl.Tensor):
        def __del__(self) -> None:
            seen.append((getattr(self, "note", None), self.tolist()))

    x = fl.ones(3).as_subclass(Watched)
    x.note = 1
    holder = fl.ones(3, requires_grad=True) * x
    del x
    del holder
    gc.collect()
    assert seen.count((1, [1, 1, 1])) == 1


def test_collections_while_graphs_are_built():
    old = gc.get_threshold()
    gc.set_threshold(20)
    try:
        x = leaf(1, 2)
        y = x
        for i in range(200):
            y = Noted.apply(y, lambda ctx, out: setattr(ctx, "held", out)) / 2
            if i % 10 == 0:
                y.register_hook(lambda g, y=y: None)
        y.sum().backward()
        assert x.grad.tolist() == [1, 1]
    finally:
        gc.set_threshold(*old)
