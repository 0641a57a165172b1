"""Custom functions: contexts, what they save, inputs that they overwrite or return."""

import gc

import flambeau as fl
import pytest
from flambeau.autograd import Function, gradcheck, gradgradcheck


def leaf(*values: float) -> fl.Tensor:
    return fl.tensor(values, dtype=fl.float64, requires_grad=True)


class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 3 * x * x


class WrongCube(Cube):
    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 2 * x * x


class AddOne(Function):
    """In place, with a gradient twice too large, to be told from add_."""

    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.add_(1)

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


class Scale(Function):
    """x *= w; the tensor that is overwritten is the second input."""

    @staticmethod
    def forward(ctx, w, x):
        ctx.save_for_backward(w.clone(), x.clone())
        ctx.mark_dirty(x)
        return x.mul_(w)

    @staticmethod
    def backward(ctx, grad):
        w, x = ctx.saved_tensors
        return grad * x, grad * w


class Doubled(Function):
    """y = 2x with what the test asks for: `seen` gets the context."""

    seen: list = []

    @staticmethod
    def forward(ctx, x):
        y = x * 2
        ctx.save_for_backward(x, y)
        ctx.note = 3
        Doubled.seen.append(ctx)
        return y

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


class Same(Function):
    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad * 3


@pytest.fixture
def context():
    Doubled.seen.clear()
    yield lambda: Doubled.seen[-1]
    Doubled.seen.clear()


def test_first_and_second_derivative():
    assert gradcheck(Cube.apply, leaf(0.5, -2))
    assert gradgradcheck(Cube.apply, leaf(0.5, -2))


def test_gradcheck_finds_a_wrong_derivative():
    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        gradcheck(WrongCube.apply, leaf(0.5, -2))
    assert not gradcheck(WrongCube.apply, leaf(0.5, -2), raise_exception=False)


def test_saved_tensors_outlive_the_output(context):
    x = leaf(1, 2)
    y = Doubled.apply(x)
    del y
    gc.collect()
    saved = context().saved_tensors
    assert saved[0] is x and saved[1].tolist() == [2, 4]


def test_saved_tensors_are_freed_by_backward(context):
    Doubled.apply(leaf(1, 2)).sum().backward()
    with pytest.raises(RuntimeError, match="second time"):
        context().saved_tensors  # noqa: B018


def test_node_shows_the_context(context):
    y = Doubled.apply(leaf(1, 2))
    assert y.grad_fn.note == 3 and len(y.grad_fn.saved_tensors) == 2
    assert context().next_functions == y.grad_fn.next_functions and context().name() == y.grad_fn.name()
    with pytest.raises(AttributeError):
        y.grad_fn.missing  # noqa: B018


def test_only_tensors_are_saved():
    class Bad(Doubled):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x, 3)
            return x * 2

    with pytest.raises(TypeError, match="argument 1 is of type int"):
        Bad.apply(leaf(1))


def test_write_to_a_saved_output_is_named():
    y = Doubled.apply(leaf(1, 2))
    y.add_(1)
    with pytest.raises(RuntimeError, match="version"):
        y.grad_fn.next_functions[0][0].saved_tensors  # noqa: B018


def test_overwritten_input():
    x = leaf(1, 2)
    z = x * 1
    y = AddOne.apply(z)
    assert y is z
    y.sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_overwritten_view_reaches_its_base():
    x = leaf(1, 2)
    z = x * 1
    AddOne.apply(z[:1])
    z.sum().backward()
    assert x.grad.tolist() == [2, 1]


def test_overwritten_second_input():
    w, x = leaf(5), leaf(1, 2)
    z = x * 1
    Scale.apply(w, z[:1])
    z.sum().backward()
    assert w.grad.tolist() == [1] and x.grad.tolist() == [5, 1]


def test_leaves_are_not_overwritten():
    for make in (lambda x: x, lambda x: x[:1]):
        with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
            AddOne.apply(make(leaf(1, 2)))


def test_dirty_inputs_must_come_back():
    class Lost(AddOne):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x * 1

    with pytest.raises(RuntimeError, match="not returned as output"):
        Lost.apply(leaf(1, 2) * 1)


def test_overwritten_view_must_be_the_only_output():
    class Two(AddOne):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.add_(1), x * 3

    with pytest.raises(RuntimeError, match="more than one Tensor"):
        Two.apply((leaf(1, 2) * 1)[:])


def test_input_returned_as_it_is_becomes_a_view():
    x = leaf(1, 2)
    y = Same.apply(x)
    assert y is not x and y._is_view()
    y.sum().backward()
    assert x.grad.tolist() == [3, 3]
    with pytest.raises(RuntimeError, match="modified inplace"):
        Same.apply(leaf(1, 2) * 1).mul_(2)
    plain = fl.ones(2)
    assert Same.apply(plain) is not plain


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (lambda g: fl.ones(7), RuntimeError, r"invalid gradient at index 0 - got \[7\]"),
        (lambda g: (g, g, g), RuntimeError, "incorrect number of gradients"),
        (lambda g: (g, g), RuntimeError, "different than None at position 2"),
        (lambda g: 3, RuntimeError, "expected Variable or None"),
        (lambda g: {}["k"], KeyError, "k"),
    ],
)
def test_wrong_gradients(given, error, message):
    class Bad(Function):
        @staticmethod
        def forward(ctx, x, factor):
            return x * factor

        @staticmethod
        def backward(ctx, grad):
            result = given(grad)
            return result if isinstance(result, tuple) else (result, None)

    y = Bad.apply(leaf(1, 2), 3)
    with pytest.raises(error, match=message):
        y.sum().backward()


def test_gradients_that_did_not_arrive():
    class Pair(Function):
        @staticmethod
        def forward(ctx, x, materialize):
            ctx.set_materialize_grads(materialize)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, first, second):
            seen.append(second if second is None else second.tolist())
            return first * 2, None

    seen = []
    for materialize in (True, False):
        Pair.apply(leaf(1), materialize)[0].sum().backward()
    assert seen == [[0], None]
