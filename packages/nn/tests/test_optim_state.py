"""Groups, hooks, checkpoints and errors of optimizers."""

import copy
import pickle
import warnings

import flambeau
import pytest
from flambeau.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook


def parameter(*values):
    return flambeau.tensor(list(values), requires_grad=True)


def stepped(optimizer, *gradients):
    for group in optimizer.param_groups:
        for p in group["params"]:
            p.grad = flambeau.ones_like(p)
    optimizer.step()
    return optimizer


# ---- construction


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda p: flambeau.optim.Adam(p), TypeError, "iterable of Tensors"),
        (lambda p: flambeau.optim.Adam([]), ValueError, "empty parameter list"),
        (lambda p: flambeau.optim.Adam([3]), TypeError, "int"),
        (lambda p: flambeau.optim.Adam([{"params": {p}}]), TypeError, "ordered"),
        (lambda p: flambeau.optim.Adam([p * 1]), ValueError, "non-leaf"),
        (lambda p: flambeau.optim.Adam([{"params": [p]}, {"params": [p]}]), ValueError, "more than one"),
        (lambda p: flambeau.optim.Adam([("a", p), p]), ValueError, "names are missing"),
        (lambda p: flambeau.optim.Adam([p], lr=-1), ValueError, "learning rate: -1"),
        (lambda p: flambeau.optim.Adam([p], betas=(1.0, 0.9)), ValueError, "index 0: 1.0"),
        (lambda p: flambeau.optim.Adam([p], eps=-1), ValueError, "epsilon value: -1"),
        (lambda p: flambeau.optim.Adam([p], weight_decay=-1), ValueError, "weight_decay value: -1"),
        (lambda p: flambeau.optim.Adam([p], fused=True, foreach=True), RuntimeError, "cannot be `True`"),
        (lambda p: flambeau.optim.Adam([p], fused=True, differentiable=True), RuntimeError, "differentiable"),
        (lambda p: flambeau.optim.Adam([p], lr=flambeau.ones(2)), ValueError, "1-element"),
        (lambda p: flambeau.optim.SGD([p], nesterov=True), ValueError, "Nesterov"),
        (lambda p: flambeau.optim.SGD([p], momentum=-0.5), ValueError, "momentum value: -0.5"),
        (lambda p: flambeau.optim.Rprop([p], etas=(1.5, 1.2)), ValueError, "1.5, 1.2"),
        (lambda p: flambeau.optim.Adadelta([p], rho=2), ValueError, "rho value: 2"),
        (lambda p: flambeau.optim.Adafactor([p], d=0.5), ValueError, "0.5"),
        (lambda p: flambeau.optim.Muon([p]), ValueError, "2D"),
        (lambda p: flambeau.optim.LBFGS([{"params": [p]}, {"params": [parameter(1.0)]}]), ValueError, "groups"),
        (lambda p: flambeau.optim.SGD([p]).add_param_group([p]), TypeError, "must be a dict"),
    ],
)
def test_a_bad_option_is_refused_by_name(make, error, words):
    with pytest.raises(error, match=words):
        make(parameter(1.0))


def test_a_parameter_named_twice_in_a_group_warns():
    p = parameter(1.0)
    with pytest.warns(UserWarning, match="duplicate"):
        flambeau.optim.SGD([p, p])


def test_groups_take_their_own_options_and_the_defaults():
    a, b = parameter(1.0), parameter(1.0)
    optimizer = flambeau.optim.SGD([{"params": [a]}, {"params": b, "lr": 0.5}], lr=0.1)
    stepped(optimizer)
    assert a.item() == pytest.approx(0.9)
    assert b.item() == pytest.approx(0.5)
    c = parameter(1.0)
    optimizer.add_param_group({"params": c, "lr": 1.0})
    stepped(optimizer)
    assert c.item() == 0.0


def test_the_options_of_adam_are_those_of_torch_in_their_order():
    group = flambeau.optim.Adam([parameter(1.0)]).param_groups[0]
    assert list(group) == [
        "params", "lr", "betas", "eps", "weight_decay", "amsgrad", "maximize", "foreach",
        "capturable", "differentiable", "fused", "decoupled_weight_decay",
    ]  # fmt: skip
    assert group["fused"] is None
    assert group["foreach"] is None


def test_repr_lists_the_options_of_every_group():
    text = repr(flambeau.optim.SGD([parameter(1.0)], lr=0.5))
    assert text == (
        "SGD (\nParameter Group 0\n    dampening: 0\n    differentiable: False\n    foreach: None\n"
        "    fused: None\n    lr: 0.5\n    maximize: False\n    momentum: 0\n    nesterov: False\n"
        "    weight_decay: 0\n)"
    )


def test_an_unknown_name_says_what_there_is():
    with pytest.raises(AttributeError, match="Adam"):
        flambeau.optim.Addam


# ---- stepping


def test_step_returns_what_the_closure_returned_and_runs_it_with_gradients():
    p = parameter(2.0)
    optimizer = flambeau.optim.SGD([p], lr=0.1)

    def closure():
        optimizer.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss

    with flambeau.no_grad():
        loss = optimizer.step(closure)
    assert loss.item() == 4.0
    assert p.item() == pytest.approx(1.6)


def test_zero_grad_drops_or_clears():
    p = parameter(1.0)
    optimizer = flambeau.optim.SGD([p])
    p.grad = g = flambeau.ones(1)
    optimizer.zero_grad(set_to_none=False)
    assert p.grad is g
    assert g.item() == 0.0
    optimizer.zero_grad()
    assert p.grad is None


def test_hooks_run_in_order_and_can_be_removed():
    seen = []
    optimizer = flambeau.optim.SGD([parameter(1.0)])
    handles = [
        register_optimizer_step_pre_hook(lambda o, a, k: seen.append("global pre")),
        optimizer.register_step_pre_hook(lambda o, a, k: seen.append("pre")),
        optimizer.register_step_post_hook(lambda o, a, k: seen.append("post")),
        register_optimizer_step_post_hook(lambda o, a, k: seen.append("global post")),
    ]
    stepped(optimizer)
    assert seen == ["global pre", "pre", "post", "global post"]
    for handle in handles:
        handle.remove()
    stepped(optimizer)
    assert len(seen) == 4


def test_hooks_run_for_optimizers_written_by_users():
    class Plain(flambeau.optim.Optimizer):
        def step(self, closure=None):
            with flambeau.no_grad():
                for group in self.param_groups:
                    for p in group["params"]:
                        p.sub_(p.grad * group["lr"])

    p = parameter(1.0)
    optimizer = Plain([p], {"lr": 0.5})
    seen = []
    optimizer.register_step_post_hook(lambda *_: seen.append(p.item()))
    stepped(optimizer)
    assert seen == [0.5]


# ---- checkpoints


def test_loaded_state_is_a_copy():
    a, b = parameter(1.0, 2.0), parameter(1.0, 2.0)
    source = stepped(flambeau.optim.Adam([a], lr=0.1))
    saved = source.state_dict()
    target = flambeau.optim.Adam([b], lr=0.5)
    target.load_state_dict(saved)
    assert target.param_groups[0]["lr"] == 0.1
    before = saved["state"][0]["exp_avg"].tolist()
    stepped(target)
    assert saved["state"][0]["exp_avg"].tolist() == before
    assert saved["state"][0]["step"].item() == 1
    saved["param_groups"][0]["lr"] = 7
    assert target.param_groups[0]["lr"] == 0.1


def test_training_goes_on_after_loading_as_if_it_had_not_stopped():
    a, b = parameter(1.0, 2.0), parameter(1.0, 2.0)
    x = flambeau.optim.RMSprop([a], momentum=0.9, centered=True)
    y = flambeau.optim.RMSprop([b], momentum=0.9, centered=True)
    for _ in range(3):
        stepped(x)
        stepped(y)
    z = flambeau.optim.RMSprop([b])
    z.load_state_dict(y.state_dict())
    for _ in range(3):
        stepped(x)
        stepped(z)
    assert a.tolist() == b.tolist()


def test_state_is_matched_by_name_where_both_sides_have_names():
    a, b = parameter(1.0), parameter(1.0, 1.0)
    source = stepped(flambeau.optim.SGD([("a", a), ("b", b)], lr=0.1, momentum=0.9))
    target = flambeau.optim.SGD([("b", b), ("a", a)], lr=0.1, momentum=0.9)
    target.load_state_dict(source.state_dict())
    assert target.state[a]["momentum_buffer"].shape == (1,)
    assert target.state[b]["momentum_buffer"].shape == (2,)
    assert target.param_groups[0]["param_names"] == ["b", "a"]


def test_state_is_matched_by_position_where_names_differ():
    a = parameter(1.0)
    source = stepped(flambeau.optim.SGD([("a", a)], lr=0.1, momentum=0.9))
    target = flambeau.optim.SGD([("renamed", a)], lr=0.1, momentum=0.9)
    target.load_state_dict(source.state_dict())
    assert target.state[a]["momentum_buffer"].tolist() == [1.0]
    assert target.param_groups[0]["param_names"] == ["renamed"]


def test_state_takes_the_dtype_of_its_parameter_but_the_step_does_not():
    a = parameter(1.0)
    half = a.detach().to(flambeau.bfloat16).requires_grad_()
    target = flambeau.optim.Adam([half])
    target.load_state_dict(stepped(flambeau.optim.Adam([a])).state_dict())
    state = target.state[half]
    assert state["exp_avg"].dtype == flambeau.bfloat16
    assert state["step"].dtype == flambeau.float32


def test_a_step_count_saved_as_a_number_becomes_a_tensor():
    a = parameter(1.0)
    source = stepped(flambeau.optim.Adam([a]))
    saved = source.state_dict()
    saved["state"][0]["step"] = 5
    source.load_state_dict(saved)
    assert source.state[a]["step"].item() == 5.0
    stepped(source)
    assert source.state[a]["step"].item() == 6.0


def test_options_that_a_checkpoint_lacks_are_filled_in():
    a = parameter(1.0)
    optimizer = stepped(flambeau.optim.Adam([a]))
    saved = optimizer.state_dict()
    saved["param_groups"] = [{k: v for k, v in saved["param_groups"][0].items() if k != "amsgrad"}]
    optimizer.load_state_dict(saved)
    assert optimizer.param_groups[0]["amsgrad"] is False


def test_a_checkpoint_of_another_shape_is_refused():
    optimizer = flambeau.optim.SGD([parameter(1.0)])
    saved = optimizer.state_dict()
    with pytest.raises(ValueError, match="different number of parameter groups"):
        optimizer.load_state_dict({**saved, "param_groups": []})
    two = flambeau.optim.SGD([parameter(1.0), parameter(1.0)])
    with pytest.raises(ValueError, match="doesn't match the size"):
        two.load_state_dict(saved)


def test_checkpoint_hooks_may_replace_what_is_saved_and_loaded():
    optimizer = flambeau.optim.SGD([parameter(1.0)], lr=0.1)
    optimizer.register_state_dict_post_hook(lambda o, sd: {**sd, "extra": 1})
    saved = optimizer.state_dict()
    assert saved["extra"] == 1
    loaded = []
    optimizer.register_load_state_dict_pre_hook(
        lambda o, sd: {**sd, "param_groups": [{**sd["param_groups"][0], "lr": 0.7}]}
    )
    optimizer.register_load_state_dict_post_hook(lambda o: loaded.append(o.param_groups[0]["lr"]))
    optimizer.load_state_dict(saved)
    assert loaded == [0.7]


def test_an_optimizer_can_be_copied_and_pickled():
    optimizer = stepped(flambeau.optim.SGD([parameter(1.0)], lr=0.1, momentum=0.9))
    twin = copy.deepcopy(optimizer)
    q = twin.param_groups[0]["params"][0]
    assert q is not optimizer.param_groups[0]["params"][0]
    assert twin.state[q]["momentum_buffer"].item() == 1.0
    stepped(twin)


def test_the_state_dict_of_a_fresh_optimizer_is_plain_data():
    saved = flambeau.optim.SGD([parameter(1.0)], lr=0.25).state_dict()
    assert pickle.loads(pickle.dumps(saved)) == saved
    assert saved["param_groups"][0]["params"] == [0]
    assert saved["state"] == {}


def test_adagrad_makes_its_state_at_once():
    p = parameter(1.0)
    optimizer = flambeau.optim.Adagrad([p], initial_accumulator_value=0.5)
    assert optimizer.state[p]["sum"].item() == 0.5
    assert optimizer.state[p]["step"].item() == 0.0


# ---- averages


def test_averaged_model_keeps_the_mean_of_the_parameters():
    model = flambeau.nn.Linear(1, 1)
    average = flambeau.optim.swa_utils.AveragedModel(model)
    values = [1.0, 2.0, 6.0]
    for v in values:
        with flambeau.no_grad():
            model.weight.fill_(v)
        average.update_parameters(model)
    assert average.module.weight.item() == pytest.approx(3.0)
    assert average.n_averaged.item() == 3


def test_averaged_model_with_an_exponential_mean():
    model = flambeau.nn.Linear(1, 1)
    decay = flambeau.optim.swa_utils.get_ema_multi_avg_fn(0.5)
    average = flambeau.optim.swa_utils.AveragedModel(model, multi_avg_fn=decay)
    for v in (1.0, 2.0):
        with flambeau.no_grad():
            model.weight.fill_(v)
        average.update_parameters(model)
    assert average.module.weight.item() == pytest.approx(1.5)


def test_swap_in_steps_other_tensors_and_comes_back():
    p = parameter(1.0)
    optimizer = stepped(flambeau.optim.SGD([p], lr=0.1, momentum=0.9))
    value = p.item()
    q = parameter(5.0)
    q.grad = flambeau.ones(1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with flambeau.optim.swap_in_optimizer_params_and_state(
            optimizer, {"q": q}, copy.deepcopy(optimizer.state_dict())
        ):
            optimizer.step()
    assert q.item() == pytest.approx(5.0 - 0.1 * 1.9)
    assert p.item() == value
    assert optimizer.param_groups[0]["params"][0] is p
