"""Optimizer steps of a whole group: against NumPy in float64, in every layout, and with lists that do not fit."""

import flambeau
import numpy as np
import pytest

SIZES = [(3, 4), (), (5,), (0, 2), (300, 70)]


def arrays(seed, dtype, sizes=SIZES):
    g = np.random.RandomState(seed)
    return [np.asarray(g.uniform(-1, 1, s), dtype=dtype) for s in sizes]


def tensors(values):
    return [flambeau.from_numpy(np.array(v)) for v in values]


def steps(n, count):
    return [flambeau.tensor(float(count)) for _ in range(n)]


def close(got, want, dtype):
    tolerance = 2e-6 if dtype == "float32" else 1e-13
    for t, w in zip(got, want, strict=True):
        np.testing.assert_allclose(t.numpy(), w, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("decoupled", [False, True])
@pytest.mark.parametrize("amsgrad", [False, True])
@pytest.mark.parametrize("maximize", [False, True])
def test_adam(dtype, decoupled, amsgrad, maximize):
    p, g, m = (arrays(i, dtype) for i in range(3))
    v, largest = ([np.abs(x) for x in arrays(i, dtype)] for i in (3, 4))
    t = [tensors(x) for x in (p, g, m, v, largest)]
    o = {"lr": 0.05, "beta1": 0.8, "beta2": 0.9, "weight_decay": 0.1, "eps": 1e-6}
    run = flambeau._fused_adamw_ if decoupled else flambeau._fused_adam_
    run(t[0], t[1], t[2], t[3], t[4] if amsgrad else [], steps(len(p), 3), amsgrad=amsgrad, maximize=maximize, **o)
    want = []
    for x, grad, mean, square, top in zip(p, g, m, v, largest):
        x, grad = x.astype(np.float64), np.asarray(-grad if maximize else grad, np.float64)
        if decoupled:
            x = x * (1 - 0.05 * 0.1)
        else:
            grad = grad + 0.1 * x
        mean = 0.8 * mean + 0.2 * grad
        square = 0.9 * square + 0.1 * grad**2
        used = np.maximum(top, square) if amsgrad else square
        x = x - 0.05 / (1 - 0.8**3) * mean / (np.sqrt(used / (1 - 0.9**3)) + 1e-6)
        want.append((x, mean, square, used))
    for i in range(3):
        close(t[(0, 2, 3)[i]], [w[i] for w in want], dtype)
    if amsgrad:
        close(t[4], [w[3] for w in want], dtype)
    assert [a.tolist() for a in t[1]] == [a.tolist() for a in g]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("momentum", [0.0, 0.9])
@pytest.mark.parametrize("nesterov", [False, True])
@pytest.mark.parametrize("first", [False, True])
def test_sgd(dtype, momentum, nesterov, first):
    p, g, b = (arrays(i, dtype) for i in range(3))
    if first:
        b = [np.full_like(x, np.nan) for x in b]  # not read
    t = [tensors(x) for x in (p, g, b)]
    flambeau._fused_sgd_(
        t[0], t[1], t[2] if momentum else [], weight_decay=0.1, momentum=momentum, lr=0.05, dampening=0.3,
        nesterov=nesterov, maximize=False, is_first_step=first,
    )  # fmt: skip
    params, buffers = [], []
    for x, grad, buffer in zip(p, g, b):
        grad = grad.astype(np.float64) + 0.1 * x
        if momentum:
            buffer = grad if first else momentum * buffer + 0.7 * grad
            buffers.append(buffer)
            grad = grad + momentum * buffer if nesterov else buffer
        params.append(x - 0.05 * grad)
    close(t[0], params, dtype)
    if momentum:
        close(t[2], buffers, dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_adagrad(dtype):
    p, g = arrays(0, dtype), arrays(1, dtype)
    s = [np.abs(x) for x in arrays(2, dtype)]
    t = [tensors(x) for x in (p, g, s)]
    flambeau._fused_adagrad_(
        t[0], t[1], t[2], steps(len(p), 4), lr=0.1, lr_decay=0.2, weight_decay=0.1, eps=1e-3, maximize=True
    )
    params, sums = [], []
    for x, grad, total in zip(p, g, s):
        grad = -grad.astype(np.float64) + 0.1 * x
        total = total + grad**2
        sums.append(total)
        params.append(x - 0.1 / 1.6 * grad / (np.sqrt(total) + 1e-3))
    close(t[0], params, dtype)
    close(t[2], sums, dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("centered", [False, True])
@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_rmsprop(dtype, centered, momentum):
    p, g, b = (arrays(i, dtype) for i in range(3))
    a = [x * 0.1 for x in arrays(3, dtype)]
    s = [np.abs(x) + 1 for x in arrays(4, dtype)]
    t = [tensors(x) for x in (p, g, s, a, b)]
    flambeau._fused_rmsprop_(
        t[0], t[1], t[2], t[3] if centered else [], t[4] if momentum else [], lr=0.05, alpha=0.8, eps=1e-3,
        weight_decay=0.1, momentum=momentum, centered=centered, maximize=False,
    )  # fmt: skip
    params = []
    for x, grad, square, mean, buffer in zip(p, g, s, a, b):
        grad = grad.astype(np.float64) + 0.1 * x
        square = 0.8 * square + 0.2 * grad**2
        mean = 0.8 * mean + 0.2 * grad
        step = grad / (np.sqrt(square - mean**2 if centered else square) + 1e-3)
        params.append(x - 0.05 * (momentum * buffer + step if momentum else step))
    close(t[0], params, dtype)


def sgd(params, grads, **options):
    given = {
        "weight_decay": 0.0, "momentum": 0.0, "lr": 1.0, "dampening": 0.0, "nesterov": False, "maximize": False,
        "is_first_step": False,
    }  # fmt: skip
    flambeau._fused_sgd_(params, grads, options.pop("buffers", []), **{**given, **options})


def test_layouts_that_differ_from_the_parameter():
    p = flambeau.zeros(3, 4)
    g = flambeau.from_numpy(np.arange(12, dtype=np.float32).reshape(4, 3)).t()
    sgd([p], [g])
    np.testing.assert_array_equal(p.numpy(), -g.numpy())
    across = flambeau.zeros(4, 3).t()
    sgd([across], [g])
    np.testing.assert_array_equal(across.numpy(), -g.numpy())
    whole = flambeau.zeros(3, 8)
    sgd([whole[:, ::2]], [g])
    np.testing.assert_array_equal(whole.numpy()[:, ::2], -g.numpy())
    np.testing.assert_array_equal(whole.numpy()[:, 1::2], 0)
    sgd([p], [flambeau.ones(()).expand(3, 4)])
    np.testing.assert_array_equal(p.numpy(), -g.numpy() - 1)


def test_a_state_of_another_layout_is_written_back():
    p, g, b = flambeau.zeros(2, 3), flambeau.ones(2, 3), flambeau.ones(3, 2).t()
    sgd([p], [g], buffers=[b], momentum=0.5)
    np.testing.assert_array_equal(b.numpy(), 1.5)


def test_an_infinite_parameter_stays_infinite_without_decay():
    p = flambeau.tensor([float("inf"), 1.0])
    sgd([p], [flambeau.tensor([1.0, 1.0])])
    assert p.tolist() == [float("inf"), 0.0]


def test_writes_are_counted():
    p, g, b = flambeau.zeros(2), flambeau.ones(2), flambeau.zeros(2)
    before = p._version, g._version, b._version
    sgd([p], [g], buffers=[b], momentum=0.5)
    assert (p._version > before[0], g._version == before[1], b._version > before[2]) == (True, True, True)


def test_a_gradient_scaler_divides_and_can_leave_the_step_out():
    p, g = flambeau.zeros(2), flambeau.full((2,), 8.0)
    sgd([p], [g], grad_scale=flambeau.tensor(4.0), found_inf=flambeau.tensor(1.0))
    assert p.tolist() == [0.0, 0.0]
    sgd([p], [g], grad_scale=flambeau.tensor(4.0), found_inf=flambeau.tensor(0.0))
    assert p.tolist() == [-2.0, -2.0]
    assert g.tolist() == [2.0, 2.0]


def test_the_result_does_not_depend_on_the_threads():
    results = []
    for threads in (1, 2):
        before = flambeau.get_num_threads()
        flambeau.set_num_threads(threads)
        p, g, m = (tensors(arrays(i, "float32", [(70_000,), (3,)])) for i in range(3))
        v = [x.abs() for x in m]
        o = {"lr": 0.1, "beta1": 0.9, "beta2": 0.99, "weight_decay": 0.0, "eps": 1e-8}
        flambeau._fused_adam_(p, g, m, v, [], steps(2, 1), amsgrad=False, maximize=False, **o)
        results.append([x.numpy().tobytes() for x in p])
        flambeau.set_num_threads(before)
    assert results[0] == results[1]


def test_no_parameters_are_no_work():
    sgd([], [])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda p: sgd([p], []), r"grads has 0 tensors, but there are 1"),
        (lambda p: sgd([p], [flambeau.zeros(3)]), r"grads\[0\] has shape \[3\], its parameter \[2\]"),
        (lambda p: sgd([p], [flambeau.zeros(2, dtype=flambeau.float64)]), r"grads\[0\] is float64"),
        (lambda p: sgd([p], [p], momentum=0.5), "momentum_buffer_list has 0"),
        (lambda p: sgd([flambeau.zeros(2, dtype=flambeau.int64)], [p]), "float32 or float64, got int64"),
        (lambda p: sgd([flambeau.zeros(()).expand(2)], [p]), "share memory"),
        (
            lambda p: flambeau._fused_adagrad_(
                [p], [p], [p], [p], lr=1.0, lr_decay=0.0, weight_decay=0.0, eps=0.0, maximize=False
            ),
            r"state_steps\[0\]",
        ),
    ],
)
def test_lists_that_do_not_fit_are_refused(call, words):
    with pytest.raises(RuntimeError, match=words):
        call(flambeau.zeros(2))


def test_foreach_add():
    values = [flambeau.zeros(()), flambeau.ones(2, dtype=flambeau.float64), flambeau.ones(2, dtype=flambeau.int64)]
    flambeau._foreach_add_(values, 2)
    assert [v.tolist() for v in values] == [2.0, [3.0, 3.0], [3, 3]]
