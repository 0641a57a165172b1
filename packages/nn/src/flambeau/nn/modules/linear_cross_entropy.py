"""LinearCrossEntropyLoss."""

from __future__ import annotations

import math

from flambeau.nn import functional as F
from flambeau.nn.modules._loss_base import _WeightedLoss
from flambeau.nn.modules.linear import Linear

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from flambeau import Tensor
    from flambeau.nn.modules.linear_cross_entropy_options import LinearCrossEntropyOptions

__all__ = ["LinearCrossEntropyLoss"]


class LinearCrossEntropyLoss(_WeightedLoss):
    """Cross entropy of a learnt linear map of the input.

    Shapes: input (N, in_features), target (N, *out_features) of classes or
    (N, num_classes, *out_features) of probabilities. linear.weight is
    (num_classes * prod(out_features), in_features).

    Parameters
    ----------
    out_features : further dimensions of the logits, after the classes
    bias : learn a bias
    others : as for CrossEntropyLoss
    options : see LinearCrossEntropyOptions
    """

    __constants__ = ["num_classes", "out_features", "reduction", "ignore_index", "label_smoothing"]

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        *,
        out_features: tuple[int, ...] = (),
        bias: bool = False,
        device: Any = None,
        dtype: Any = None,
        reduction: str = "mean",
        weight: Tensor | None = None,
        ignore_index: int | None = None,
        label_smoothing: float = 0.0,
        options: LinearCrossEntropyOptions | None = None,
    ) -> None:
        super().__init__(weight, None, None, reduction)
        self.linear = Linear(in_features, num_classes * math.prod(out_features), bias=bias, device=device, dtype=dtype)
        self.num_classes = num_classes
        self.out_features = out_features
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing
        self.options = options

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        shape = (self.num_classes, *self.out_features)
        bias = self.linear.bias
        return F.linear_cross_entropy(
            input,
            self.linear.weight.reshape(*shape, self.linear.in_features),
            target,
            linear_bias=None if bias is None else bias.reshape(shape),
            weight=self.weight,
            reduction=self.reduction,
            ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing,
            options=self.options,
        )

    def extra_repr(self) -> str:
        return (
            f"in_features={self.linear.in_features}, num_classes={self.num_classes}, "
            f"out_features={self.out_features}, bias={self.linear.bias is not None}, "
            f"reduction={self.reduction}, ignore_index={self.ignore_index}, "
            f"label_smoothing={self.label_smoothing}, options={self.options}"
        )
