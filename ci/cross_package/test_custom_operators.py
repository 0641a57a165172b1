"""`flambeau.library`: operators from Python functions, their fakes, derivatives and checks."""

import gc
import itertools
import weakref

import flambeau
import pytest
from flambeau import Tensor
from flambeau.library import Library, OpCheckError, custom_op, infer_schema, opcheck

counter = itertools.count()


@pytest.fixture
def name():
    return f"ours::op{next(counter)}"


def test_an_operator_of_a_function(name):
    @custom_op(name, mutates_args=())
    def scaled(x: Tensor, n: int = 3, *, scale: float = 1.0) -> Tensor:
        return x * n * scale

    assert scaled(flambeau.ones(2)).tolist() == [3, 3]
    assert scaled(flambeau.ones(2), 2, scale=0.5).tolist() == [1, 1]
    namespace, short = name.split("::")
    op = getattr(getattr(flambeau.ops, namespace), short).default
    assert op(flambeau.ones(1), 4).tolist() == [4]
    assert str(op._schema) == f"{name}(Tensor x, SymInt n=3, *, float scale=1.0) -> Tensor"
    assert [a.name for a in op._schema.arguments] == ["x", "n", "scale"]
    assert op._schema.arguments[2].kwarg_only and op._schema.arguments[1].default_value == 3


def test_a_derivative(name):
    @custom_op(name, mutates_args=())
    def square(x: Tensor) -> Tensor:
        return x * x

    x = flambeau.tensor([3.0], requires_grad=True)
    with pytest.raises(RuntimeError, match="no autograd formula was registered"):
        square(x).backward()
    square.register_autograd(
        lambda ctx, g: 2 * g * ctx.saved_tensors[0],
        setup_context=lambda ctx, inputs, output: ctx.save_for_backward(inputs[0]),
    )
    square(x).backward()
    assert x.grad.tolist() == [6]
    assert not square(flambeau.ones(1)).requires_grad
    with flambeau.no_grad():
        assert not square(x).requires_grad


def test_a_derivative_that_returns_too_few(name):
    @custom_op(name, mutates_args=())
    def both(x: Tensor, y: Tensor) -> Tensor:
        return x * y

    both.register_autograd(lambda ctx, g: g)
    x = flambeau.ones(1, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"returned 1 gradients, expected 2.*'x', 'y'"):
        both(x, x).backward()


def test_a_fake(name):
    @custom_op(name, mutates_args=())
    def shrunk(x: Tensor) -> Tensor:
        return x[..., :1].clone()

    meta = flambeau.empty(2, 3, device="meta")
    with pytest.raises(RuntimeError, match="no fake impl registered"):
        shrunk(meta)

    @shrunk.register_fake
    def _(x):
        return x.new_empty((*x.shape[:-1], 1))

    assert shrunk(meta).shape == (2, 1) and shrunk(meta).device.type == "meta"
    assert opcheck(shrunk, (flambeau.ones(2, 3),)) == dict.fromkeys(
        ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic"), "SUCCESS"
    )


def test_an_operator_that_writes(name):
    @custom_op(name, mutates_args={"x"})
    def increment(x: Tensor) -> None:
        x.add_(1)

    x = flambeau.zeros(2)
    increment(x)
    assert x.tolist() == [1, 1]
    assert opcheck(increment, (x,), test_utils="test_schema") == {"test_schema": "SUCCESS"}
    with pytest.raises(RuntimeError, match="non-functional"):
        increment.register_autograd(lambda ctx: None)


def test_opcheck_finds_what_the_schema_hides(name):
    @custom_op(name, mutates_args=())
    def liar(x: Tensor) -> Tensor:
        x.add_(1)
        return x * 2

    with pytest.raises(OpCheckError, match="x is not defined as mutable but was mutated"):
        opcheck(liar, (flambeau.ones(2),), test_utils="test_schema")
    result = opcheck(liar, (flambeau.ones(2),), test_utils="test_schema", raise_exception=False)
    assert "mutated" in str(result["test_schema"])


def test_opcheck_finds_a_wrong_fake(name):
    @custom_op(name, mutates_args=())
    def plain(x: Tensor) -> Tensor:
        return x.clone()

    plain.register_fake(lambda x: x.new_empty(x.shape, dtype=flambeau.float64))
    with pytest.raises(OpCheckError, match="dtype"):
        opcheck(plain, (flambeau.ones(2),), test_utils="test_faketensor")


def test_results_must_not_be_arguments(name):
    @custom_op(name, mutates_args=())
    def same(x: Tensor) -> Tensor:
        return x

    with pytest.raises(RuntimeError, match="may not alias any inputs"):
        same(flambeau.ones(2))


def test_kernels_by_device(name):
    @custom_op(name, mutates_args=(), device_types="cpu")
    def here(x: Tensor) -> Tensor:
        return x + 1

    assert here(flambeau.zeros(1)).tolist() == [1]

    @here.register_kernel("cpu")
    def _(x):
        return x + 2

    assert here(flambeau.zeros(1)).tolist() == [2]
    with here.set_kernel_enabled("cpu", False):
        assert here(flambeau.zeros(1)).tolist() == [1]
    assert here(flambeau.zeros(1)).tolist() == [2]
    with pytest.raises(ValueError, match="unknown device type 'abacus'"):
        here.register_kernel("abacus")


def _every_type(
    a: Tensor, b: list[Tensor], c: int | None, d: flambeau.dtype, e: flambeau.device, f: str = "x", g: float = 2.5, h: bool = True, *, k: int | float | bool = 3
) -> tuple[Tensor, list[Tensor], int]: ...  # fmt: skip


def test_schemas_from_annotations():
    assert infer_schema(_every_type, mutates_args={"a"}, op_name="f") == (
        'f(Tensor(a!) a, Tensor[] b, SymInt? c, ScalarType d, Device e, str f="x", float g=2.5, bool h=True, *, Scalar k=3)'
        " -> (Tensor, Tensor[], SymInt)"
    )
    with pytest.raises(ValueError, match="'zz'.* not arguments"):
        infer_schema(_every_type, mutates_args={"zz"})
    with pytest.raises(ValueError, match="Parameter x must have a type annotation"):
        infer_schema(lambda x: x, mutates_args=())
    with pytest.raises(ValueError, match="only Tensors"):
        infer_schema(_every_type, mutates_args={"g"})


def test_a_name_needs_a_namespace():
    with pytest.raises(ValueError, match="namespace::name"):
        custom_op("alone", lambda x: x, mutates_args=())


def test_mistyped_names_list_near_ones(name):
    with pytest.raises(AttributeError, match="near names: softmax"):
        _ = flambeau.ops.aten.sofmax
    with pytest.raises(AttributeError, match="near names: Tensor"):
        _ = flambeau.ops.aten.add.Tensr


def test_a_namespace_has_one_owner():
    owner = Library("ours_alone", "DEF")
    with pytest.raises(RuntimeError, match="'ours_alone' has an owner"):
        Library("ours_alone", "DEF")
    del owner
    gc.collect()
    Library("ours_alone", "DEF")
    with pytest.raises(ValueError, match="reserved"):
        Library("prim", "DEF")


def test_a_library_takes_its_operators_along():
    library = Library("ours_gone", "DEF")
    library.define("twice(Tensor x) -> Tensor")
    library.impl("twice", lambda x: x + x, "CPU")
    assert flambeau.ops.ours_gone.twice(flambeau.ones(1)).tolist() == [2]
    del library
    gc.collect()
    with pytest.raises(AttributeError, match="twice"):
        _ = flambeau.ops.ours_gone.twice


def test_gradients_of_tensors_in_lists(name):
    """Lists of tensors are inputs of the graph, and so are lists of results."""

    @custom_op(name, mutates_args=())
    def scaled(xs: list[Tensor], w: Tensor) -> list[Tensor]:
        return [x * w for x in xs]

    def setup_context(ctx, inputs, output):
        xs, w = inputs
        assert isinstance(xs, list) and isinstance(output, list)
        ctx.save_for_backward(w, *xs)

    def backward(ctx, grads):
        assert ctx.needs_input_grad == ([True, False], True)
        w, *xs = ctx.saved_tensors
        return [g * w for g in grads], sum(g * x for g, x in zip(grads, xs, strict=True))

    scaled.register_autograd(backward, setup_context=setup_context)
    a, b = flambeau.tensor([2.0], requires_grad=True), flambeau.tensor([3.0])
    w = flambeau.tensor([5.0], requires_grad=True)
    first, second = scaled([a, b], w)
    (first + 2 * second).sum().backward()
    assert a.grad.tolist() == [5] and b.grad is None and w.grad.tolist() == [8]


@pytest.mark.parametrize("given", [[flambeau.ones(1)], flambeau.ones(1)])
def test_gradients_of_a_list_must_be_as_many(name, given):
    @custom_op(name, mutates_args=())
    def total(xs: list[Tensor]) -> Tensor:
        return sum(xs) * 1

    total.register_autograd(lambda ctx, g: (given,))
    x = flambeau.ones(1, requires_grad=True)
    with pytest.raises(RuntimeError, match="must be None or a list of 2"):
        total([x, x]).backward()


def test_needs_input_grad_has_an_entry_for_each_argument(name):
    @custom_op(name, mutates_args=())
    def product(x: Tensor, w: Tensor) -> Tensor:
        return x * w

    def backward(ctx, g):
        return g * 3 if ctx.needs_input_grad[0] else None, g * 5 if ctx.needs_input_grad[1] else None

    product.register_autograd(backward)
    x, w = flambeau.ones(1, requires_grad=True), flambeau.ones(1)
    product(x, w).backward()
    assert x.grad.tolist() == [3] and w.grad is None


def test_keyword_only_tensors_have_no_gradients(name):
    @custom_op(name, mutates_args=())
    def shifted(x: Tensor, *, by: Tensor) -> Tensor:
        return x + by

    with pytest.raises(NotImplementedError, match="kwarg-only"):
        shifted.register_autograd(lambda ctx, g: g)


def test_an_operator_without_results_needs_no_fake(name):
    @custom_op(name, mutates_args={"x"})
    def fill(x: Tensor) -> None:
        x.fill_(1)

    assert fill(flambeau.empty(2, device="meta")) is None


def _with_default(annotation, value):
    def f(x: Tensor, a=value) -> Tensor:
        return x

    f.__annotations__["a"] = annotation
    return f


def test_defaults_are_what_their_type_holds():
    def schema(annotation, value):
        return infer_schema(_with_default(annotation, value), mutates_args=())

    assert schema(int, True) == "(Tensor x, SymInt a=1) -> Tensor"
    assert schema(bool, 1) == "(Tensor x, bool a=True) -> Tensor"
    assert schema(float, 1) == "(Tensor x, float a=1.0) -> Tensor"
    for annotation, value in ((int, 2.5), (int, 10**30), (bool, 2), (float, "1"), (str, 1)):
        with pytest.raises(ValueError, match="cannot hold"):
            schema(annotation, value)


@pytest.mark.parametrize("result", [str, flambeau.dtype, flambeau.device, list[int], list[float]])
def test_results_are_tensors_and_numbers(result):
    def f(x: Tensor):
        return x

    f.__annotations__["return"] = result
    with pytest.raises(ValueError, match="Return has unsupported type"):
        infer_schema(f, mutates_args=())


def test_a_library_keeps_to_its_namespace():
    library = Library("mine", "FRAGMENT")
    with pytest.raises(RuntimeError, match="namespace 'theirs'"):
        library.define("theirs::f(Tensor x) -> Tensor")
    with pytest.raises(RuntimeError, match="namespace 'aten'"):
        library.impl("aten::add.Tensor", lambda x, y: x, "CPU")
    assert library.define("mine::f(Tensor x) -> Tensor") == "f"


def test_an_argument_may_be_called_self(name):
    @custom_op(name, mutates_args=())
    def negated(self: Tensor) -> Tensor:
        return -self

    assert negated(self=flambeau.ones(1)).tolist() == [-1]
    add = flambeau.ops.aten.add.Tensor
    assert add(self=flambeau.ones(1), other=flambeau.ones(1)).tolist() == [2]
    assert [a.type for a in add._schema.arguments] == ["Tensor", "Tensor", "Scalar"]


def _tripled_in_a_library():
    library = Library("again", "FRAGMENT")
    library.define("f(Tensor x) -> Tensor")
    library.impl("f", lambda x: flambeau.from_numpy(x.detach().numpy() * 3), "CPU")
    return library


def test_registrations_end_with_their_library():
    """A derivative does not keep its Library, and an operator defined again has none of the old one's."""
    for factor in (3, 4):
        library = _tripled_in_a_library()
        flambeau.library.register_autograd("again::f", lambda ctx, g, factor=factor: g * factor, lib=library)
        flambeau.library.register_fake("again::f", flambeau.empty_like, lib=library)
        x = flambeau.ones(2, requires_grad=True)
        flambeau.ops.again.f(x).sum().backward()
        assert x.grad.tolist() == [factor, factor]
        assert flambeau.ops.again.f(x.detach().to("meta")).shape == (2,)
        gone = weakref.ref(library)
        del library
        gc.collect()
        assert gone() is None and not hasattr(flambeau.ops.again, "f")


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ("f(Tensor x) -> (" + ", ".join(["Tensor"] * 17) + ")", "at most 32 arguments and 16 results"),
        ("f(Tensor x, Tensor x) -> Tensor", "two arguments are called 'x'"),
        ("f(Tensor x) -> str", "a result is of type str"),
        ("f(Tensor x) -> int[]", "a result is of type int"),
    ],
)
def test_schemas_that_calls_cannot_carry(schema, reason):
    library = Library("ours_refused", "FRAGMENT")
    with pytest.raises(RuntimeError, match=reason):
        library.define(schema)


def test_results_are_of_the_type_that_the_schema_says():
    library = Library("ours_typed", "FRAGMENT")
    library.define("whole(Tensor x) -> int")
    library.impl("whole", lambda x: 2.5, "CPU")
    with pytest.raises(TypeError, match="integer"):
        flambeau.ops.ours_typed.whole(flambeau.ones(1))
    library.define("one(Tensor x) -> Tensor")
    library.impl("one", lambda x: None, "CPU")
    with pytest.raises(TypeError, match="must return Tensor"):
        flambeau.ops.ours_typed.one(flambeau.ones(1))


def test_operators_of_one_name_in_two_namespaces_have_their_own_result_types():
    flambeau.sort(flambeau.ones(3))
    library = Library("ours_sort", "FRAGMENT")
    library.define("sort(Tensor x) -> (Tensor a, Tensor b, Tensor c)")
    library.impl("sort", lambda x: (x + 1, x + 2, x + 3), "CPU")
    result = flambeau.ops.ours_sort.sort(flambeau.zeros(1))
    assert (result.a, result.b, result.c) == (1, 2, 3)
