"""Learning-rate schedules: recorded rates, composition, resuming, errors."""

import warnings

import flambeau
import lr_goldens
import pytest
from flambeau.optim import lr_scheduler


def make_optimizer(*rates):
    groups = [{"params": [flambeau.zeros(1, requires_grad=True)], "lr": r} for r in rates or (1.0,)]
    return flambeau.optim.SGD(groups, lr=1.0, momentum=0.9)


def rates(optimizer, scheduler, n=12):
    out = []
    for _ in range(n):
        out.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return out


@pytest.mark.parametrize("row", lr_goldens.RATES, ids=lambda row: row[0])
def test_twelve_epochs_give_the_recorded_rates(row):
    name, options, expected, momenta = row
    optimizer = make_optimizer()
    scheduler = getattr(lr_scheduler, name)(optimizer, **options)
    got, got_momenta = [], []
    for i in range(12):
        got.append(optimizer.param_groups[0]["lr"])
        got_momenta.append(optimizer.param_groups[0]["momentum"])
        assert scheduler.get_last_lr() == [got[-1]]
        optimizer.step()
        if i < 11:
            scheduler.step()
    assert got == pytest.approx(expected, rel=1e-9, abs=1e-10)
    if momenta is not None:
        assert got_momenta == pytest.approx(momenta, rel=1e-9)


def test_lambda_rates_are_multiples_of_the_initial_one():
    optimizer = make_optimizer(1.0, 0.5)
    scheduler = lr_scheduler.LambdaLR(optimizer, [lambda e: 0.9**e, lambda e: 1 / (1 + e)])
    for e in range(5):
        assert scheduler.get_last_lr() == pytest.approx([0.9**e, 0.5 / (1 + e)])
        optimizer.step()
        scheduler.step()


def test_multiplicative_rates_are_multiples_of_the_last_one():
    optimizer = make_optimizer()
    scheduler = lr_scheduler.MultiplicativeLR(optimizer, lambda e: 0.5)
    assert rates(optimizer, scheduler, 4) == [1.0, 0.5, 0.25, 0.125]


def test_plateau_reduces_after_its_patience_and_rests_in_its_cooldown():
    optimizer = make_optimizer()
    scheduler = lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=1, cooldown=2, min_lr=0.2)
    seen = []
    for metric in [1.0, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9]:
        scheduler.step(flambeau.tensor(metric))
        seen.append(optimizer.param_groups[0]["lr"])
    assert seen == [1.0, 1.0, 1.0, 0.5, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.25, 0.2]


def test_plateau_of_a_metric_that_should_grow():
    optimizer = make_optimizer()
    scheduler = lr_scheduler.ReduceLROnPlateau(optimizer, mode="max", patience=0, threshold_mode="abs", threshold=0.1)
    for metric in (0.5, 0.55, 0.7):
        scheduler.step(metric)
    assert scheduler.get_last_lr() == pytest.approx([0.1])
    assert scheduler.best == 0.7


def test_sequential_hands_over_at_its_milestones():
    optimizer = make_optimizer()
    parts = [
        lr_scheduler.ConstantLR(optimizer, factor=0.1, total_iters=2),
        lr_scheduler.ExponentialLR(optimizer, gamma=0.9),
    ]
    scheduler = lr_scheduler.SequentialLR(optimizer, parts, milestones=[3])
    assert rates(optimizer, scheduler, 6) == pytest.approx([0.1, 0.1, 1.0, 1.0, 0.9, 0.81])


def test_chained_schedulers_multiply():
    optimizer = make_optimizer()
    parts = [
        lr_scheduler.ConstantLR(optimizer, factor=0.1, total_iters=2),
        lr_scheduler.ExponentialLR(optimizer, gamma=0.9),
    ]
    scheduler = lr_scheduler.ChainedScheduler(parts)
    assert rates(optimizer, scheduler, 4) == pytest.approx([0.1, 0.09, 0.81, 0.729])


def test_a_chain_can_be_the_second_part_of_a_sequence():
    optimizer = make_optimizer()
    chain = lr_scheduler.ChainedScheduler(
        [lr_scheduler.LinearLR(optimizer, 0.1, 1.0, 3), lr_scheduler.ExponentialLR(optimizer, 0.9)]
    )
    first = lr_scheduler.ConstantLR(optimizer, 0.5, 2)
    scheduler = lr_scheduler.SequentialLR(optimizer, [first, chain], [3])
    got = rates(optimizer, scheduler, 7)
    assert got == pytest.approx([0.5, 0.5, 1.0, 0.1, 0.36, 0.567, 0.729])


@pytest.mark.parametrize("row", lr_goldens.RATES, ids=lambda row: row[0])
def test_a_schedule_goes_on_from_its_state_dict(row):
    name, options, expected, _ = row
    optimizer = make_optimizer()
    scheduler = getattr(lr_scheduler, name)(optimizer, **options)
    rates(optimizer, scheduler, 5)
    other = make_optimizer()
    resumed = getattr(lr_scheduler, name)(other, **options)
    other.load_state_dict(optimizer.state_dict())
    resumed.load_state_dict(scheduler.state_dict())
    assert rates(other, resumed, 6) == pytest.approx(expected[5:11], rel=1e-9, abs=1e-10)


def test_the_state_dict_of_a_step_schedule_has_the_keys_of_torch():
    state = lr_scheduler.StepLR(make_optimizer(), 3).state_dict()
    assert state == {
        "step_size": 3,
        "gamma": 0.1,
        "base_lrs": [1.0],
        "last_epoch": 0,
        "_step_count": 1,
        "_is_initial": False,
        "_get_lr_called_within_step": False,
        "_last_lr": [1.0],
    }


def test_the_state_of_a_lambda_object_is_its_attributes():
    class Factor:
        def __init__(self, x):
            self.x = x

        def __call__(self, epoch):
            return self.x

    a = lr_scheduler.LambdaLR(make_optimizer(), Factor(0.5))
    b = lr_scheduler.LambdaLR(make_optimizer(), Factor(0.1))
    b.load_state_dict(a.state_dict())
    assert b.lr_lambdas[0].x == 0.5


def test_a_tensor_rate_is_changed_in_place():
    lr = flambeau.tensor(1.0)
    optimizer = flambeau.optim.SGD([flambeau.zeros(1, requires_grad=True)], lr=lr)
    scheduler = lr_scheduler.ExponentialLR(optimizer, 0.5)
    rates(optimizer, scheduler, 2)
    assert optimizer.param_groups[0]["lr"] is lr
    assert lr.item() == 0.25
    assert scheduler.get_last_lr()[0] is not lr


def test_a_jump_to_an_epoch_uses_the_closed_form_and_warns():
    optimizer = make_optimizer()
    scheduler = lr_scheduler.StepLR(optimizer, 2)
    optimizer.step()
    with pytest.warns(UserWarning, match="epoch parameter"):
        scheduler.step(5)
    assert scheduler.get_last_lr() == pytest.approx([0.01])


def test_warm_restarts_take_fractional_epochs():
    scheduler = lr_scheduler.CosineAnnealingWarmRestarts(make_optimizer(), T_0=2)
    scheduler.step(0.5)
    first = scheduler.get_last_lr()
    scheduler.step(4.5)
    assert scheduler.get_last_lr() == pytest.approx(first)
    with pytest.raises(ValueError, match="-1"):
        scheduler.step(-1)


def test_stepping_before_the_optimizer_warns_once_it_matters():
    scheduler = lr_scheduler.StepLR(make_optimizer(), 2)
    with pytest.warns(UserWarning, match=r"before `optimizer.step\(\)`"):
        scheduler.step()
    optimizer = make_optimizer()
    scheduler = lr_scheduler.StepLR(optimizer, 2)
    optimizer.step()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scheduler.step()


def test_get_lr_outside_a_step_warns():
    scheduler = lr_scheduler.StepLR(make_optimizer(), 2)
    with pytest.warns(UserWarning, match="get_last_lr"):
        scheduler.get_lr()


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda o: lr_scheduler.StepLR(3, 2), TypeError, "int is not an Optimizer"),
        (lambda o: lr_scheduler.StepLR(o, 2, last_epoch=3), KeyError, "initial_lr"),
        (lambda o: lr_scheduler.ConstantLR(o, factor=2), ValueError, "between 0 and 1"),
        (lambda o: lr_scheduler.LinearLR(o, start_factor=0), ValueError, "greater than 0"),
        (lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 0), ValueError, "got 0"),
        (lambda o: lr_scheduler.CyclicLR(o, 0.1, 1.0, mode="x"), ValueError, "mode is invalid"),
        (lambda o: lr_scheduler.CyclicLR(o, [1, 2], 1.0), ValueError, "base_lr has 2 values"),
        (lambda o: lr_scheduler.OneCycleLR(o, 1.0), ValueError, "total_steps OR"),
        (lambda o: lr_scheduler.OneCycleLR(o, 1.0, total_steps=-1), ValueError, "got -1"),
        (lambda o: lr_scheduler.OneCycleLR(o, 1.0, total_steps=3, pct_start=2), ValueError, "got 2"),
        (lambda o: lr_scheduler.LambdaLR(o, [len, len]), ValueError, "Expected 1 lr_lambdas, but got 2"),
        (lambda o: lr_scheduler.SequentialLR(o, [], []), ValueError, "at least one"),
        (lambda o: lr_scheduler.SequentialLR(o, [lr_scheduler.StepLR(o, 1)], [1]), ValueError, "milestone"),
        (
            lambda o: lr_scheduler.SequentialLR(o, [lr_scheduler.StepLR(make_optimizer(), 1)], []),
            ValueError,
            "same optimizer",
        ),
        (lambda o: lr_scheduler.ChainedScheduler([lr_scheduler.ReduceLROnPlateau(o)]), ValueError, "ReduceLROnPlateau"),
        (lambda o: lr_scheduler.ReduceLROnPlateau(o, factor=1.0), ValueError, "< 1.0"),
        (lambda o: lr_scheduler.ReduceLROnPlateau(o, mode="x"), ValueError, "mode x"),
        (lambda o: lr_scheduler.ReduceLROnPlateau(o, min_lr=[1, 2]), ValueError, "got 2"),
    ],
)
def test_a_bad_option_is_refused_by_name(make, error, words):
    with pytest.raises(error, match=words):
        make(make_optimizer())


def test_one_cycle_refuses_steps_past_its_end():
    optimizer = make_optimizer()
    scheduler = lr_scheduler.OneCycleLR(optimizer, 1.0, total_steps=2)
    rates(optimizer, scheduler, 2)
    with pytest.raises(ValueError, match="step 3 times"):
        scheduler.step()


def test_swa_rate_moves_to_its_goal():
    optimizer = make_optimizer(0.5)
    scheduler = flambeau.optim.swa_utils.SWALR(optimizer, swa_lr=0.05, anneal_epochs=3)
    assert rates(optimizer, scheduler, 5) == pytest.approx([0.5, 0.3875, 0.1625, 0.05, 0.05])
