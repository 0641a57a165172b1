"""Kernels of fused operators against the decompositions that their records name."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Any

import flambeau as fl
import pytest

Tensor = fl.Tensor
DTYPES = [fl.float32, fl.float64]
TOLERANCES = {fl.float32: 1e-4, fl.float64: 1e-10}


class Sample:
    """One call: positional arguments in the order of the schema, and keyword-only ones."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.args, self.kwargs = args, kwargs

    def copy(self) -> Sample:
        """With lists of tensors of their own, for operators that write to them."""
        return Sample(*(_copied(a) for a in self.args), **{k: _copied(v) for k, v in self.kwargs.items()})


def _copied(x: Any) -> Any:
    if isinstance(x, Tensor):
        return x.clone()
    return [_copied(i) for i in x] if isinstance(x, list) else x


def normal(*sizes: int, dtype: fl.dtype) -> Tensor:
    return fl.randn(sizes, dtype=dtype)


def softmaxes(dtype: fl.dtype) -> Iterator[Sample]:
    for sizes, dim in (((3, 5), 1), ((2, 3, 4), 0), ((2, 3, 4), 1), ((7,), -1), ((2, 0), 0), ((1, 130), 1)):
        yield Sample(normal(*sizes, dtype=dtype) * 4, dim, False)


def softmax_gradients(dtype: fl.dtype, forward: Callable[..., Tensor]) -> Iterator[Sample]:
    for sample in softmaxes(dtype):
        x, dim, _ = sample.args
        yield Sample(fl.randn_like(x), forward(x, dim), dim, dtype)


def layer_norms(dtype: fl.dtype) -> Iterator[tuple[Tensor, list[int], Tensor | None, Tensor | None]]:
    for sizes, shape, affine in (
        ((4, 6), [6], True),
        ((2, 3, 5), [3, 5], True),
        ((3, 2, 40), [40], False),
        ((5,), [5], True),
    ):
        parameters = [normal(*shape, dtype=dtype) if affine else None for _ in range(2)]
        yield normal(*sizes, dtype=dtype), shape, *parameters


def layer_norm_gradients(dtype: fl.dtype) -> Iterator[Sample]:
    for x, shape, weight, bias in layer_norms(dtype):
        _, mean, rstd = fl.native_layer_norm(x, shape, weight, bias, 1e-5)
        for mask in ([True, True, True], [True, False, False]):
            affine = weight is not None
            wanted = [mask[0], mask[1] and affine, mask[2] and affine]
            yield Sample(fl.randn_like(x), x, shape, mean, rstd, weight, bias, wanted)


def rms_norm_gradients(dtype: fl.dtype) -> Iterator[Sample]:
    for x, shape, weight, _ in layer_norms(dtype):
        _, rstd = fl._fused_rms_norm(x, shape, weight, 1e-6)
        yield Sample(fl.randn_like(x), x, shape, rstd, weight, [True, weight is not None])


def group_norms(dtype: fl.dtype) -> Iterator[Sample]:
    for n, c, area, group in ((2, 6, 10, 3), (3, 4, 1, 4), (1, 8, 33, 1)):
        x = normal(n, c, area, dtype=dtype)
        yield Sample(x, normal(c, dtype=dtype), normal(c, dtype=dtype), n, c, area, group, 1e-5)
        yield Sample(x, None, None, n, c, area, group, 1e-5)


def group_norm_gradients(dtype: fl.dtype) -> Iterator[Sample]:
    for sample in group_norms(dtype):
        x, weight, _, n, c, area, group, _ = sample.args
        _, mean, rstd = fl.native_group_norm(*sample.args)
        affine = weight is not None
        if group < c or area > 1:
            yield Sample(fl.randn_like(x), x, mean, rstd, weight, n, c, area, group, [True, affine, affine])


def batch_norms(dtype: fl.dtype) -> Iterator[Sample]:
    for sizes in ((8, 3), (2, 4, 5), (2, 3, 4, 5)):
        c = sizes[1]
        for training in (True, False):
            x, weight, bias, mean = (normal(*s, dtype=dtype) for s in (sizes, (c,), (c,), (c,)))
            var = fl.rand(c, dtype=dtype) + 0.5
            yield Sample(x, weight, bias, mean, var, training, 0.1, 1e-5)
            yield Sample(x, None, None, mean, var, training, 0.1, 1e-5)


def batch_norm_gradients(dtype: fl.dtype) -> Iterator[Sample]:
    core = fl.ops.aten._batch_norm_core
    for sample in batch_norms(dtype):
        x, weight, _, mean, var, training, _, eps = sample.args
        _, save_mean, save_invstd = core(*sample.copy().args)
        affine = weight is not None
        mask = [True, affine, affine]
        yield Sample(fl.randn_like(x), x, weight, mean, var, save_mean, save_invstd, training, eps, mask)


def likelihoods(dtype: fl.dtype, pixels: tuple[int, ...]) -> Iterator[Sample]:
    for reduction in (0, 1, 2):
        for weight in (None, fl.rand(4, dtype=dtype) + 0.1):
            target = fl.randint(0, 4, (5, *pixels))
            target[1] = -100
            yield Sample(normal(5, 4, *pixels, dtype=dtype), target, weight, reduction, -100)
    if not pixels:
        yield Sample(normal(4, dtype=dtype), fl.tensor(2), None, 1, -100)


def likelihood_gradients(dtype: fl.dtype, pixels: tuple[int, ...], forward: Callable[..., Any]) -> Iterator[Sample]:
    for sample in likelihoods(dtype, pixels):
        out, total = forward(*sample.args)
        yield Sample(fl.randn_like(out), *sample.args, total)


def steps(dtype: fl.dtype, states: int, counted: bool, **options: Any) -> Iterator[Sample]:
    sizes = ((3, 4), (5,), ())
    lists = [[normal(*s, dtype=dtype) for s in sizes] for _ in range(2)]
    lists += [[fl.rand(s, dtype=dtype) for s in sizes] for _ in range(states)]
    lists += [[fl.tensor(3.0) for _ in sizes]] if counted else []
    yield Sample(*lists, **options)
    if "nesterov" in options or "lr_decay" in options or "amsgrad" in options:
        yield Sample(*lists, **options, grad_scale=fl.tensor(2.0), found_inf=fl.tensor(0.0))
        yield Sample(*lists, **options, grad_scale=fl.tensor(2.0), found_inf=fl.tensor(1.0))


def adam_steps(dtype: fl.dtype) -> Iterator[Sample]:
    for amsgrad in (False, True):
        for maximize in (False, True):
            yield from steps(dtype, 3, True, lr=0.1, beta1=0.9, beta2=0.99, weight_decay=0.1, eps=1e-8, amsgrad=amsgrad, maximize=maximize)  # fmt: skip


def sgd_steps(dtype: fl.dtype) -> Iterator[Sample]:
    for momentum, nesterov, first in ((0.0, False, False), (0.9, False, True), (0.9, True, False)):
        yield from steps(dtype, 1, False, weight_decay=0.1, momentum=momentum, lr=0.1, dampening=0.0 if nesterov else 0.2, nesterov=nesterov, maximize=first, is_first_step=first)  # fmt: skip


def rmsprop_steps(dtype: fl.dtype) -> Iterator[Sample]:
    for momentum, centered in ((0.0, False), (0.9, True)):
        for sample in steps(dtype, 3, False, lr=0.1, alpha=0.9, eps=1e-8, weight_decay=0.1, momentum=momentum, centered=centered, maximize=centered):  # fmt: skip
            squares, means = sample.args[2], sample.args[3]
            for square, mean in zip(squares, means):
                square.add_(mean * mean)  # a variance is not negative
            yield sample


def pairs(dtype: fl.dtype) -> Iterator[Sample]:
    yield Sample(*([normal(*s, dtype=dtype) for s in ((3, 4), (), (0,))] for _ in range(2)))


def with_number(dtype: fl.dtype, number: Any) -> Iterator[Sample]:
    yield Sample([normal(*s, dtype=dtype) for s in ((3, 4), (5,))], number)


def linears(dtype: fl.dtype) -> Iterator[Sample]:
    for sizes in ((3, 4), (4,), (2, 5, 4), (0, 4)):
        for bias in (None, normal(6, dtype=dtype)):
            yield Sample(normal(*sizes, dtype=dtype), normal(6, 4, dtype=dtype), bias)


def convolutions(dtype: fl.dtype) -> Iterator[Sample]:
    """(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)."""
    for bias in (None, normal(6, dtype=dtype)):
        yield Sample(normal(2, 4, 9, dtype=dtype), normal(6, 4, 3, dtype=dtype), bias, [2], [1], [1], False, [0], 1)
        yield Sample(normal(2, 4, 8, 7, dtype=dtype), normal(6, 2, 3, 2, dtype=dtype), bias, [2, 1], [1, 2], [1, 2], False, [0, 0], 2)  # fmt: skip
        yield Sample(normal(1, 4, 5, 4, dtype=dtype), normal(4, 3, 3, 2, dtype=dtype), bias, [3, 1], [1, 0], [1, 2], True, [2, 0], 2)  # fmt: skip
    yield Sample(normal(1, 2, 5, dtype=dtype), normal(2, 3, 2, dtype=dtype), None, [1], [0], [3], True, [2], 1)
    yield Sample(normal(1, 2, 4, 5, 4, dtype=dtype), normal(3, 2, 2, 3, 1, dtype=dtype), None, [1, 2, 1], [0, 1, 0], [1, 1, 1], False, [0, 0, 0], 1)  # fmt: skip


def convolution_gradients(dtype: fl.dtype) -> Iterator[Sample]:
    for sample in convolutions(dtype):
        x, weight, bias, *options = sample.args
        grad = fl.randn_like(fl.convolution(*sample.args))
        has_bias = bias is not None
        yield Sample(grad, x, weight, [grad.size(1)] if has_bias else None, *options, [True, True, has_bias])


def pools(dtype: fl.dtype, sizes: tuple[int, ...]) -> Iterator[Sample]:
    """(input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)."""
    dims = len(sizes)
    for leading in ((2, 3), (3,)):
        for ceil_mode, count_include_pad, divisor in ((False, True, None), (True, False, None), (True, True, 5)):
            x = normal(*leading, *sizes, dtype=dtype)
            yield Sample(x, [3] * dims, [2] * dims, [1] * dims, ceil_mode, count_include_pad, divisor)
            yield Sample(x, [2] * dims, [2] * dims, [0] * dims, ceil_mode, count_include_pad, divisor)


def pool_gradients(dtype: fl.dtype, sizes: tuple[int, ...], forward: Callable[..., Tensor]) -> Iterator[Sample]:
    for sample in pools(dtype, sizes):
        yield Sample(fl.randn_like(forward(*sample.args)), *sample.args)


def adaptive_pools(dtype: fl.dtype, sizes: tuple[int, ...], outputs: list[int]) -> Iterator[Sample]:
    for leading in ((2, 3), (3,)):
        yield Sample(normal(*leading, *sizes, dtype=dtype), outputs)


def adaptive_gradients(dtype: fl.dtype, sizes: tuple[int, ...], outputs: list[int]) -> Iterator[Sample]:
    for sample in adaptive_pools(dtype, sizes, outputs):
        x = sample.args[0]
        yield Sample(normal(*x.shape[: -len(outputs)], *outputs, dtype=dtype), x)


def embeddings(dtype: fl.dtype) -> Iterator[Sample]:
    for sizes in ((5,), (2, 3), ()):
        yield Sample(normal(7, 3, dtype=dtype), fl.randint(0, 7, sizes), 2)


def embedding_gradients(dtype: fl.dtype) -> Iterator[Sample]:
    for padding in (-1, 2):
        for scaled in (False, True):
            yield Sample(normal(9, 3, dtype=dtype), fl.tensor([0, 2, 2, 1, 6, 0, 0, 3, 2]), 7, padding, scaled)


def attentions(dtype: fl.dtype) -> Iterator[Sample]:
    query, key, value = (normal(2, 3, n, 8, dtype=dtype) for n in (5, 7, 7))
    yield Sample(query, key, value)
    yield Sample(query, key, value, 0.0, False, attn_mask=normal(2, 3, 5, 7, dtype=dtype), scale=0.3)
    yield Sample(key, value, value, 0.0, True)


def attention_gradients(dtype: fl.dtype) -> Iterator[Sample]:
    for sample in attentions(dtype):
        out, logsumexp = fl._scaled_dot_product_flash_attention_for_cpu(*sample.args, **sample.kwargs)
        dropout, causal = (*sample.args[3:], 0.0, False)[:2]
        yield Sample(fl.randn_like(out), *sample.args[:3], out, logsumexp, dropout, causal, **sample.kwargs)


SAMPLES: dict[str, Callable[[fl.dtype], Iterator[Sample]]] = {
    "_softmax": softmaxes,
    "_log_softmax": softmaxes,
    "_softmax_backward_data": lambda d: softmax_gradients(d, fl.softmax),
    "_log_softmax_backward_data": lambda d: softmax_gradients(d, fl.log_softmax),
    "native_layer_norm": lambda d: (Sample(*a, 1e-5) for a in layer_norms(d)),
    "native_layer_norm_backward": layer_norm_gradients,
    "_fused_rms_norm": lambda d: (Sample(*a[:3], e) for a in layer_norms(d) for e in (1e-6, None)),
    "_fused_rms_norm_backward": rms_norm_gradients,
    "native_group_norm": group_norms,
    "native_group_norm_backward": group_norm_gradients,
    "_batch_norm_core": batch_norms,
    "native_batch_norm_backward": batch_norm_gradients,
    "nll_loss_forward": lambda d: likelihoods(d, ()),
    "nll_loss2d_forward": lambda d: likelihoods(d, (2, 3)),
    "nll_loss_backward": lambda d: likelihood_gradients(d, (), fl.ops.aten.nll_loss_forward),
    "nll_loss2d_backward": lambda d: likelihood_gradients(d, (2, 3), fl.ops.aten.nll_loss2d_forward),
    "_fused_adam_": adam_steps,
    "_fused_adamw_": adam_steps,
    "_fused_sgd_": sgd_steps,
    "_fused_adagrad_": lambda d: steps(d, 1, True, lr=0.1, lr_decay=0.2, weight_decay=0.1, eps=1e-8, maximize=True),
    "_fused_rmsprop_": rmsprop_steps,
    "_foreach_add_.List": pairs,
    "_foreach_mul_.List": pairs,
    "_foreach_mul_.Scalar": lambda d: with_number(d, 2.5),
    "_foreach_mul_.Tensor": lambda d: with_number(d, fl.tensor(2.5, dtype=d)),
    "_foreach_clamp_min_.Scalar": lambda d: with_number(d, 0.25),
    "_foreach_clamp_max_.Scalar": lambda d: with_number(d, 0.25),
    "_foreach_norm.Scalar": lambda d: with_number(d, 2),
    "linear": linears,
    "avg_pool2d": lambda d: pools(d, (7, 8)),
    "avg_pool3d": lambda d: pools(d, (5, 6, 7)),
    "avg_pool2d_backward": lambda d: pool_gradients(d, (7, 8), fl._C._nn.avg_pool2d),
    "avg_pool3d_backward": lambda d: pool_gradients(d, (5, 6, 7), fl._C._nn.avg_pool3d),
    "_adaptive_avg_pool2d": lambda d: adaptive_pools(d, (7, 8), [3, 10]),
    "_adaptive_avg_pool3d": lambda d: adaptive_pools(d, (5, 6, 7), [2, 6, 3]),
    "_adaptive_avg_pool2d_backward": lambda d: adaptive_gradients(d, (7, 8), [3, 10]),
    "_adaptive_avg_pool3d_backward": lambda d: adaptive_gradients(d, (5, 6, 7), [2, 6, 3]),
    "convolution": convolutions,
    "convolution_backward": convolution_gradients,
    "embedding": embeddings,
    "embedding_dense_backward": embedding_gradients,
    "_scaled_dot_product_flash_attention_for_cpu": attentions,
    "_scaled_dot_product_flash_attention_for_cpu_backward": attention_gradients,
}  # fmt: skip


def operator(name: str) -> Any:
    packet, _, overload = name.partition(".")
    return getattr(getattr(fl.ops.aten, packet), overload or "default")


def decompositions() -> dict[str, str]:
    """Operators with a kernel and a decomposition, by full name."""
    found = {}
    for name in fl._C._op_names("aten"):
        for overload in fl._C._op_overloads("aten", name):
            *_, python = fl._C._op_function("aten", name, overload, False)._overloads[0]
            if python.startswith("flambeau.aten.decompositions."):
                found[f"{name}.{overload}" if overload else name] = python
    return found


def leaves(x: Any) -> list[Any]:
    return [i for item in x for i in leaves(item)] if isinstance(x, list | tuple) else [x]


def assert_close(name: str, got: list[Any], wanted: list[Any], tolerance: float) -> None:
    assert len(got) == len(wanted), name
    for position, (a, b) in enumerate(zip(got, wanted)):
        if not isinstance(a, Tensor) or not isinstance(b, Tensor):
            assert a is b or a == b or isinstance(a, Tensor) != isinstance(b, Tensor), (name, position)
            continue
        assert (a.shape, a.dtype) == (b.shape, b.dtype), (name, position)
        assert fl.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True), (name, position, (a - b).abs().max())


def test_every_decomposition_has_samples() -> None:
    assert set(decompositions()) == set(SAMPLES)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", SAMPLES)
def test_kernel_and_decomposition_agree(name: str, dtype: fl.dtype) -> None:
    """Results, and what was written to the arguments."""
    module, _, function = decompositions()[name].partition(":")
    decomposition = getattr(importlib.import_module(module), function)
    fl.manual_seed(0)
    for sample in SAMPLES[name](dtype):
        first, second = sample.copy(), sample.copy()
        got = operator(name)(*first.args, **first.kwargs)
        wanted = decomposition(*second.args, **second.kwargs)
        assert_close(name, leaves([got]), leaves([wanted]), TOLERANCES[dtype])
        assert_close(name, leaves(list(first.args)), leaves(list(second.args)), TOLERANCES[dtype])


@pytest.mark.parametrize("name", ["_batch_norm_core", "native_layer_norm_backward", "_softmax"])
def test_decomposition_serves_meta_tensors(name: str) -> None:
    """Backends without the kernel run it: sizes and dtypes come out as the kernel's."""
    for sample in SAMPLES[name](fl.float32):
        real = operator(name)(*sample.copy().args)
        meta = operator(name)(*(a.to("meta") if isinstance(a, Tensor) else a for a in sample.args))
        for a, b in zip(leaves([real]), leaves([meta])):
            assert (a is None and b is None) or ((a.shape, a.dtype) == (b.shape, b.dtype) and b.is_meta)
