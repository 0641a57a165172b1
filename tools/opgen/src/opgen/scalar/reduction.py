"""Records of reductions: an identity, what an element becomes, how two partial results combine, and how one finishes.

    @reduction(dtypes="all", accumulators=("sum",))
    class sum:
        def identity(t):                 # one value for each accumulator; `t` is the accumulators' type
            return 0

        def load(x):                     # optional: the element as accumulators; the element itself unless given
            return x

        def combine(a, b):               # associative up to rounding
            return a + b

        def finish(a, count):            # optional: the results; the accumulators themselves unless given
            return a

With several accumulators, values are tuples. `load` may take `index`, the element's place among those reduced (int64).
`accumulate(a, x, n)` may replace load-and-combine for one element, where that is cheaper; `n` is the number of elements
in `a` once `x` has joined (of the accumulators' real type).

A class may derive from another reduction and replace some of its functions; what the decorator says is not inherited.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType

from opgen.errors import RecordError
from opgen.scalar.body import Located, Param, _one_of, collect, parse_param
from opgen.scalar.ir import Node
from opgen.scalar.lang import BodyError, Trace, Value, cast
from opgen.scalar.trace import param_type
from opgen.scalar.types import BOOL, I64, ScalarType, dtype_set

ACCUMULATOR_KINDS = ("compute", "sum", "real", "int64", "bool")
_FUNCTIONS = ("identity", "load", "combine", "finish", "accumulate")


@dataclass(frozen=True)
class Reduction(Located):
    name: str
    functions: dict[str, Callable[..., object]]
    dtypes: tuple[ScalarType, ...]
    accumulators: tuple[str, ...]
    results: tuple[str, ...]
    params: tuple[Param, ...]
    file: Path
    line: int

    @property
    def is_indexed(self) -> bool:
        return "index" in _arguments(self.functions["load"])

    @property
    def is_counted(self) -> bool:
        return "accumulate" in self.functions


def reduction(
    *,
    dtypes: str,
    accumulators: tuple[str, ...] = ("compute",),
    results: tuple[str, ...] | None = None,
    params: tuple[str, ...] = (),
) -> Callable[[type], type]:
    """Declare a class of functions as the reduction of its name. `results` are kinds of accumulators, by default all."""

    def decorate(cls: type) -> type:
        collect(_make(cls, dtypes, accumulators, results or accumulators, params))
        return cls

    return decorate


def _make(
    cls: type, dtypes: str, accumulators: tuple[str, ...], results: tuple[str, ...], params: tuple[str, ...]
) -> Reduction:
    functions: dict[str, Callable[..., object]] = {}
    for base in reversed(cls.__mro__):
        functions.update(_functions(base))
    own = list(_functions(cls).values())
    file = Path(own[0].__code__.co_filename if own else inspect.getfile(cls))
    line = min((f.__code__.co_firstlineno for f in own), default=1) - 1
    name = cls.__name__.rstrip("_")
    where = f"{file}:{line}: [{name}]"
    for function in functions:
        _one_of(where, "function", function, _FUNCTIONS)
    if missing := [f for f in ("identity", "combine") if f not in functions]:
        raise RecordError(f"{where} lacks {' and '.join(missing)}; a reduction is identity, combine, load, finish")
    for kind in (*accumulators, *results):
        _one_of(where, "accumulator kind", kind, ACCUMULATOR_KINDS)
    functions.setdefault("load", lambda x: x)
    functions.setdefault("finish", lambda a, count: a)
    return Reduction(
        name=name,
        functions=functions,
        dtypes=dtype_set(dtypes),
        accumulators=tuple(accumulators),
        results=tuple(results),
        params=tuple(parse_param(where, p) for p in params),
        file=file,
        line=line,
    )


def _functions(cls: type) -> dict[str, FunctionType]:
    return {k: v for k, v in vars(cls).items() if isinstance(v, FunctionType)}


def accumulator_type(kind: str, dtype: ScalarType) -> ScalarType:
    compute = dtype.compute
    whole = compute.is_bool or compute.is_integral
    kinds = {"sum": I64 if whole else compute, "real": compute.real, "int64": I64, "bool": BOOL}
    return kinds.get(kind, compute)


@dataclass(frozen=True)
class Leaf:
    """Name of an input of a piece: accumulator, element, parameter, row index, column, count."""

    name: str
    position: int = 0


@dataclass(frozen=True)
class TracedReduction:
    """The pieces of a reduction for one dtype, each as expressions over `Leaf` inputs."""

    record: Reduction
    dtype: ScalarType
    accumulators: tuple[ScalarType, ...]
    params: tuple[ScalarType, ...]
    identity: tuple[Node, ...]
    step: tuple[Node, ...]  # accumulators `a` after the element `x`
    merge: tuple[Node, ...]  # accumulators `a` and `b` combined
    finish: tuple[Node, ...]


def trace_reduction(record: Reduction, dtype: ScalarType) -> TracedReduction:
    """Run the functions of `record` for `dtype`; raises BodyError as `trace` does."""
    return _Tracer(record, dtype).run()


class _Tracer:
    def __init__(self, record: Reduction, dtype: ScalarType) -> None:
        self.record = record
        self.dtype = dtype
        self.trace = Trace(f"{record.name}, {dtype}")
        self.types = tuple(accumulator_type(k, dtype) for k in record.accumulators)
        self.params = tuple(param_type(p.kind, dtype.compute) for p in record.params)

    def run(self) -> TracedReduction:
        a, b = self.accumulators("a"), self.accumulators("b")
        x = self.leaf("x", dtype=self.dtype, type=self.dtype.compute)
        merged = self.call("combine", self.pack(a), self.pack(b))
        count = self.leaf("count", type=I64)
        results = tuple(accumulator_type(k, self.dtype) for k in self.record.results)
        return TracedReduction(
            record=self.record,
            dtype=self.dtype,
            accumulators=self.types,
            params=self.params,
            identity=self.check("identity", self.call("identity", self.types[0], lift=True), self.types),
            step=self.check("combine", self.step(a, x), self.types),
            merge=self.check("combine", merged, self.types),
            finish=self.check("finish", self.call("finish", self.pack(a), count), results),
        )

    def step(self, a: tuple[Value, ...], x: Value) -> tuple[object, ...]:
        if self.record.is_counted:
            return self.call("accumulate", self.pack(a), x, self.leaf("n", type=self.types[0].real))
        extra = (self.leaf("index", type=I64),) if self.record.is_indexed else ()
        loaded = self.call("load", x, *extra)
        converted = tuple(self.convert(v, t) for v, t in zip(loaded, self.types, strict=True))
        return self.call("combine", self.pack(a), self.pack(converted))

    def convert(self, v: object, t: ScalarType) -> object:
        # Sums of small integers are loaded as int64 without being asked.
        return cast(v, t) if isinstance(v, Value) and v.type is not t and not v.is_complex else v

    def leaf(self, name: str, position: int = 0, *, type: ScalarType, dtype: ScalarType | None = None) -> Value:
        return Value(self.trace, self.trace.builder.make("input", type, attr=Leaf(name, position)), dtype)

    def accumulators(self, name: str) -> tuple[Value, ...]:
        return tuple(self.leaf(name, i, type=t) for i, t in enumerate(self.types))

    def pack(self, values: tuple[object, ...]) -> object:
        return values[0] if len(values) == 1 else values

    def call(self, name: str, *arguments: object, lift: bool = False) -> tuple[object, ...]:
        function = self.record.functions[name]
        wanted = _arguments(function)[len(arguments) :]
        by_name = {p.name: (i, t) for i, (p, t) in enumerate(zip(self.record.params, self.params, strict=True))}
        extra = []
        for argument in wanted:
            if argument not in by_name:
                known = ", ".join(by_name) or "none"
                raise BodyError(
                    f"{self.record.where}: [{self.trace.label}] {name} takes {argument}; params are {known}"
                )
            i, t = by_name[argument]
            extra.append(Value(self.trace, self.trace.builder.make("param", t, attr=i)))
        result = function(*arguments, *extra)
        values = result if isinstance(result, tuple) else (result,)
        if not lift:
            return values
        pairs = zip(values, self.types, strict=True)
        return tuple(Value(self.trace, self.trace.builder.const(t, v)) for v, t in pairs)

    def check(self, name: str, values: tuple[object, ...], types: tuple[ScalarType, ...]) -> tuple[Node, ...]:
        got = tuple(v.type if isinstance(v, Value) else repr(v) for v in values)
        if got != types:
            texts = [", ".join(map(str, t)) for t in (got, types)]
            raise BodyError(
                f"{self.record.where}: [{self.trace.label}] {name} gives ({texts[0]}); its record says ({texts[1]})"
            )
        return tuple(v.node for v in values if isinstance(v, Value))


def _arguments(function: Callable[..., object]) -> list[str]:
    return list(inspect.signature(function).parameters)
