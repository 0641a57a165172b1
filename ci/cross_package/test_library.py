"""`flambeau.library.Library` and `flambeau.ops`: operators and kernels from Python, and what is left when they go."""

from __future__ import annotations

import gc
import pickle
import sys
import weakref

import flambeau as fl
import pytest
from flambeau.library import Library


def two() -> fl.Tensor:
    return fl.tensor([1.0, 2.0])


# ---- define


def test_an_operator_defined_in_python_is_called_like_any_other() -> None:
    library = Library("test_define", "DEF")
    assert library.define("scaled(Tensor x, float by=2.0, *, bool negate=False) -> Tensor") == "scaled"
    library.impl("scaled", lambda x, by=2.0, *, negate=False: x * (-by if negate else by), "CPU")
    scaled = fl.ops.test_define.scaled
    assert scaled(two()).tolist() == [2, 4]
    assert scaled(two(), 3.0).tolist() == [3, 6]
    assert scaled(x=two(), by=3, negate=True).tolist() == [-3, -6]
    with pytest.raises(TypeError):
        scaled("no tensor")
    with pytest.raises(TypeError):
        scaled(two(), 1.0, True)


def test_composite_kernels_are_differentiable_through_their_parts() -> None:
    library = Library("test_composite", "DEF")
    library.define("cube(Tensor x) -> Tensor")
    library.impl("cube", lambda x: x * x * x)
    x = fl.tensor([2.0], requires_grad=True)
    fl.ops.test_composite.cube(x).backward()
    assert x.grad.tolist() == [12]


def test_kernels_of_other_results() -> None:
    library = Library("test_results", "DEF")
    library.define("both(Tensor x) -> (Tensor low, Tensor high)")
    library.define("parts(Tensor[] x, int[] which) -> Tensor[]")
    library.define("count(Tensor x) -> int")
    library.impl("both", lambda x: (x - 1, x + 1), "CPU")
    library.impl("parts", lambda x, which: [x[i] for i in which], "CPU")
    library.impl("count", lambda x: x.numel(), "CPU")
    low, high = fl.ops.test_results.both(two())
    assert low.tolist() == [0, 1] and high.tolist() == [2, 3]
    assert [t.tolist() for t in fl.ops.test_results.parts([two(), two() * 2], [1, 0])] == [[2, 4], [1, 2]]
    assert fl.ops.test_results.count(two()) == 2


def test_errors_of_a_kernel_reach_the_caller() -> None:
    library = Library("test_errors", "DEF")
    library.define("fails(Tensor x) -> Tensor")
    library.define("lies(Tensor x) -> Tensor")
    library.impl("fails", lambda x: [][0], "CPU")
    library.impl("lies", lambda x: "no tensor", "CPU")
    with pytest.raises(IndexError):
        fl.ops.test_errors.fails(two())
    with pytest.raises((TypeError, RuntimeError)):
        fl.ops.test_errors.lies(two())


@pytest.mark.parametrize(
    "schema", ["", "f", "f(", "f(Tensor x)", "f(Tenser x) -> Tensor", "f(Tensor) -> Tensor", "f(Tensor x -> Tensor"]
)
def test_a_schema_that_does_not_parse_is_refused(schema: str) -> None:
    with pytest.raises((RuntimeError, ValueError)):
        Library("test_parse", "DEF").define(schema)


def test_what_a_library_may_do() -> None:
    with pytest.raises(ValueError, match="kind"):
        Library("x", "WRONG")
    with pytest.raises(ValueError, match="reserved"):
        Library("prim", "DEF")
    with pytest.raises(RuntimeError, match="IMPL"):
        Library("aten", "IMPL").define("f(Tensor x) -> Tensor")
    library = Library("test_rules", "DEF")
    library.define("f(Tensor x) -> Tensor")
    with pytest.raises(RuntimeError):
        library.define("f(Tensor x) -> Tensor")
    with pytest.raises(TypeError, match="callable"):
        library.impl("f", "no function", "CPU")
    with pytest.raises(RuntimeError, match="dispatch key"):
        library.impl("f", lambda x: x, "NoSuchKey")
    with pytest.raises(RuntimeError):
        library.impl("no_such_operator", lambda x: x, "CPU")
    library.impl("f", lambda x: x + 1, "CPU")
    with pytest.raises(RuntimeError, match="already"):
        library.impl("f", lambda x: x + 2, "CPU")
    library.impl("f", lambda x: x + 3, "CPU", allow_override=True)
    assert fl.ops.test_rules.f(two()).tolist() == [4, 5]


# ---- override, and what is left


def exp_is_native() -> bool:
    return fl.allclose(fl.exp(two()), fl.tensor([2.718282, 7.389056]))


def test_a_native_kernel_comes_back_when_the_library_goes() -> None:
    def override() -> None:
        library = Library("aten", "IMPL")
        library.impl("exp", lambda x: x * 0, "CPU")
        assert fl.exp(two()).tolist() == [0, 0]

    assert exp_is_native()
    override()
    gc.collect()
    assert exp_is_native()


def test_a_composite_kernel_takes_nothing_with_it() -> None:
    def override() -> None:
        library = Library("aten", "IMPL")
        library.impl("sub.Tensor", lambda x, y, *, alpha=1: x)  # CompositeImplicitAutograd: fills empty slots only

    override()
    gc.collect()
    assert fl.sub(two(), two()).tolist() == [0, 0]
    assert (two() - 1).tolist() == [0, 1]


def test_libraries_over_one_another_may_go_in_any_order() -> None:
    first, second = Library("aten", "IMPL"), Library("aten", "IMPL")
    first.impl("exp", lambda x: x + 1, "CPU")
    second.impl("exp", lambda x: x + 2, "CPU", allow_override=True)
    assert fl.exp(two()).tolist() == [3, 4]
    first._destroy()
    assert fl.exp(two()).tolist() == [3, 4]
    second._destroy()
    assert exp_is_native()


def test_the_function_is_released_with_its_library() -> None:
    def kernel(x: fl.Tensor) -> fl.Tensor:
        return x

    alive = weakref.ref(kernel)
    library = Library("test_release", "DEF")
    library.define("f(Tensor x) -> Tensor")
    library.impl("f", kernel, "CPU")
    fl.ops.test_release.f(two())
    library._destroy()
    del kernel, library
    gc.collect()
    assert alive() is None


def test_an_operator_goes_with_its_library() -> None:
    library = Library("test_gone", "DEF")
    library.define("f(Tensor x) -> Tensor")
    library.impl("f", lambda x: x, "CPU")
    f = fl.ops.test_gone.f
    assert f(two()).tolist() == [1, 2]
    library._destroy()
    library._destroy()  # twice is once
    with pytest.raises((RuntimeError, NotImplementedError)):
        f(two())


def test_in_place_forms_keep_their_native_kernel() -> None:
    library = Library("aten", "IMPL")
    library.impl("exp", lambda x: x * 0, "CPU")
    x = two()
    x.exp_()
    library._destroy()
    assert exp_is_native()
    assert fl.allclose(two().exp_(), fl.exp(two()))


# ---- flambeau.ops


def test_ops_finds_namespaces_operators_and_overloads() -> None:
    assert "aten" in dir(fl.ops)
    assert "add" in dir(fl.ops.aten)
    assert fl.ops.aten.add is fl.ops.aten.add
    assert "Tensor" in fl.ops.aten.add.overloads()
    assert fl.ops.aten.add(two(), 1).tolist() == [2, 3]
    assert fl.ops.aten.add.Tensor(two(), two()).tolist() == [2, 4]
    assert fl.ops.aten.sum.default(two()).item() == 3
    assert fl.ops.aten.add.Tensor.name() == "aten::add.Tensor"
    assert "add.Tensor(" in str(fl.ops.aten.add.Tensor._schema)


def test_ops_calls_private_and_in_place_operators() -> None:
    x = two()
    assert fl.ops.aten.mul_.Tensor(x, 3) is x or x.tolist() == [3, 6]
    assert x.tolist() == [3, 6]
    assert fl.ops.aten._softmax(two(), 0, False).sum().item() == pytest.approx(1)


def test_unknown_names_in_ops_are_attribute_errors() -> None:
    with pytest.raises(AttributeError, match="add"):
        _ = fl.ops.aten.addd
    with pytest.raises(AttributeError, match="overload"):
        _ = fl.ops.aten.add.NoSuchOverload
    with pytest.raises(AttributeError):
        _ = fl.ops.aten.__wrapped__
    assert not hasattr(fl.ops.no_such_namespace, "f")


def test_ops_can_be_pickled_and_hashed() -> None:
    for op in (fl.ops.aten.add, fl.ops.aten.add.Tensor, fl.ops.aten.sum.default):
        again = pickle.loads(pickle.dumps(op))
        assert repr(again) == repr(op)
        assert again(two()).item() == 3 if "sum" in repr(op) else again(two(), two()).tolist() == [2, 4]
    assert len({fl.ops.aten.add.Tensor, fl.ops.aten.add.Tensor}) == 1


def test_overload_calls_do_not_leak_arguments() -> None:
    x = two()
    before = sys.getrefcount(x)
    for _ in range(100):
        fl.ops.aten.add.Tensor(x, x)
    assert sys.getrefcount(x) == before
