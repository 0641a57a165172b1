"""Differences that stay, each with its reason. They count as different all the same."""

from __future__ import annotations

import re
from typing import NamedTuple


class Expected(NamedTuple):
    """Matches a difference: patterns of the sample, the form, the kind of comparison and what differs."""

    reason: str
    text: str
    form: str = ".*"
    kind: str = ".*"
    difference: str = ""


EMPTY = "size 0.*"
REASONS = (
    # what torch refuses
    Expected(
        "torch's transform library does not take empty batches",
        r"fl\.fft\.",
        EMPTY,
        "error",
        "MKL",
    ),
    Expected(
        "torch gives no derivative for an input that asks for one, and says so; here that input gets none",
        "",
        difference="is not differentiable with respect to",
    ),
    Expected(
        "torch has no derivative for complex results",
        "",
        difference="does not support automatic differentiation",
    ),
    Expected(
        "torch asks for contiguous inputs",
        r"conv_tbc|take_along_dim|native_group_norm|as_strided_scatter",
        "strided|transposed",
        "error",
        "torch raises",
    ),
    Expected(
        "torch refuses empty inputs; the result here is empty too, or zeros",
        r"conv|pool|batch_norm|embedding_bag|constant_pad_nd",
        EMPTY,
        "error",
        "torch raises",
    ),
    Expected("a 0-d or empty vector gives an empty matrix here", r"vander|fftshift|quantile|repeat_interleave|unique", kind="error"),
    # what torch gives
    Expected(
        "torch returns an empty input as it is, here the result has the shape that its other sizes ask for",
        r"pixel_unshuffle|F\.conv2d",
        EMPTY,
        "value",
        "shape",
    ),
    Expected("torch reads memory that nothing wrote", r"multi_margin_loss|multilabel_margin_loss|median", EMPTY, "value"),
    Expected("torch reads the indices as if they were contiguous", r"adaptive_max_pool3d_backward", "strided|transposed", "value"),
    Expected("torch writes past the strides of out=", r"narrow_copy", "out strided", "value"),
    Expected("torch gives the gradient of the elements that were overwritten", r"as_strided_scatter", kind="gradient"),
    Expected("torch leaves the history as if nothing were written", r"logical_", "in-place|other dtypes", "gradient"),
    Expected("torch's values have 8 digits, these 15", r"airy_ai|bessel_[jy]", kind="value", difference="differs"),
    Expected("torch rounds a constant to float32", r"hardsigmoid|celu", kind="gradient|value", difference="e-0[89]"),
    Expected(
        "the gradient is 0; what is left is rounding, on both sides", r"group_norm\(t\(2, 6\), 6", kind="gradient", difference="differs"
    ),
    Expected(
        "float16 and bfloat16: rounding of sums in another order, nearer to float64 here or as near",
        r"conv2d|sinc|grid_sample|multi_head|histc|fmod",
        difference="differs",
    ),
    Expected("equal elements: which one's index is given is not defined", r"sort|topk|kthvalue|median|mode", difference="differ"),
    Expected("a source position that falls on a half is rounded to the other side", r"interpolate|upsample", "other dtypes", "value", "elements differ"),
    Expected("torch adds integers in another width", r"bilinear", "other dtypes", "dtype|value"),
    # what is another decision here
    Expected("conj() is computed at once, so its result is dense", r"conj|\.H|adjoint", "strided", "stride"),
    Expected("copies are dense; torch keeps the gaps of the input", r"_scatter", "strided", "stride"),
    Expected("complex numbers of float16 are storage only", "", "other dtypes", difference="float16|ComplexHalf|complex64 instead|float32 instead|recursion"),
    Expected(
        "a tensor with history does not change its geometry in place: x = x.transpose(...)", r"swapaxes|swapdims|as_strided", "in-place"
    ),
    Expected("a fraction for an integer tensor is refused here, torch cuts it", r"addcmul|threshold", "other dtypes"),
    Expected("a gradient of zeros is None on one side", r"greater|less|not_equal|grid_sample|scaled_dot", kind="gradient", difference="none here|none in torch"),
    Expected("a kernel of size 0 is refused here", r"conv", EMPTY, "value", "must be positive|to be at least 1"),
    Expected("torch does not look at indices into an empty tensor", r"index_add", EMPTY, "value", "out of bounds"),
    Expected("row-major in torch; here the layout of the input stays", r"masked_fill|logsigmoid|angle|\[None, i", kind="stride"),
    Expected("a resized out= takes the strides of what the function returns without it", "", "out", "stride"),
    Expected("strides of an empty tensor mean nothing", r"stride\(\)", EMPTY, "value"),
    Expected("norm of order 0 does not depend on the elements", r"norm\(t\(3, 4\), 0", kind="gradient"),
)  # fmt: skip


def reason_for(text: str, form: str, kind: str, difference: str) -> str:
    """Why this difference stays; '' if nothing explains it."""
    for e in REASONS:
        if (
            re.search(e.text, text)
            and re.fullmatch(e.form, form)
            and re.fullmatch(e.kind, kind)
            and re.search(e.difference, difference)
        ):
            return e.reason
    return ""
