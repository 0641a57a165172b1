"""The layers, by family. A file is loaded when one of its names is first used."""

from __future__ import annotations

import importlib

from flambeau.nn.modules.module import Module as Module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from flambeau.nn.modules.activation import *  # noqa: F403
    from flambeau.nn.modules.adaptive import *  # noqa: F403
    from flambeau.nn.modules.batchnorm import *  # noqa: F403
    from flambeau.nn.modules.channelshuffle import *  # noqa: F403
    from flambeau.nn.modules.container import *  # noqa: F403
    from flambeau.nn.modules.conv import *  # noqa: F403
    from flambeau.nn.modules.distance import *  # noqa: F403
    from flambeau.nn.modules.dropout import *  # noqa: F403
    from flambeau.nn.modules.flatten import *  # noqa: F403
    from flambeau.nn.modules.fold import *  # noqa: F403
    from flambeau.nn.modules.instancenorm import *  # noqa: F403
    from flambeau.nn.modules.linear import *  # noqa: F403
    from flambeau.nn.modules.linear_cross_entropy_options import *  # noqa: F403
    from flambeau.nn.modules.loss import *  # noqa: F403
    from flambeau.nn.modules.normalization import *  # noqa: F403
    from flambeau.nn.modules.padding import *  # noqa: F403
    from flambeau.nn.modules.pixelshuffle import *  # noqa: F403
    from flambeau.nn.modules.pooling import *  # noqa: F403
    from flambeau.nn.modules.rnn import *  # noqa: F403
    from flambeau.nn.modules.sparse import *  # noqa: F403
    from flambeau.nn.modules.transformer import *  # noqa: F403
    from flambeau.nn.modules.upsampling import *  # noqa: F403

# File -> what it brings; a test holds this against the files' own lists.
_FILES: dict[str, tuple[str, ...]] = {
    "activation": (
        "CELU", "ELU", "GELU", "GLU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "LeakyReLU",
        "LogSigmoid", "LogSoftmax", "Mish", "MultiheadAttention", "PReLU", "RReLU", "ReLU", "ReLU6", "SELU",
        "SiLU", "Sigmoid", "Softmax", "Softmax2d", "Softmin", "Softplus", "Softshrink", "Softsign", "Tanh",
        "Tanhshrink", "Threshold",
    ),
    "adaptive": ("AdaptiveLogSoftmaxWithLoss",),
    "batchnorm": (
        "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "LazyBatchNorm1d", "LazyBatchNorm2d", "LazyBatchNorm3d",
        "SyncBatchNorm",
    ),
    "channelshuffle": ("ChannelShuffle",),
    "container": ("Container", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"),
    "conv": (
        "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d", "LazyConv1d",
        "LazyConv2d", "LazyConv3d", "LazyConvTranspose1d", "LazyConvTranspose2d", "LazyConvTranspose3d",
    ),
    "distance": ("CosineSimilarity", "PairwiseDistance"),
    "dropout": ("AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "FeatureAlphaDropout"),
    "flatten": ("Flatten", "Unflatten"),
    "fold": ("Fold", "Unfold"),
    "instancenorm": (
        "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d", "LazyInstanceNorm1d", "LazyInstanceNorm2d",
        "LazyInstanceNorm3d",
    ),
    "linear": ("Bilinear", "Identity", "LazyLinear", "Linear"),
    "linear_cross_entropy_options": ("LinearCrossEntropyOptions",),
    "loss": (
        "BCELoss", "BCEWithLogitsLoss", "CTCLoss", "CosineEmbeddingLoss", "CrossEntropyLoss",
        "GaussianNLLLoss", "HingeEmbeddingLoss", "HuberLoss", "KLDivLoss", "L1Loss", "LinearCrossEntropyLoss",
        "MSELoss", "MarginRankingLoss", "MultiLabelMarginLoss", "MultiLabelSoftMarginLoss", "MultiMarginLoss",
        "NLLLoss", "NLLLoss2d", "PoissonNLLLoss", "SmoothL1Loss", "SoftMarginLoss", "TripletMarginLoss",
        "TripletMarginWithDistanceLoss",
    ),
    "normalization": ("CrossMapLRN2d", "GroupNorm", "LayerNorm", "LocalResponseNorm", "RMSNorm"),
    "padding": (
        "CircularPad1d", "CircularPad2d", "CircularPad3d", "ConstantPad1d", "ConstantPad2d", "ConstantPad3d",
        "ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d", "ReplicationPad1d", "ReplicationPad2d",
        "ReplicationPad3d", "ZeroPad1d", "ZeroPad2d", "ZeroPad3d",
    ),
    "pixelshuffle": ("PixelShuffle", "PixelUnshuffle"),
    "pooling": (
        "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d",
        "AdaptiveMaxPool2d", "AdaptiveMaxPool3d", "AvgPool1d", "AvgPool2d", "AvgPool3d",
        "FractionalMaxPool2d", "FractionalMaxPool3d", "LPPool1d", "LPPool2d", "LPPool3d", "MaxPool1d",
        "MaxPool2d", "MaxPool3d", "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d",
    ),
    "rnn": ("GRU", "GRUCell", "LSTM", "LSTMCell", "RNN", "RNNBase", "RNNCell", "RNNCellBase"),
    "sparse": ("Embedding", "EmbeddingBag"),
    "transformer": (
        "Transformer", "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder",
        "TransformerEncoderLayer",
    ),
    "upsampling": ("Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d"),
}  # fmt: skip
_WHERE = {name: file for file, names in _FILES.items() for name in names}
_OTHER_FILES = ("lazy", "linear_cross_entropy", "module", "utils")


if not TYPE_CHECKING:  # to checkers the names are those imported above, and no others
    __all__ = ["Module", *sorted(_WHERE)]

    def __getattr__(name: str) -> Any:
        if name in _WHERE:
            value = getattr(importlib.import_module(f"{__name__}.{_WHERE[name]}"), name)
        elif name in _FILES or name in _OTHER_FILES:
            value = importlib.import_module(f"{__name__}.{name}")
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *_WHERE, *_FILES, *_OTHER_FILES})
