"""Activations and their derivatives. Where a derivative takes `output`, it is the forward result."""

from opgen.scalar import functions as fn
from opgen.scalar import scalar
from opgen.scalar.lang import where

SELU_ALPHA = 1.6732632423543772848170429916717
SELU_SCALE = 1.0507009873554804934193349852946


def logistic(x):
    return 1 / (1 + fn.exp(-x))


@scalar(dtypes="real_numeric")
def relu(x):
    return where(x < 0, 0, x)


@scalar(dtypes="real_numeric", params=("threshold", "value"))
def threshold(x, threshold, value):
    return where(x <= threshold, value, x)


@scalar(dtypes="real_numeric", params=("threshold",))
def threshold_backward(grad, x, threshold):
    return where(x <= threshold, 0, grad)


@scalar(dtypes="float_complex", promote="int_to_float")
def sigmoid(x):
    return logistic(x)


@scalar(dtypes="float_complex")
def sigmoid_backward(grad, output):
    if output.is_complex:
        return grad * fn.conj((1 - output) * output)
    return grad * (1 - output) * output


@scalar(dtypes="float_complex")
def silu(x):
    return x / (1 + fn.exp(-x))


@scalar(dtypes="floating")
def silu_backward(grad, x):
    s = logistic(x)
    return grad * s * (1 + x * (1 - s))


SQRT_HALF = 0.7071067811865476
SQRT_2_OVER_PI = 0.7978845608028654
GELU_CUBIC = 0.044715


@scalar(dtypes="floating")
def gelu(x):
    return 0.5 * x * (1 + fn.erf(x * SQRT_HALF))


@scalar(dtypes="floating")
def gelu_backward(grad, x):
    cdf = 0.5 * (1 + fn.erf(x * SQRT_HALF))
    pdf = fn.exp(-0.5 * x * x) * 0.3989422804014327
    return grad * (cdf + x * pdf)


@scalar(dtypes="floating")
def gelu_tanh(x):
    inner = SQRT_2_OVER_PI * (x + GELU_CUBIC * (x * x * x))
    return 0.5 * x * (1 + fn.tanh(inner))


@scalar(dtypes="floating")
def gelu_tanh_backward(grad, x):
    inner = SQRT_2_OVER_PI * (x + GELU_CUBIC * (x * x * x))
    t = fn.tanh(inner)
    slope = SQRT_2_OVER_PI * (1 + 3 * GELU_CUBIC * (x * x))
    return grad * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * slope)


@scalar(dtypes="floating", params=("beta", "threshold"))
def softplus(x, beta, threshold):
    return where(x * beta > threshold, x, fn.log1p(fn.exp(x * beta)) / beta)


@scalar(dtypes="floating", params=("beta", "threshold"))
def softplus_backward(grad, x, beta, threshold):
    z = fn.exp(x * beta)
    return where(x * beta > threshold, grad, grad * z / (z + 1))


@scalar(dtypes="floating", params=("alpha", "scale", "input_scale"))
def elu(x, alpha, scale, input_scale):
    return where(x <= 0, fn.expm1(x * input_scale) * (alpha * scale), x * scale)


@scalar(dtypes="floating", params=("alpha", "scale", "input_scale", "is_result:bool"))
def elu_backward(grad, x, alpha, scale, input_scale, is_result):
    """`x` is the forward input, or its result where `is_result`."""
    coefficient = alpha * scale
    from_result = grad * input_scale * (x + coefficient)
    from_input = grad * input_scale * coefficient * fn.exp(x * input_scale)
    return where(x > 0, grad * scale, where(is_result, from_result, from_input))


@scalar(dtypes="floating")
def selu(x):
    return where(x <= 0, fn.expm1(x) * (SELU_ALPHA * SELU_SCALE), x * SELU_SCALE)


@scalar(dtypes="floating", params=("alpha",))
def celu(x, alpha):
    return where(x <= 0, fn.expm1(x / alpha) * alpha, x)


@scalar(dtypes="floating", params=("negative_slope",))
def leaky_relu(x, negative_slope):
    return where(x > 0, x, x * negative_slope)


@scalar(dtypes="floating", params=("negative_slope",))
def leaky_relu_backward(grad, x, negative_slope):
    return where(x > 0, grad, grad * negative_slope)


@scalar(dtypes="floating")
def prelu_kernel(x, weight):
    return where(x > 0, x, weight * x)


@scalar(dtypes="floating", result=("compute", "compute"))
def prelu_kernel_backward(grad, x, weight):
    """Gradients of x and of weight."""
    return where(x > 0, grad, weight * grad), where(x > 0, 0, x * grad)


def relu_6(x):
    return where(x < 0, 0, where(x > 6, 6, x))


@scalar(dtypes="real_numeric")
def relu6(x):
    return relu_6(x)


@scalar(dtypes="floating")
def hardswish(x):
    return x * relu_6(x + 3) / 6


@scalar(dtypes="floating")
def hardswish_backward(grad, x):
    middle = grad * (x / 3 + 0.5)
    return where(x <= -3, 0, where(x >= 3, grad, middle))


@scalar(dtypes="floating")
def hardsigmoid(x):
    return relu_6(x + 3) / 6


@scalar(dtypes="floating")
def hardsigmoid_backward(grad, x):
    return where((x > -3) & (x < 3), grad / 6, 0)


@scalar(dtypes="real_numeric", params=("low", "high"))
def hardtanh(x, low, high):
    return where(x < low, low, where(x > high, high, x))


@scalar(dtypes="floating", params=("low", "high"))
def hardtanh_backward(grad, x, low, high):
    return where((x > low) & (x < high), grad, 0)


@scalar(dtypes="floating", params=("lambd",), round_params=True)
def hardshrink(x, lambd):
    return where((x >= -lambd) & (x <= lambd), 0, x)


@scalar(dtypes="floating", params=("lambd",))
def softshrink(x, lambd):
    return where(x > lambd, x - lambd, where(x < -lambd, x + lambd, where(x != x, x, 0)))


@scalar(dtypes="floating", params=("lambd",))
def shrink_backward(grad, x, lambd):
    """Of hardshrink and of softshrink."""
    return where((x > lambd) | (x < -lambd), grad, 0)


@scalar(dtypes="floating")
def mish(x):
    return x * fn.tanh(fn.log1p(fn.exp(x)))


@scalar(dtypes="floating")
def mish_backward(grad, x):
    s = logistic(x)
    t = fn.tanh(fn.log1p(fn.exp(x)))
    return grad * (t + x * s * (1 - t * t))


@scalar(dtypes="floating")
def log_sigmoid(x):
    return where(x < 0, x, where(x != x, x, 0)) - fn.log1p(fn.exp(-fn.fabs(x)))


@scalar(dtypes="floating")
def log_sigmoid_backward(grad, x):
    z = fn.exp(-fn.fabs(x))
    return grad * where(x < 0, 1 - z / (1 + z), z / (1 + z))


@scalar(dtypes="floating")
def glu(x, gate):
    """The two halves of glu's input."""
    return x * logistic(gate)


@scalar(dtypes="floating", result=("compute", "compute"))
def glu_backward(grad, x, gate):
    """Gradients of both halves."""
    s = logistic(gate)
    return grad * s, grad * x * s * (1 - s)
