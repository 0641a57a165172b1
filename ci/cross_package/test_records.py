"""What the operator records promise, for every operator: dtypes, layouts, forms, meta tensors, overlap, threads.

An operator is tested from the moment its record exists. `known_faults.py` lists what does not hold, with a reason each;
an entry that holds after all fails its test.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import flambeau as fl
import pytest
from comparison import assert_close, assert_same, bits, describe
from flambeau._signatures import overloads
from known_faults import marked
from record_samples import CALLS, LARGE, Call, Inputs, generic, sample
from records import BY_NAME, OPERATORS, Operator, compute_dtype, tensors_in

DTYPES = (
    "bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64",
    "float16", "bfloat16", "float32", "float64", "complex32", "complex64", "complex128",
)  # fmt: skip
UNDEFINED = ("empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided")
# by definition they see the layout
READS_STORAGE = ("as_strided_scatter", "as_strided_copy", "_unsafe_view", "view_as_complex_copy")
REFUSED_OVERLAP = ("overlap", "memory")


def operators(check: str, chosen: Callable[[Operator], bool]) -> Any:
    """Parametrises a test over the records that `chosen` picks; known faults are strict xfails."""
    return pytest.mark.parametrize("operator", marked(check, [o for o in OPERATORS if chosen(o)]), ids=lambda o: o.name)


def is_plain(o: Operator) -> bool:
    """Calls with the same arguments give the same bits, and arguments stay as they are."""
    return not o.mutates and o.record.schema.name not in UNDEFINED


def has_tensors(o: Operator) -> bool:
    return any(a.type.base == "Tensor" for a in o.record.schema.arguments)


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


# ---- samples


@operators("sample", lambda o: True)
def test_a_sample_call_succeeds(operator: Operator) -> None:
    sample(operator).run()


def test_every_listed_call_is_of_an_operator() -> None:
    assert not [name for name in CALLS if name not in BY_NAME]


# ---- dtypes


@operators("dtypes", lambda o: o.body is not None)
def test_runs_for_exactly_the_dtypes_of_its_body(operator: Operator) -> None:
    assert operator.body is not None
    defined = {t.name for t in operator.body.dtypes}
    for name in DTYPES:
        dtype = getattr(fl, name)
        args, kwargs = generic(operator, Inputs(dtype=dtype, domain="g"), (3, 4))
        if compute_dtype(operator, dtype) in defined:
            operator.call(*args, **kwargs)
        else:
            with pytest.raises(RuntimeError, match="not implemented for"):
                operator.call(*args, **kwargs)
                pytest.fail(f"runs for {name}, which its body does not have")


# ---- layouts


def transposed(t: fl.Tensor) -> fl.Tensor:
    """The same values, stored with the dimensions in the other order."""
    order = tuple(reversed(range(t.dim())))
    return t.permute(order).contiguous().permute(order)


def spread(t: fl.Tensor) -> fl.Tensor:
    """The same values, every second element of their storage."""
    return fl.stack([t, t], -1)[..., 1]


@operators(
    "layouts",
    lambda o: is_plain(o) and has_tensors(o) and not o.record.view and o.name not in READS_STORAGE and not o.is_random,
)
def test_layout_of_inputs_does_not_matter(operator: Operator) -> None:
    call = sample(operator)
    check = assert_same if operator.body else assert_close
    expected = call.run()
    for change in (transposed, spread):
        check(call.mapped(change).run(), expected, change.__name__)


@operators("scalars", lambda o: o.body is not None)
def test_zero_dimensional_and_empty_tensors(operator: Operator) -> None:
    call = sample(operator)
    shape = fl.broadcast_shapes(*(t.shape for t in call.tensors()))
    whole = call.mapped(lambda t: t.expand(shape))
    expected = whole.run()
    first = whole.mapped(lambda t: t[(0,) * t.dim()]).run()
    assert_same(first, replaced(expected, lambda t: t[(0,) * t.dim()]), "0-d")
    empty = whole.mapped(lambda t: t[:0]).run()
    assert_same(empty, replaced(expected, lambda t: t[:0]), "empty")


def replaced(result: Any, change: Callable[[fl.Tensor], fl.Tensor]) -> Any:
    return [change(t) for t in tensors_in(result)]


# ---- forms


def out_argument(operator: Operator, tensors: list[fl.Tensor]) -> Any:
    """What `out=` takes: a tensor, a tuple of as many as there are results, or a list where the result is a list."""
    returns = operator.record.schema.returns
    if returns[0][0].is_list:
        return tensors
    return tuple(tensors) if len(returns) > 1 else tensors[0]


@operators("out", lambda o: o.record.out and is_plain(o))
def test_out_gives_what_the_functional_form_gives(operator: Operator) -> None:
    call = sample(operator)
    expected = call.run()
    for what, make in (("same shape", fl.empty_like), ("to be resized", lambda t: t.new_empty(0))):
        out = [make(t) for t in tensors_in(expected)]
        result = call.run_form(operator.call, out=out_argument(operator, out))
        assert_same(out, expected, f"out= of the {what}")
        if result is not None:  # lists are written, not returned
            assert [t.data_ptr() for t in tensors_in(result)] == [t.data_ptr() for t in out], what


@operators("inplace", lambda o: o.record.inplace)
def test_in_place_gives_what_the_functional_form_gives(operator: Operator) -> None:
    call = sample(operator)
    expected = call.run()
    target = call.copy()
    if describe(expected) != describe(target.args[0]):
        target.args[0] = target.args[0].to(expected.dtype).expand(expected.shape).clone()
        expected = target.copy().run()
    before = target.args[0]._version
    result = target.run_form(operator.form("_"))
    assert_same(target.args[0], expected.to(target.args[0].dtype), "in place")
    assert result.data_ptr() == target.args[0].data_ptr()
    assert target.args[0]._version > before


@operators("mutates", lambda o: o.mutates)
def test_what_writes_its_argument_says_so(operator: Operator) -> None:
    """Only arguments that the schema marks are written, and writing counts the version up."""
    call = sample(operator).copy()
    before = [(t, t._version, t.clone()) for t in call.tensors()]
    call.run()
    arguments = operator.record.schema.arguments
    given = dict(zip((a.name for a in arguments), call.args, strict=False)) | call.kwargs
    may_change = {id(t) for a in arguments if a.type.mutated for t in tensors_in(given.get(a.name))}
    changed = [(t, version) for t, version, value in before if not fl.equal(bits(t), bits(value))]
    assert changed
    assert all(id(t) in may_change for t, _ in changed)
    assert all(t._version > version for t, version in changed)


@operators("method", lambda o: "method" in o.record.places and is_plain(o))
def test_method_gives_what_the_function_gives(operator: Operator) -> None:
    call = sample(operator)
    first = call.args[0]
    expected = call.run()
    fl.manual_seed(3)
    found = getattr(first, operator.record.schema.name)(*call.args[1:], **call.kwargs)
    assert_same(found, expected, "method")


# ---- meta tensors


def on_meta(t: fl.Tensor) -> fl.Tensor:
    return fl.empty_strided(t.shape, t.stride(), dtype=t.dtype, device="meta")


@operators("meta", lambda o: is_plain(o) and has_tensors(o))
def test_meta_tensors_give_the_same_geometry(operator: Operator) -> None:
    call = sample(operator)
    expected = tensors_in(call.run())
    required = bool(operator.body or operator.record.shape or operator.record.view)
    try:
        found = tensors_in(call.mapped(on_meta).run())
    except (NotImplementedError, RuntimeError) as err:
        refused = "meta" in str(err).lower() or "Could not run" in str(err)
        assert not required and refused, f"{type(err).__name__}: {err}"
        return
    geometry = [(tuple(t.shape), t.dtype, strides(t)) for t in found]
    assert geometry == [(tuple(t.shape), t.dtype, strides(t)) for t in expected]
    assert all(t.device.type == "meta" for t in found)


def strides(t: fl.Tensor) -> list[int]:
    """Strides that matter: those of dimensions longer than 1 in a tensor with elements."""
    return [s for s, n in zip(t.stride(), t.shape, strict=True) if n > 1] if t.numel() else []


# ---- overlap


def sharing(t: fl.Tensor, like: fl.Tensor, shift: int) -> tuple[fl.Tensor, fl.Tensor] | None:
    """A copy of t, and memory for a tensor like `like` that begins `shift` elements after it."""
    if (
        t.element_size() != like.element_size()
        or not t.numel()
        or not like.numel()
        or t.is_complex()
        or like.is_complex()
    ):
        return None
    storage = fl.zeros(shift + t.numel() + like.numel() + 1, dtype=t.dtype)
    copy = storage[: t.numel()].view(t.shape).copy_(t)
    return copy, storage.view(like.dtype)[shift : shift + like.numel()].view(like.shape)


def assert_right_or_refused(run: Callable[[], fl.Tensor], expected: fl.Tensor, what: str) -> None:
    try:
        found = run()
    except RuntimeError as err:
        assert any(word in str(err) for word in REFUSED_OVERLAP), f"{what}: {err}"
        return
    assert_same(found, expected, what)


@operators("overlap", lambda o: o.record.out and is_plain(o) and has_tensors(o))
def test_out_that_overlaps_an_input(operator: Operator) -> None:
    call = sample(operator)
    results = tensors_in(call.run())
    for position, tensor in enumerate(call.tensors()):
        for number, result in enumerate(results):
            for shift in (0, 1):
                shared = sharing(tensor, result, shift)
                if shared is None:
                    continue
                copy, memory = shared
                out = [fl.empty_like(r) for r in results]
                out[number] = memory
                count = iter(range(len(call.tensors())))
                call_on = call.mapped(lambda t, copy=copy, count=count, at=position: copy if next(count) == at else t)
                given = out_argument(operator, out)
                what = f"result {number} begins {shift} elements after tensor {position}"
                assert_right_or_refused(
                    lambda c=call_on, g=given, m=memory: (c.run_form(operator.call, out=g), m)[1], result, what
                )


@operators(
    "overlap_inplace",
    lambda o: o.record.inplace and len([a for a in o.record.schema.arguments if a.type.base == "Tensor"]) > 1,
)
def test_in_place_on_memory_that_overlaps_an_operand(operator: Operator) -> None:
    call = sample(operator)
    target = call.copy()
    expected = call.run()
    if describe(expected) != describe(target.args[0]):
        return
    for position, tensor in enumerate(call.tensors()[1:], 1):
        for shift in (0, 1):
            shared = sharing(tensor, call.args[0], shift) if tensor.dtype == call.args[0].dtype else None
            if shared is None:
                continue
            copy, memory = shared
            memory.copy_(call.args[0])
            # the operand holds what the copy of the target left of it
            plain = call.mapped(picking(position, copy.clone())).run()
            overlapping = call.mapped(picking(position, copy))
            overlapping.args[0] = memory
            assert_right_or_refused(
                lambda c=overlapping, m=memory: (c.run_form(operator.form("_")), m)[1],
                plain,
                f"self begins {shift} elements after tensor {position}",
            )


def picking(position: int, value: fl.Tensor) -> Callable[[fl.Tensor], fl.Tensor]:
    """A change that replaces the tensor at `position` by `value`."""
    count = iter(range(1 << 30))
    return lambda t: value if next(count) == position else t


@operators("expanded", lambda o: o.record.out and is_plain(o))
def test_writing_to_an_expanded_tensor_is_refused(operator: Operator) -> None:
    call = sample(operator)
    expected = call.run()
    results = tensors_in(expected)
    out = [t.new_zeros(()).expand(t.shape) if t.numel() > 1 else t.clone() for t in results]
    if not any(t.numel() > 1 for t in results):
        return
    with pytest.raises(RuntimeError, match="single memory location"):
        call.run_form(operator.call, out=out_argument(operator, out))


# ---- decompositions


def completed(call: Call) -> Call:
    """The call with every argument given, as a decomposition gets them."""
    arguments = overloads(call.operator.call)[0].arguments
    args = [
        *call.args,
        *(a.default for a in arguments[len(call.args) :] if not a.kwarg_only and a.name not in call.kwargs),
    ]
    kwargs = {a.name: a.default for a in arguments if a.kwarg_only} | call.kwargs
    return Call(call.operator, args, kwargs, call.inputs)


@operators("decomposition", lambda o: o.record.op_class == "fused" and bool(o.record.python) and bool(o.record.kernel))
def test_a_fused_kernel_gives_what_its_decomposition_gives(operator: Operator) -> None:
    module, _, name = operator.record.python.partition(":")
    decomposition = getattr(importlib.import_module(module), name)
    call = sample(operator)
    assert_close(completed(call).run_form(decomposition), call.run(), "decomposition")


# ---- threads


@pytest.fixture
def restored_threads() -> Iterator[None]:
    before = fl.get_num_threads()
    yield
    fl.set_num_threads(before)


@operators("threads", lambda o: is_plain(o) and not o.record.view)
def test_same_bits_with_any_number_of_threads(operator: Operator, restored_threads: None) -> None:
    call = sample(operator, LARGE)
    fl.set_num_threads(1)
    expected = call.run()
    for threads in (2, 3):
        fl.set_num_threads(threads)
        assert_same(call.run(), expected, f"{threads} threads")


SHAPES = [(1, 200_000), (200_000, 1), (700, 301), (3, 70_001)]


def reduces_a_dim(o: Operator) -> bool:
    arguments = o.record.schema.arguments
    tensors = [a for a in arguments if a.type.base == "Tensor"]
    return o.record.source.endswith("/reduce.yaml") and len(tensors) == 1 and "dim" in [a.name for a in arguments]


@operators("threads of reductions", reduces_a_dim)
def test_reductions_over_either_dim_with_any_number_of_threads(operator: Operator, restored_threads: None) -> None:
    """Few long rows, many short ones, and sums across rows are cut into chunks in different ways."""
    is_list = next(a for a in operator.record.schema.arguments if a.name == "dim").type.is_list
    for dtype in (fl.float32, fl.bfloat16):
        for shape in SHAPES:
            inputs = Inputs(dtype=dtype)
            args, kwargs = generic(operator, inputs, shape)
            for dim in (0, 1):
                results = []
                for threads in (1, 2, 3):
                    fl.set_num_threads(threads)
                    call = Call(operator, args[:1], kwargs, inputs)
                    results.append(
                        call.run_form(operator.call, **required(operator, args), dim=[dim] if is_list else dim)
                    )
                assert_same(results[1], results[0], f"{shape} over {dim}, {dtype}, 2 threads")
                assert_same(results[2], results[0], f"{shape} over {dim}, {dtype}, 3 threads")


def required(operator: Operator, args: list[Any]) -> dict[str, Any]:
    """The arguments after the first by name, without `dim`."""
    names = [a.name for a in operator.record.schema.arguments if a.default is None and not a.kwarg_only]
    return {n: v for n, v in zip(names[1:], args[1:], strict=True) if n != "dim"}
