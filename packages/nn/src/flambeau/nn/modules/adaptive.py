"""AdaptiveLogSoftmaxWithLoss."""

from __future__ import annotations

from collections import namedtuple

from flambeau.nn import functional as F
from flambeau.nn.modules.container import ModuleList, Sequential
from flambeau.nn.modules.linear import Linear
from flambeau.nn.modules.module import Module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from flambeau import Tensor

__all__ = ["AdaptiveLogSoftmaxWithLoss"]

_ASMoutput = namedtuple("_ASMoutput", ["output", "loss"])


class AdaptiveLogSoftmaxWithLoss(Module):
    """Softmax over many classes of very unequal frequency (Grave et al. 2016).

    The most frequent classes are in a head; the others are in clusters, which the head knows
    as one class each and which project their input to a smaller size.

    Parameters
    ----------
    in_features : size of the input
    n_classes : number of classes, ordered by falling frequency
    cutoffs : first class of each cluster
    div_value : each cluster's projection is smaller by that factor than the one before
    head_bias : learn a bias in the head

    Raises
    ------
    ValueError  if cutoffs are not rising integers in 1..n_classes - 1
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        cutoffs = list(cutoffs)
        if len(cutoffs) == 0:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        if (
            cutoffs != sorted(cutoffs)
            or min(cutoffs) <= 0
            or max(cutoffs) > n_classes - 1
            or len(set(cutoffs)) != len(cutoffs)
            or any(int(c) != c for c in cutoffs)
        ):
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an "
                "increasing order, where each value is between 1 and n_classes-1"
            )
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        make = {"device": device, "dtype": dtype}
        self.head = Linear(in_features, self.head_size, bias=head_bias, **make)
        self.tail = ModuleList()
        for i in range(self.n_clusters):
            hidden = int(in_features // (div_value ** (i + 1)))
            size = self.cutoffs[i + 1] - self.cutoffs[i]
            self.tail.append(
                Sequential(Linear(in_features, hidden, bias=False, **make), Linear(hidden, size, bias=False, **make))
            )

    def reset_parameters(self) -> None:
        """Draw all parameters anew."""
        self.head.reset_parameters()
        for part in self.tail:
            project, classify = part.children()
            project.reset_parameters()
            classify.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> Any:
        """Log probabilities of the targets and their mean negative.

        Parameters
        ----------
        input_ : Tensor (N, in_features) or (in_features)
        target_ : integer Tensor (N) or ()

        Returns
        -------
        (output (N) or (), loss ())

        Raises
        ------
        RuntimeError  if shapes do not fit or a target is out of range
        """
        batched = _check_target_shape(input_, target_)
        input = input_ if batched else input_.unsqueeze(0)
        target = target_ if batched else target_.unsqueeze(0)
        output = input.new_zeros(target.size(0))
        # Class in the head: the class itself, or the cluster's place after the short list.
        gather_inds = target.new_zeros(target.size(0))
        used = 0
        low = 0
        for i, high in enumerate(self.cutoffs):
            rows = ((target >= low) & (target < high)).nonzero().squeeze(1)
            if rows.numel():
                chosen = target.index_select(0, rows)
                if i == 0:
                    gather_inds = gather_inds.index_copy(0, rows, chosen)
                else:
                    logits = self.tail[i - 1](input.index_select(0, rows))
                    place = (chosen - low).unsqueeze(1)
                    local = F.log_softmax(logits, dim=1).gather(1, place).squeeze(1)
                    gather_inds = gather_inds.index_fill(0, rows, self.shortlist_size + i - 1)
                    output = output.index_copy(0, rows, local)
                used += rows.numel()
            low = high
        if used != target.size(0):
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                f"[{target.min().item()}, {target.max().item()}] were found. "
            )
        head = F.log_softmax(self.head(input), dim=1)
        output = output + head.gather(1, gather_inds.unsqueeze(1)).squeeze(1)
        loss = (-output).mean()
        return _ASMoutput(output if batched else output.squeeze(0), loss)

    def _get_full_log_prob(self, input: Tensor, head_output: Tensor) -> Tensor:
        out = input.new_empty((head_output.size(0), self.n_classes))
        head = F.log_softmax(head_output, dim=1)
        out[:, : self.shortlist_size] = head[:, : self.shortlist_size]
        for i, (start, stop) in enumerate(zip(self.cutoffs, self.cutoffs[1:])):
            cluster = F.log_softmax(self.tail[i](input), dim=1)
            out[:, start:stop] = cluster + head[:, self.shortlist_size + i].unsqueeze(1)
        return out

    def log_prob(self, input: Tensor) -> Tensor:
        """Log probabilities of all classes: (N, in_features) -> (N, n_classes)."""
        return self._get_full_log_prob(input, self.head(input))

    def predict(self, input: Tensor) -> Tensor:
        """Most probable class: (N, in_features) -> (N).

        Clusters are evaluated only for the rows that need them.
        """
        head = self.head(input)
        output = head.argmax(dim=1)
        beyond = output >= self.shortlist_size
        if not beyond.any():
            return output
        if beyond.all():
            return self._get_full_log_prob(input, head).argmax(dim=1)
        best = self._get_full_log_prob(input[beyond], head[beyond]).argmax(dim=1)
        output[beyond] = best
        return output


def _check_target_shape(input: Tensor, target: Tensor) -> bool:
    """Whether the target is batched."""
    n = target.dim()
    if n == 1:
        if input.size(0) != target.size(0):
            raise RuntimeError("Input and target should have the same size in the batch dimension.")
        if input.dim() != 2:
            raise RuntimeError("1D target tensor expects 2D input tensors, but found inputs with "
                               f"sizes {input.size()}.")  # fmt: skip
        return True
    if n == 0:
        if input.dim() != 1:
            raise RuntimeError("0D target tensor expects 1D input tensors, but found inputs with "
                               f"sizes {input.size()}.")  # fmt: skip
        return False
    raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
