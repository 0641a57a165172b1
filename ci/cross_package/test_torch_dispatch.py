"""`__torch_dispatch__` on subclasses and as a mode, `__torch_function__` as a mode."""

import copy
import io
import pickle
import threading

import flambeau
import pytest
from flambeau._C import _disabled_torch_function_impl
from flambeau.overrides import TorchFunctionMode, handle_torch_function, has_torch_function
from flambeau.utils._python_dispatch import (
    TorchDispatchMode,
    _disable_current_modes,
    _DisableTorchDispatch,
    return_and_correct_aliasing,
)


class Log(TorchDispatchMode):
    def __init__(self):
        self.names = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.names.append(str(func))
        return func(*args, **(kwargs or {}))


class Wrap(flambeau.Tensor):
    """Holds another tensor and runs everything on it."""

    __torch_function__ = _disabled_torch_function_impl

    @staticmethod
    def __new__(cls, elem):
        return flambeau.Tensor._make_wrapper_subclass(
            cls,
            elem.size(),
            strides=elem.stride(),
            dtype=elem.dtype,
            device=elem.device,
            requires_grad=elem.requires_grad,
        )

    def __init__(self, elem):
        self.elem = elem

    def __repr__(self):
        return f"Wrap({self.elem})"

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        def inner(x):
            if isinstance(x, (list, tuple)):
                return type(x)(inner(v) for v in x)
            return x.elem if isinstance(x, Wrap) else x

        def outer(x):
            if isinstance(x, (list, tuple)):
                return type(x)(outer(v) for v in x)
            return Wrap(x) if isinstance(x, flambeau.Tensor) else x

        out = outer(func(*inner(args), **{k: inner(v) for k, v in (kwargs or {}).items()}))
        return return_and_correct_aliasing(func, args, kwargs or {}, out)


def test_a_mode_sees_operators_below_autograd():
    x = flambeau.ones(3, requires_grad=True)
    with Log() as log:
        y = (x + 1) * 2
        y.sum().backward()
    assert log.names[:3] == ["aten.add.Tensor", "aten.mul.Tensor", "aten.sum.default"]
    assert len(log.names) > 3  # backward's own
    assert x.grad.tolist() == [2, 2, 2]


def test_a_mode_sees_factories_views_and_in_place_operators():
    with Log() as log:
        x = flambeau.zeros(2, 3)
        x.view(6)
        x.add_(1)
        x[0]
    assert log.names[0] == "aten.zeros.default"
    assert {"aten.view.default", "aten.add_.Tensor", "aten.select.int"} <= set(log.names)


def test_composites_are_taken_apart_first():
    with Log() as log:
        flambeau.nn.functional.mse_loss(flambeau.ones(3), flambeau.zeros(3))
    assert "aten.mse_loss.default" not in log.names or len(log.names) > 2


def test_numbers_are_shown_as_numbers_and_defaults_left_out():
    seen = []

    class Look(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append((args, kwargs))
            return func(*args, **(kwargs or {}))

    x = flambeau.ones(2)
    with Look():
        flambeau.add(x, 1)
        flambeau.add(x, x, alpha=2)
    assert seen[0][0][1] == 1 and isinstance(seen[0][0][1], int) and seen[0][1] == {}
    assert seen[1][1] == {"alpha": 2}


def test_modes_nest_and_one_may_be_entered_twice():
    with Log() as outer, Log() as inner:
        flambeau.ones(2) + 1
    assert outer.names == inner.names != []
    with outer, outer:
        n = len(outer.names)
        flambeau.ones(2)
        assert len(outer.names) == n + 2


def test_a_mode_may_replace_results_and_raise():
    class Zero(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return flambeau.zeros(2)

    class Fail(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            raise KeyError("mine")

    x = flambeau.ones(2)
    with Zero():
        assert (y := x + 1) is not None
    assert y.tolist() == [0, 0]
    with pytest.raises(KeyError, match="mine"), Fail():
        x + 1
    assert (x + 1).tolist() == [2, 2]  # the stack is whole again


def test_modes_belong_to_their_thread():
    seen = []
    with Log() as log:
        thread = threading.Thread(target=lambda: seen.append((flambeau.ones(2) + 1).tolist()))
        thread.start()
        thread.join()
    assert seen == [[2, 2]] and log.names == []


def test_modes_can_be_taken_off():
    with Log() as log:
        with _disable_current_modes() as modes:
            flambeau.ones(2)
        assert modes == [log]
    assert log.names == []


def test_a_wrapper_runs_everything_on_what_it_holds():
    w = Wrap(flambeau.tensor([1.0, 2.0, 3.0]))
    assert w.shape == (3,) and w.dtype == flambeau.float32
    y = (w + 1) * w
    assert isinstance(y, Wrap) and y.elem.tolist() == [2, 6, 12]
    assert isinstance(flambeau.cat([w, flambeau.ones(1)]), Wrap)
    assert [type(p) for p in w.split(2)] == [Wrap, Wrap]
    assert w.add_(1) is w and w.elem.tolist() == [2, 3, 4]


def test_autograd_records_around_a_wrapper():
    w = Wrap(flambeau.tensor([1.0, 2.0])).requires_grad_()
    (w * w).sum().backward()
    assert isinstance(w.grad, Wrap) and w.grad.elem.tolist() == [2, 4]


def test_numbers_are_read_through_the_handler():
    w = Wrap(flambeau.tensor(2.5))
    assert w.item() == 2.5 and float(w) == 2.5 and bool(w > 1)
    with Log() as log:
        assert flambeau.tensor(3).item() == 3
    assert "aten._local_scalar_dense.default" in log.names
    assert isinstance(w.data, Wrap)


def test_results_saved_for_backward_keep_their_class():
    w = Wrap(flambeau.tensor([0.0, 1.0])).requires_grad_()
    flambeau.nn.functional.softmax(w, 0)[0].backward()
    x = flambeau.tensor([0.0, 1.0], requires_grad=True)
    flambeau.nn.functional.softmax(x, 0)[0].backward()
    assert isinstance(w.grad, Wrap) and w.grad.elem.tolist() == x.grad.tolist()


def test_derivatives_run_under_a_mode():
    x = flambeau.tensor([3.0, 4.0], requires_grad=True)
    with Log():
        x.norm().backward()
        x.clamp(0, 3.5).sum().backward()
    assert x.grad.tolist() == pytest.approx([1.6, 0.8])


def test_as_subclass_keeps_a_wrapper():
    w = Wrap(flambeau.ones(2))
    assert isinstance(w.as_subclass(flambeau.Tensor), Wrap)


def test_kernels_refuse_a_wrapper():
    w = Wrap(flambeau.ones(3))
    with _DisableTorchDispatch(), pytest.raises(RuntimeError, match="storage"):
        w + 1


def test_all_handlers_may_decline():
    class Decline(flambeau.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    x = flambeau.Tensor._make_subclass(Decline, flambeau.ones(2))
    with pytest.raises(TypeError, match=r"aten::mul\.Tensor.*Decline"):
        flambeau.Tensor.mul(x, 2)


def test_a_subclass_is_asked_before_its_class():
    order = []

    class Base(flambeau.Tensor):
        __torch_function__ = _disabled_torch_function_impl

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            order.append(cls)
            return NotImplemented if len(order) < 2 else flambeau.zeros(2)

    class Derived(Base):
        pass

    a = flambeau.Tensor._make_subclass(Base, flambeau.ones(2))
    b = flambeau.Tensor._make_subclass(Derived, flambeau.ones(2))
    assert (a + b).tolist() == [0, 0]
    assert order == [Derived, Base]


def test_a_wrapper_needs_a_handler():
    class NoHandler(flambeau.Tensor):
        pass

    with pytest.raises(RuntimeError, match="__torch_dispatch__"):
        flambeau.Tensor._make_wrapper_subclass(NoHandler, (2,))


def test_a_function_mode_sees_what_the_program_calls():
    seen = []

    class Names(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(func.__name__)
            return func(*args, **(kwargs or {}))

    x = flambeau.ones(2)
    with Names():
        flambeau.add(x, x)
        x.mul(2)
        x + 1
    assert seen == ["add", "mul", "add"] or seen == ["add", "mul", "__add__"]
    flambeau.add(x, x)
    assert len(seen) == 3


@pytest.mark.parametrize("mode", [Log, TorchFunctionMode])
def test_generators_may_leave_modes_in_any_order(mode):
    def inside(m):
        with m:
            yield

    entered = [inside(mode()), inside(mode())]
    for generator in entered:
        next(generator)
    for generator in entered:  # the outer one first
        generator.close()
    assert flambeau._C._dispatch_modes() == [] and flambeau._C._function_modes() == []
    with pytest.raises(RuntimeError, match="not active on this thread"):
        mode().__exit__()


def _saved_and_loaded(x):
    file = io.BytesIO()
    flambeau.save(x, file)
    file.seek(0)
    return flambeau.load(file, weights_only=False)


@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize("again", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x)), _saved_and_loaded])
def test_wrappers_are_copied_with_what_they_wrap(again, requires_grad):
    x = Wrap(flambeau.arange(3.0, requires_grad=requires_grad))
    y = again(x)
    assert type(y) is Wrap and y.elem is not x.elem and y.elem.tolist() == [0, 1, 2]
    assert y.requires_grad == requires_grad and y.is_leaf and (y + 1).elem.tolist() == [1, 2, 3]


def test_functions_of_others_ask_only_what_overrides():
    """What handle_torch_function shows to a mode, and asks after it, are classes with a __torch_function__."""

    class Decline(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(types)
            return NotImplemented

    class Answer(flambeau.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return types

    def api(x, n):
        return handle_torch_function(api, (x, n), x, n) if has_torch_function((x, n)) else "plain"

    seen = []
    plain, answer = flambeau.ones(2), flambeau.ones(2).as_subclass(Answer)
    with Decline(), Decline():
        assert api(answer, 5) == (Answer,) and seen == [(Answer,)]
        with pytest.raises(TypeError, match="no implementation found"):
            api(plain, 5)
    assert api(answer, plain) == (Answer,) and api(plain, 5) == "plain"
