"""One step of an optimizer over lists of parameters: what the fused kernels do to each of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from flambeau import Tensor

Tensors = Sequence[Tensor]


def adam_(
    self: Tensors,
    grads: Tensors,
    exp_avgs: Tensors,
    exp_avg_sqs: Tensors,
    max_exp_avg_sqs: Tensors,
    state_steps: Tensors,
    *,
    lr: float,
    beta1: float,
    beta2: float,
    weight_decay: float,
    eps: float,
    amsgrad: bool,
    maximize: bool,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
    decoupled: bool = False,
) -> None:
    """Kingma and Ba 2014; with amsgrad Reddi, Kale and Kumar 2018. `state_steps` count this step already."""
    for i, (param, grad) in enumerate(
        _gradients(self, grads, 0.0 if decoupled else weight_decay, maximize, grad_scale, found_inf)
    ):
        if decoupled:
            param.mul_(1 - lr * weight_decay)
        step = state_steps[i].item()
        exp_avgs[i].lerp_(grad, 1 - beta1)
        exp_avg_sqs[i].mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        square = exp_avg_sqs[i]
        if amsgrad:
            square = max_exp_avg_sqs[i].copy_(max_exp_avg_sqs[i].maximum(square))
        root = square.sqrt() / (1 - beta2**step) ** 0.5
        param.addcdiv_(exp_avgs[i], root + eps, value=-lr / (1 - beta1**step))


def adamw_(
    self: Tensors,
    grads: Tensors,
    exp_avgs: Tensors,
    exp_avg_sqs: Tensors,
    max_exp_avg_sqs: Tensors,
    state_steps: Tensors,
    **options: Any,
) -> None:
    """As adam_, with a weight decay that does not enter the moments: Loshchilov and Hutter 2017."""
    adam_(self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, **options, decoupled=True)


def sgd_(
    self: Tensors,
    grads: Tensors,
    momentum_buffer_list: Tensors,
    *,
    weight_decay: float,
    momentum: float,
    lr: float,
    dampening: float,
    nesterov: bool,
    maximize: bool,
    is_first_step: bool,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
) -> None:
    """Steepest descent; the first buffer is the gradient itself."""
    for i, (param, grad) in enumerate(_gradients(self, grads, weight_decay, maximize, grad_scale, found_inf)):
        if momentum:
            buffer = momentum_buffer_list[i]
            buffer.copy_(grad if is_first_step else buffer * momentum + grad * (1 - dampening))
            grad = grad + momentum * buffer if nesterov else buffer
        param.add_(grad, alpha=-lr)


def adagrad_(
    self: Tensors,
    grads: Tensors,
    state_sums: Tensors,
    state_steps: Tensors,
    *,
    lr: float,
    lr_decay: float,
    weight_decay: float,
    eps: float,
    maximize: bool,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
) -> None:
    """Duchi, Hazan and Singer 2011."""
    for i, (param, grad) in enumerate(_gradients(self, grads, weight_decay, maximize, grad_scale, found_inf)):
        state_sums[i].addcmul_(grad, grad)
        rate = lr / (1 + (state_steps[i].item() - 1) * lr_decay)
        param.addcdiv_(grad, state_sums[i].sqrt() + eps, value=-rate)


def rmsprop_(
    self: Tensors,
    grads: Tensors,
    square_avgs: Tensors,
    grad_avgs: Tensors,
    momentum_buffer_list: Tensors,
    *,
    lr: float,
    alpha: float,
    eps: float,
    weight_decay: float,
    momentum: float,
    centered: bool,
    maximize: bool,
) -> None:
    """Hinton's lecture 6 of 2012; centred, Graves 2013."""
    for i, (param, grad) in enumerate(_gradients(self, grads, weight_decay, maximize, None, None)):
        square = square_avgs[i].mul_(alpha).addcmul_(grad, grad, value=1 - alpha)
        if centered:
            mean = grad_avgs[i].lerp_(grad, 1 - alpha)
            square = square - mean * mean
        step = grad / (square.sqrt() + eps)
        if momentum > 0:
            step = momentum_buffer_list[i].mul_(momentum).add_(step)
        param.add_(step, alpha=-lr)


def _gradients(
    params: Tensors,
    grads: Tensors,
    weight_decay: float,
    maximize: bool,
    grad_scale: Tensor | None,
    found_inf: Tensor | None,
) -> Iterator[tuple[Tensor, Tensor]]:
    """Parameters with what they descend along; none where a gradient scaler found an overflow."""
    if found_inf is not None and found_inf.item():
        return
    for param, grad in zip(params, grads):
        if grad_scale is not None:
            grad.div_(grad_scale)
        grad = -grad if maximize else grad
        yield param, grad + weight_decay * param if weight_decay else grad
