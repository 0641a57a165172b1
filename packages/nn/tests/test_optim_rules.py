"""Each optimizer gives recorded numbers, by its plain rule and by whatever runs by default."""

import math

import flambeau
import optim_goldens
import pytest

START = [[0.5, -1.25, 2.0], [0.75, -0.5, 1.0]]
SLOPE = [[0.1, -0.2, 0.3], [0.4, 0.5, -0.6]]


def gradient(p, i):
    return p.detach() * 0.5 + flambeau.tensor(SLOPE) * (i - 2.0)


def run(name, options, steps=6, dtype=None):
    p = flambeau.tensor(START, dtype=dtype or flambeau.float32).requires_grad_()
    optimizer = getattr(flambeau.optim, name)([p], **options)
    for i in range(steps):
        p.grad = gradient(p, i).to(p.dtype)
        optimizer.step()
    return p.detach().flatten().tolist()


def case_id(row):
    return f"{row[0]}-{'-'.join(f'{k}={v}' for k, v in row[1].items())}"


@pytest.mark.parametrize("row", optim_goldens.RULES, ids=case_id)
@pytest.mark.parametrize("mode", [{}, {"foreach": True}, {"foreach": False}], ids=str)
def test_six_steps_give_the_recorded_parameters(row, mode):
    name, options, expected = row
    assert run(name, {**options, **mode}) == pytest.approx(expected, rel=2e-6, abs=2e-6)


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "Adagrad"])
@pytest.mark.parametrize("fused", [True, False])
def test_the_kernel_and_the_plain_rule_agree(name, fused):
    options = {"lr": 0.05, "weight_decay": 0.1}
    assert run(name, {**options, "fused": fused}) == pytest.approx(run(name, options), rel=2e-6)


@pytest.mark.parametrize("row", optim_goldens.RULES, ids=case_id)
def test_a_differentiable_step_gives_the_same_numbers(row):
    name, options, expected = row
    if name == "Adafactor":
        pytest.skip("has no such option")
    p = flambeau.tensor(START, requires_grad=True).clone()
    optimizer = getattr(flambeau.optim, name)([p], differentiable=True, **options)
    for i in range(6):
        p.grad = gradient(p, i)
        optimizer.step()
    assert p.detach().flatten().tolist() == pytest.approx(expected, rel=2e-6, abs=2e-6)


def test_a_differentiable_step_passes_gradients_to_the_gradient():
    w = flambeau.tensor([1.0, 2.0], requires_grad=True)
    p = w.clone()
    g = flambeau.tensor([0.5, -0.5], requires_grad=True)
    optimizer = flambeau.optim.SGD([p], lr=0.1, differentiable=True)
    p.grad = g
    optimizer.step()
    p.sum().backward()
    assert g.grad.tolist() == pytest.approx([-0.1, -0.1])
    assert w.grad.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("name", ["SGD", "Adam", "RMSprop", "Adagrad", "NAdam", "Rprop"])
def test_a_tensor_rate_gives_the_numbers_of_the_float(name):
    plain = run(name, {"lr": 0.0625})
    tensor = run(name, {"lr": flambeau.tensor(0.0625)})
    assert tensor == pytest.approx(plain, rel=2e-6)


def test_float64_parameters_keep_their_precision():
    p = flambeau.tensor([1.0], dtype=flambeau.float64, requires_grad=True)
    optimizer = flambeau.optim.Adam([p], lr=0.1)
    p.grad = flambeau.tensor([0.3], dtype=flambeau.float64)
    optimizer.step()
    assert p.item() == pytest.approx(1.0 - 0.1 * 0.3 / (0.3 + 1e-8), abs=1e-15)


def test_parameters_without_gradient_stay():
    a = flambeau.ones(2, requires_grad=True)
    b = flambeau.ones(2, requires_grad=True)
    optimizer = flambeau.optim.Adam([a, b], lr=0.1)
    a.grad = flambeau.ones(2)
    optimizer.step()
    assert b.tolist() == [1.0, 1.0]
    assert b not in optimizer.state
    b.grad = flambeau.ones(2)
    optimizer.step()
    assert optimizer.state[a]["step"].item() == 2
    assert optimizer.state[b]["step"].item() == 1


def test_momentum_of_a_parameter_that_joins_late_starts_from_its_gradient():
    a = flambeau.zeros(1, requires_grad=True)
    b = flambeau.zeros(1, requires_grad=True)
    optimizer = flambeau.optim.SGD([a, b], lr=1.0, momentum=0.5, dampening=0.5)
    a.grad = flambeau.ones(1)
    optimizer.step()
    a.grad, b.grad = flambeau.ones(1), flambeau.ones(1)
    optimizer.step()
    assert a.item() == -2.0
    assert b.item() == -1.0


def test_parameters_of_two_dtypes_in_a_group():
    a = flambeau.ones(2, requires_grad=True)
    b = flambeau.ones(2, dtype=flambeau.float64, requires_grad=True)
    optimizer = flambeau.optim.Adam([a, b], lr=0.1)
    a.grad, b.grad = flambeau.ones(2), flambeau.ones(2, dtype=flambeau.float64)
    optimizer.step()
    assert a.tolist() == pytest.approx([0.9, 0.9], rel=1e-6)
    assert b.tolist() == pytest.approx([0.9, 0.9], rel=1e-6)


def test_parameters_and_state_can_be_exchanged_between_steps():
    p = flambeau.ones(4, requires_grad=True)
    optimizer = flambeau.optim.Adam([p], lr=0.1)
    p.grad = flambeau.ones(4)
    optimizer.step()
    state = optimizer.state.pop(p)
    q = p.detach()[:2].clone().requires_grad_()
    optimizer.param_groups[0]["params"][0] = q
    optimizer.state[q] = {k: v if v.dim() == 0 else v[:2].clone() for k, v in state.items()}
    q.grad = flambeau.ones(2)
    optimizer.step()
    assert q.tolist() == pytest.approx([0.8, 0.8], rel=1e-5)


def test_muon_makes_steps_of_nearly_equal_singular_values():
    p = flambeau.zeros(3, 3, requires_grad=True)
    optimizer = flambeau.optim.Muon([p], lr=1.0, weight_decay=0.0)
    p.grad = flambeau.tensor([[3.0, 1.0, 0.0], [0.0, 2.0, 1.0], [0.5, 0.0, 1.0]])
    optimizer.step()
    gram = (p.detach() @ p.detach().T).tolist()
    for i in range(3):
        for j in range(3):
            assert gram[i][j] == pytest.approx(float(i == j), abs=0.5)


@pytest.mark.parametrize("line_search", [None, "strong_wolfe"])
def test_lbfgs_finds_the_minimum_of_a_quadratic(line_search):
    target = flambeau.tensor([1.0, -2.0, 3.0])
    scale = flambeau.tensor([1.0, 4.0, 9.0])
    p = flambeau.zeros(3, requires_grad=True)
    optimizer = flambeau.optim.LBFGS([p], lr=1.0, max_iter=50, line_search_fn=line_search)

    def closure():
        optimizer.zero_grad()
        loss = (scale * (p - target) ** 2).sum()
        loss.backward()
        return loss

    first = optimizer.step(closure)
    assert float(first.detach()) == pytest.approx(1 + 16 + 81)
    assert p.tolist() == pytest.approx([1.0, -2.0, 3.0], abs=1e-4)
    assert optimizer.state[p]["func_evals"] <= 62


def test_lbfgs_walks_the_rosenbrock_valley():
    p = flambeau.tensor([-1.2, 1.0], dtype=flambeau.float64, requires_grad=True)
    optimizer = flambeau.optim.LBFGS([p], max_iter=60, line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        x, y = p[0], p[1]
        loss = 100 * (y - x * x) ** 2 + (1 - x) ** 2
        loss.backward()
        return loss

    for _ in range(3):
        optimizer.step(closure)
    assert p.tolist() == pytest.approx([1.0, 1.0], abs=1e-3)


def test_complex_parameters_move_as_pairs_of_reals():
    p = flambeau.tensor([1 + 2j], requires_grad=True)
    q = flambeau.tensor([1.0, 2.0], requires_grad=True)
    a, b = (flambeau.optim.Adam([x], lr=0.1) for x in (p, q))
    for _ in range(3):
        p.grad, q.grad = flambeau.tensor([0.5 - 1j]), flambeau.tensor([0.5, -1.0])
        a.step()
        b.step()
    value = p.detach().tolist()[0]
    assert [value.real, value.imag] == pytest.approx(q.tolist())


def test_steps_with_the_rate_zero_change_nothing():
    assert run("AdamW", {"lr": 0.0}) == pytest.approx([v for row in START for v in row])
    assert not any(math.isnan(v) for v in run("Adam", {"lr": 0.0}))
