"""The graph and what it saves."""

from collections.abc import Callable
from typing import Any, NamedTuple

from flambeau import Tensor
from flambeau.autograd import _C
from flambeau.autograd._C import Node

__all__ = [
    "GradientEdge",
    "Node",
    "get_gradient_edge",
    "save_on_cpu",
    "saved_tensors_hooks",
    "set_multithreading_enabled",
]


class GradientEdge(NamedTuple):
    """A node and which of its gradients."""

    node: Node
    output_nr: int


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge that the gradient of `tensor` arrives through."""
    if not tensor.requires_grad:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    node = tensor.grad_fn
    if node is None:  # a leaf: the node that adds into it is what a view of it leads to
        view_node = tensor.view_as(tensor).grad_fn
        node = view_node.next_functions[0][0] if view_node else None
    if node is None:
        raise RuntimeError("[get_gradient_edge] the tensor has no node: gradients are not being recorded")
    return GradientEdge(node, tensor.output_nr)


class saved_tensors_hooks:
    """Inside the block what the graph saves is `pack_hook(tensor)`; `unpack_hook` must give the tensor back."""

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self) -> None:
        _C._push_saved_tensors_hooks(self.pack_hook, self.unpack_hook)

    def __exit__(self, *exc: object) -> None:
        _C._pop_saved_tensors_hooks()


class save_on_cpu(saved_tensors_hooks):
    """Accepted for programs that set it: everything is on the CPU already, so it keeps copies."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(lambda t: t.detach().clone(), lambda t: t)


class set_multithreading_enabled:
    """Accepted: backward runs on the calling thread."""

    def __init__(self, mode: bool) -> None:
        self.mode = mode

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        pass
