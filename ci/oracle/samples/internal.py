"""Operators that modules and derivatives call, under the names that they have in the table of operators."""

from __future__ import annotations

from . import calls, lines, seeded

IN_PLACE = "relu6_ selu_ silu_ mish_ hardswish_ hardsigmoid_ celu_ elu_ leaky_relu_ hardtanh_ gelu_"
BACKWARD = (
    "gelu_backward sigmoid_backward silu_backward hardswish_backward hardsigmoid_backward mish_backward tanh_backward"
)
POOL2D = "(2, 2), (2, 2), (0, 0), (1, 1), False"
POOL3D = "(2, 2, 2), (2, 2, 2), (0, 0, 0), (1, 1, 1), False"
AVERAGE = "False, True, None"

SAMPLES = [
    *calls("f", IN_PLACE, ("t(9)", "t(3, 4)"), "fl.ops.aten"),
    *calls("f", BACKWARD, ("t(9), u(9)", "t(3, 4), u(3, 4)"), "fl.ops.aten"),
    *calls("f", "reflection_pad1d replication_pad1d", ("t(1, 2, 5), (2, 1)",), "fl.ops.aten"),
    *calls("f", "reflection_pad2d replication_pad2d", ("t(1, 2, 4, 5), (1, 2, 1, 1)",), "fl.ops.aten"),
    *calls("f", "reflection_pad3d replication_pad3d", ("t(1, 2, 3, 4, 5), (1, 1, 1, 1, 1, 1)",), "fl.ops.aten"),
    *calls("f", "arctan2 divide", ("t(3, 4), p(4)",)),
    *calls("f", "acosh arccosh", ("p(9) + 1",)),
    *lines("f", f"""
        fl.ops.aten.threshold_(t(9), 0.1, 2.0)
        fl.ops.aten.mvlgamma_(p(9) + 2, 2)
        (p(9) + 1).acosh_()
        (p(9) + 1).arccosh_()
        p(9).arctan2_(t(9))
        fl.ops.aten.hardtanh_backward(t(9), t(9), -1, 1)
        fl.ops.aten.threshold_backward(t(9), t(9), 0.1)
        fl.ops.aten.softplus_backward(t(9), t(9), 1, 20)
        fl.ops.aten.convolution(t(2, 3, 7), t(4, 3, 3), t(4), (1,), (1,), (1,), False, (0,), 1)
        fl.ops.aten.convolution(t(2, 3, 7), t(3, 4, 3), None, (2,), (1,), (1,), True, (1,), 1)
        fl.embedding_renorm_(t(7, 4).detach(), i(7, 3), 1.0, 2.0)
        fl.ops.aten.nll_loss_forward(t(5, 4), i(4, 5), None, 1, -100)
        fl.ops.aten.nll_loss_backward(t(), t(5, 4), i(4, 5), None, 1, -100, p().detach())
        fl.ops.aten.nll_loss2d_forward(t(2, 4, 3, 3), i(4, 2, 3, 3), None, 1, -100)
        fl.ops.aten.nll_loss2d_backward(t(), t(2, 4, 3, 3), i(4, 2, 3, 3), None, 1, -100, p().detach())
        fl.ops.aten.nll_loss2d(t(2, 4, 3, 3), i(4, 2, 3, 3))
        fl.ops.aten.nll_loss_nd(t(5, 4), i(4, 5))
        fl.ops.aten.max_pool2d_with_indices(t(2, 3, 8, 8), 2)
        fl.ops.aten.max_pool3d_with_indices(t(1, 2, 4, 4, 4), (2, 2, 2))
        fl.max_pool1d_with_indices(t(2, 3, 9), 3)
        fl.ops.aten.max_pool2d_with_indices_backward(t(1, 2, 2, 2), t(1, 2, 4, 4), {POOL2D}, i(16, 1, 2, 2, 2))
        fl.ops.aten.max_pool3d_with_indices_backward(t(1, 1, 2, 2, 2), t(1, 1, 4, 4, 4), {POOL3D}, i(64, 1, 1, 2, 2, 2))
        fl.ops.aten.avg_pool2d_backward(t(1, 2, 2, 2), t(1, 2, 4, 4), (2, 2), (2, 2), (0, 0), {AVERAGE})
        fl.ops.aten.avg_pool3d_backward(t(1, 1, 2, 2, 2), t(1, 1, 4, 4, 4), (2, 2, 2), (2, 2, 2), (0, 0, 0), {AVERAGE})
        fl.ops.aten.adaptive_max_pool2d_backward(t(1, 2, 2, 2), t(1, 2, 4, 4), i(16, 1, 2, 2, 2))
        fl.ops.aten.adaptive_max_pool3d_backward(t(1, 1, 2, 2, 2), t(1, 1, 4, 4, 4), i(64, 1, 1, 2, 2, 2))
        fl.ops.aten.native_dropout_backward(t(9), m(9), 2.0)
        fl.native_channel_shuffle(t(1, 6, 2, 2), 3)
        fl.view_as_real_copy(fl.complex(t(3), t(3)))
        fl.view_as_complex_copy(t(3, 2))
        fl.ops.aten.upsample_nearest1d(t(1, 2, 5), (8,))
        fl.ops.aten.upsample_nearest2d(t(1, 2, 4, 5), (7, 3))
        fl.ops.aten.upsample_nearest3d(t(1, 2, 3, 4, 5), (4, 3, 6))
        fl.ops.aten.upsample_linear1d(t(1, 2, 5), (8,), False)
        fl.ops.aten.upsample_bilinear2d(t(1, 2, 4, 5), (7, 3), True)
        fl.ops.aten.upsample_trilinear3d(t(1, 2, 3, 4, 5), (4, 3, 6), False)
        fl.ops.aten.upsample_bicubic2d(t(1, 2, 4, 5), (7, 3), False)
        fl.ops.aten.upsample_nearest2d_backward(t(1, 2, 7, 3), (7, 3), (1, 2, 4, 5))
        fl.ops.aten.upsample_bilinear2d_backward(t(1, 2, 7, 3), (7, 3), (1, 2, 4, 5), False)
        F.fractional_max_pool3d(t(1, 2, 5, 5, 5), 2, output_size=3, _random_samples=(p(1, 2, 3) / 9).detach())
        fl.grid_sampler(t(1, 2, 4, 5), u(1, 3, 2, 2), 0, 0, False)
        fl.grid_sampler_2d(t(1, 2, 4, 5), u(1, 3, 2, 2), 0, 1, True)
        fl.grid_sampler_3d(t(1, 2, 3, 4, 5), u(1, 2, 2, 2, 3), 0, 0, False)
        fl.affine_grid_generator(t(2, 2, 3), (2, 1, 4, 5), False)
        fl.ops.aten.slice(t(5, 3), 0, 1, 5, 2)
        fl.ops.aten.index(t(4, 5), [i(4, 3), None])
        t(3).chalf().shape
        p(3).divide_(p(3))
    """),
    *seeded("""
        F.dropout(t(20), 0.5, inplace=True)
        fl.feature_dropout(t(2, 4, 3), 0.5, True)
        fl.feature_dropout_(t(2, 4, 3), 0.5, True)
        fl.dropout_(t(20), 0.5, True)
        fl.alpha_dropout_(t(20), 0.5, True)
        fl.feature_alpha_dropout_(t(2, 4, 3), 0.5, True)
        fl.rrelu_(t(20))
    """),
]  # fmt: skip
