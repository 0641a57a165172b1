"""Functions of the layers, by family.

What is an operator as it stands (`conv2d`, `linear`, `gelu`, ...) is that operator; the rest are
thin functions over operators in the files of this folder. Both are looked up when first used.
"""

from __future__ import annotations

import importlib

import flambeau as torch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from flambeau import adaptive_avg_pool1d as adaptive_avg_pool1d
    from flambeau import avg_pool1d as avg_pool1d
    from flambeau import bilinear as bilinear
    from flambeau import celu_ as celu_
    from flambeau import channel_shuffle as channel_shuffle
    from flambeau import conv1d as conv1d
    from flambeau import conv2d as conv2d
    from flambeau import conv3d as conv3d
    from flambeau import conv_tbc as conv_tbc
    from flambeau import conv_transpose1d as conv_transpose1d
    from flambeau import conv_transpose2d as conv_transpose2d
    from flambeau import conv_transpose3d as conv_transpose3d
    from flambeau import cosine_similarity as cosine_similarity
    from flambeau import hardshrink as hardshrink
    from flambeau import native_channel_shuffle as native_channel_shuffle
    from flambeau import pairwise_distance as pairwise_distance
    from flambeau import pdist as pdist
    from flambeau import pixel_shuffle as pixel_shuffle
    from flambeau import pixel_unshuffle as pixel_unshuffle
    from flambeau import prelu as prelu
    from flambeau import relu_ as relu_
    from flambeau import rrelu_ as rrelu_
    from flambeau import selu_ as selu_
    from flambeau import threshold_ as threshold_
    from flambeau._stubs.aten_nn import avg_pool2d as avg_pool2d
    from flambeau._stubs.aten_nn import avg_pool3d as avg_pool3d
    from flambeau._stubs.aten_nn import elu_ as elu_
    from flambeau._stubs.aten_nn import gelu as gelu
    from flambeau._stubs.aten_nn import hardtanh_ as hardtanh_
    from flambeau._stubs.aten_nn import leaky_relu_ as leaky_relu_
    from flambeau._stubs.aten_nn import linear as linear
    from flambeau._stubs.aten_nn import log_sigmoid as logsigmoid
    from flambeau._stubs.aten_nn import one_hot as one_hot
    from flambeau._stubs.aten_nn import scaled_dot_product_attention as scaled_dot_product_attention
    from flambeau._stubs.aten_nn import softplus as softplus
    from flambeau._stubs.aten_nn import softshrink as softshrink
    from flambeau.nn.functional._activation import *  # noqa: F403
    from flambeau.nn.functional._attention import *  # noqa: F403
    from flambeau.nn.functional._class_loss import *  # noqa: F403
    from flambeau.nn.functional._dropout import *  # noqa: F403
    from flambeau.nn.functional._embedding import *  # noqa: F403
    from flambeau.nn.functional._loss import *  # noqa: F403
    from flambeau.nn.functional._metric_loss import *  # noqa: F403
    from flambeau.nn.functional._normalization import *  # noqa: F403
    from flambeau.nn.functional._padding import *  # noqa: F403
    from flambeau.nn.functional._pooling import *  # noqa: F403
    from flambeau.nn.functional._vision import *  # noqa: F403

# File -> what it brings.
_FILES: dict[str, tuple[str, ...]] = {
    "_activation": (
        "celu", "elu", "glu", "gumbel_softmax", "hardsigmoid", "hardswish", "hardtanh", "leaky_relu",
        "log_softmax", "mish", "relu", "relu6", "rrelu", "selu", "sigmoid", "silu", "softmax", "softmin",
        "softsign", "tanh", "tanhshrink", "threshold",
    ),
    "_attention": (
        "_canonical_mask", "_in_projection", "_in_projection_packed", "_mha_shape_check", "_none_or_dtype",
        "multi_head_attention_forward",
    ),
    "_class_loss": (
        "cross_entropy", "ctc_loss", "linear_cross_entropy", "multi_margin_loss", "multilabel_margin_loss",
        "multilabel_soft_margin_loss", "nll_loss",
    ),
    "_dropout": ("alpha_dropout", "dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout"),
    "_embedding": ("embedding", "embedding_bag"),
    "_loss": (
        "binary_cross_entropy", "binary_cross_entropy_with_logits", "gaussian_nll_loss", "huber_loss",
        "kl_div", "l1_loss", "mse_loss", "poisson_nll_loss", "smooth_l1_loss", "soft_margin_loss",
    ),
    "_metric_loss": (
        "cosine_embedding_loss", "hinge_embedding_loss", "margin_ranking_loss", "triplet_margin_loss",
        "triplet_margin_with_distance_loss",
    ),
    "_normalization": (
        "batch_norm", "group_norm", "instance_norm", "layer_norm", "local_response_norm", "normalize",
        "rms_norm",
    ),
    "_padding": ("pad",),
    "_pooling": (
        "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d",
        "adaptive_max_pool1d_with_indices", "adaptive_max_pool2d", "adaptive_max_pool2d_with_indices",
        "adaptive_max_pool3d", "adaptive_max_pool3d_with_indices", "fractional_max_pool2d",
        "fractional_max_pool2d_with_indices", "fractional_max_pool3d", "fractional_max_pool3d_with_indices",
        "lp_pool1d", "lp_pool2d", "lp_pool3d", "max_pool1d", "max_pool1d_with_indices", "max_pool2d",
        "max_pool2d_with_indices", "max_pool3d", "max_pool3d_with_indices", "max_unpool1d", "max_unpool2d",
        "max_unpool3d",
    ),
    "_vision": (
        "GRID_SAMPLE_INTERPOLATION_MODES", "GRID_SAMPLE_PADDING_MODES", "affine_grid", "fold", "grid_sample",
        "interpolate", "unfold", "upsample", "upsample_bilinear", "upsample_nearest",
    ),
}  # fmt: skip
_WHERE = {name: file for file, names in _FILES.items() for name in names}

# Functions that are operators: name here -> name in `flambeau`, or after "nn." in
# `flambeau._C._nn`.
_OPERATORS = {
    "adaptive_avg_pool1d": "adaptive_avg_pool1d",
    "avg_pool1d": "avg_pool1d",
    "avg_pool2d": "nn.avg_pool2d",
    "avg_pool3d": "nn.avg_pool3d",
    "bilinear": "bilinear",
    "celu_": "celu_",
    "channel_shuffle": "channel_shuffle",
    "conv1d": "conv1d",
    "conv2d": "conv2d",
    "conv3d": "conv3d",
    "conv_tbc": "conv_tbc",
    "conv_transpose1d": "conv_transpose1d",
    "conv_transpose2d": "conv_transpose2d",
    "conv_transpose3d": "conv_transpose3d",
    "cosine_similarity": "cosine_similarity",
    "elu_": "nn.elu_",
    "gelu": "nn.gelu",
    "hardshrink": "hardshrink",
    "hardtanh_": "nn.hardtanh_",
    "leaky_relu_": "nn.leaky_relu_",
    "linear": "nn.linear",
    "logsigmoid": "nn.log_sigmoid",
    "native_channel_shuffle": "native_channel_shuffle",
    "one_hot": "nn.one_hot",
    "pairwise_distance": "pairwise_distance",
    "pdist": "pdist",
    "pixel_shuffle": "pixel_shuffle",
    "pixel_unshuffle": "pixel_unshuffle",
    "prelu": "prelu",
    "relu_": "relu_",
    "rrelu_": "rrelu_",
    "scaled_dot_product_attention": "nn.scaled_dot_product_attention",
    "selu_": "selu_",
    "softplus": "nn.softplus",
    "softshrink": "nn.softshrink",
    "threshold_": "threshold_",
}

# Names that programs take from here though they live elsewhere.
_ELSEWHERE = {
    "Tensor": "flambeau:Tensor",
    "_Reduction": "flambeau.nn:_reduction",
    "_list_with_default": "flambeau.nn.modules.utils:_list_with_default",
    "_pair": "flambeau.nn.modules.utils:_pair",
    "_single": "flambeau.nn.modules.utils:_single",
    "_triple": "flambeau.nn.modules.utils:_triple",
    "grad": "flambeau.nn:grad",
}


if not TYPE_CHECKING:  # to checkers the names are those imported above, and no others
    __all__ = sorted({*_OPERATORS, *(name for name in _WHERE if not name.startswith("_"))})

    def __getattr__(name: str) -> Any:
        if name in _WHERE:
            value = getattr(importlib.import_module(f"{__name__}.{_WHERE[name]}"), name)
        elif name in _OPERATORS:
            path = _OPERATORS[name]
            owner = torch._C._nn if path.startswith("nn.") else torch
            value = getattr(owner, path.removeprefix("nn."))
        elif name in _ELSEWHERE:
            module, _, attribute = _ELSEWHERE[name].partition(":")
            value = getattr(importlib.import_module(module), attribute)
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
