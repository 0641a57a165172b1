"""`opcheck`: whether an operator's registrations say the truth about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from flambeau import _C, _ops
from flambeau._C import Tensor

__all__ = ["OpCheckError", "opcheck"]

TESTS = ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic")


class OpCheckError(Exception):
    """A registration that is wrong; the message says which and how."""


def opcheck(
    op: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    *,
    test_utils: str | Sequence[str] = TESTS,
    raise_exception: bool = True,
    atol: float | None = None,
    rtol: float | None = None,
) -> dict[str, Any]:
    """Run an operator on sample arguments and compare what it does with what is registered for it.

    Parameters
    ----------
    op : an OpOverload, an OpOverloadPacket with one overload, or what `custom_op` returned
    args, kwargs : a call that works; give some tensors requires_grad for a differentiable operator
    test_utils : which of
        test_schema : arguments are written to, and results share memory, only where the schema says so
        test_autograd_registration : a derivative is registered where autograd can see it
        test_faketensor : the fake implementation gives sizes, strides, dtypes and devices of the real one
        test_aot_dispatch_dynamic : two equal calls have equal gradients (there is no tracer yet to compare with)
    raise_exception : raise OpCheckError at the first failure
    atol, rtol : for comparing gradients

    Returns
    -------
    {name of test: "SUCCESS" or the error}
    """
    overload = _overload_of(op)
    names = [test_utils] if isinstance(test_utils, str) else list(test_utils)
    if unknown := set(names) - set(TESTS):
        raise ValueError(f"opcheck(op, ...): unknown test_utils {sorted(unknown)}; allowed: {', '.join(TESTS)}")
    results: dict[str, Any] = {}
    for name in names:
        try:
            _RUN[name](overload, args, kwargs or {}, atol, rtol)
            results[name] = "SUCCESS"
        except Exception as error:
            if raise_exception:
                raise OpCheckError(
                    f"opcheck(op, ...): {name} failed with {error} (scroll up for stack trace)"
                ) from error
            results[name] = error
    return results


def _overload_of(op: Any) -> _ops.OpOverload:
    if isinstance(op, _ops.OpOverload):
        return op
    if isinstance(op, _ops.OpOverloadPacket):
        names = op.overloads()
        if len(names) != 1:
            raise ValueError(f"opcheck(op, ...): {op} has several overloads ({', '.join(names)}): pass one of them")
        return getattr(op, names[0])
    if hasattr(op, "_opoverload"):
        return op._opoverload
    raise ValueError(f"opcheck(op, ...): op must be an operator or what custom_op returned, got {type(op).__name__}")


def _map(value: Any, f: Callable[[Tensor], Any]) -> Any:
    if isinstance(value, Tensor):
        return f(value)
    if isinstance(value, list | tuple):
        return type(value)(_map(v, f) for v in value)
    if isinstance(value, dict):
        return {k: _map(v, f) for k, v in value.items()}
    return value


def _tensors(value: Any) -> list[Tensor]:
    found: list[Tensor] = []
    _map(value, lambda t: found.append(t))
    return found


def _copy(t: Tensor) -> Tensor:
    copied = t.detach().clone()
    return copied.requires_grad_() if t.requires_grad else copied


def _bytes(t: Tensor) -> bytes:
    return bytes(memoryview(t.detach().contiguous().reshape(-1).view(_byte_dtype()))) if t.numel() else b""


def _byte_dtype() -> Any:
    import flambeau

    return flambeau.uint8


def _test_schema(op: _ops.OpOverload, args: tuple, kwargs: dict, atol: object, rtol: object) -> None:
    import flambeau

    schema = op._schema
    args, kwargs = _map(args, _copy), _map(kwargs, _copy)
    given = {a.name: args[i] if i < len(args) else kwargs.get(a.name) for i, a in enumerate(schema.arguments)}
    before = {name: [_bytes(t) for t in _tensors(value)] for name, value in given.items()}
    with flambeau.no_grad():
        result = op(*args, **kwargs)
    for a in schema.arguments:
        changed = before[a.name] != [_bytes(t) for t in _tensors(given[a.name])]
        if changed and not a.is_write:
            raise RuntimeError(
                f"Argument {a.name} is not defined as mutable but was mutated: {schema}. Name it in mutates_args, or mark it "
                f"in the schema as Tensor(a!)"
            )
    _check_results(op, schema, given, result)


def _check_results(op: _ops.OpOverload, schema: Any, given: dict[str, Any], result: Any) -> None:
    results = [result] if len(schema.returns) == 1 else [] if result is None else list(result)
    if len(results) != len(schema.returns):
        raise RuntimeError(f"{op} returned {len(results)} results, its schema says {len(schema.returns)}: {schema}")
    for i, (value, said) in enumerate(zip(results, schema.returns, strict=True)):
        for t in _tensors(value):
            for a in schema.arguments:
                shared = any(_C._storage_address(t) == _C._storage_address(x) for x in _tensors(given[a.name]))
                allowed = said.alias_info is not None and a.alias_info is not None
                if shared and not (allowed and said.alias_info.set == a.alias_info.set):
                    raise RuntimeError(
                        f"Argument {a.name} is not defined to alias output {i} but was aliasing: {schema}. Return a clone, "
                        "or give both the same alias annotation, as in (Tensor(a) x) -> Tensor(a)"
                    )


def _test_autograd_registration(op: _ops.OpOverload, args: tuple, kwargs: dict, atol: object, rtol: object) -> None:
    if not any(t.requires_grad for t in _tensors([args, kwargs])) or op._schema.is_mutable:
        return
    result = op(*_map(args, _copy), **_map(kwargs, _copy))
    if any(t.requires_grad for t in _tensors(result)) or not any(
        t.is_floating_point() or t.is_complex() for t in _tensors(result)
    ):
        return
    raise RuntimeError(
        f"{op}: some inputs require grad, and no result does: nothing is registered for autograd. Use register_autograd"
    )


def _test_faketensor(op: _ops.OpOverload, args: tuple, kwargs: dict, atol: object, rtol: object) -> None:
    import flambeau

    with flambeau.no_grad():
        real = op(*_map(args, _copy), **_map(kwargs, _copy))
        fake = op(*_map(args, _meta), **_map(kwargs, _meta))
    expected, found = _tensors(real), _tensors(fake)
    if len(expected) != len(found):
        raise RuntimeError(f"{op}: the fake implementation returns {len(found)} tensors, the real one {len(expected)}")
    for i, (r, f) in enumerate(zip(expected, found, strict=True)):
        for what in ("shape", "dtype", "layout"):
            if getattr(r, what) != getattr(f, what):
                raise RuntimeError(
                    f"{op}: result {i} has {what} {getattr(f, what)} in the fake implementation, {getattr(r, what)} in the real one"
                )
        if r.numel() and _strides(r) != _strides(f):
            raise RuntimeError(
                f"{op}: result {i} has strides {f.stride()} in the fake implementation, {r.stride()} in the real one"
            )


def _meta(t: Tensor) -> Tensor:
    return t.detach().to("meta")


def _strides(t: Tensor) -> list[int]:
    return [s for s, n in zip(t.stride(), t.shape, strict=True) if n > 1]


def _test_gradients(op: _ops.OpOverload, args: tuple, kwargs: dict, atol: Any, rtol: Any) -> None:
    """Twice with the same inputs: an operator is a function of its arguments, and so is its derivative."""
    if not any(t.requires_grad for t in _tensors([args, kwargs])) or op._schema.is_mutable:
        return
    first, second = (_gradients(op, _map(args, _copy), _map(kwargs, _copy)) for _ in range(2))
    for i, (a, b) in enumerate(zip(first, second, strict=True)):
        if (a is None) != (b is None):
            raise RuntimeError(f"{op}: input {i} has a gradient in one call and none in another")
        if (
            a is not None
            and b is not None
            and not a.allclose(b, atol=1e-6 if atol is None else atol, rtol=1e-5 if rtol is None else rtol)
        ):
            raise RuntimeError(f"{op}: the gradient of input {i} differs between two equal calls")


def _gradients(op: _ops.OpOverload, args: tuple, kwargs: dict) -> list[Tensor | None]:
    leaves = [t for t in _tensors([args, kwargs]) if t.requires_grad]
    results = [t for t in _tensors(op(*args, **kwargs)) if t.requires_grad]
    total: Any = sum(t.real.sum() if t.is_complex() else t.sum() for t in results)
    if not results:
        return [None for _ in leaves]
    total.backward()
    return [t.grad for t in leaves]


_RUN: dict[str, Callable] = {
    "test_schema": _test_schema,
    "test_autograd_registration": _test_autograd_registration,
    "test_faketensor": _test_faketensor,
    "test_aot_dispatch_dynamic": _test_gradients,
}
