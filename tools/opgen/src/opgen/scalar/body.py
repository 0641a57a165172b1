"""Records of scalar bodies, and the reader of `schemas/scalar/*.py`.

A schema file is ordinary Python: functions decorated with `@scalar(...)`. Its arguments are the operator's tensor operands,
then its scalar parameters:

    @scalar(dtypes="numeric", params=("alpha",))
    def add(x, y, alpha):
        return x + alpha * y

An operand is of the compute dtype unless annotated otherwise ("bool", "real", "int64"). A parameter is converted to the
compute type unless it is written "name:double", "name:int" or "name:bool".
"""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from opgen.errors import RecordError
from opgen.scalar.types import ScalarType, describe_dtypes, dtype_set

PROMOTE = ("default", "int_to_float", "bool_to_int", "bool_result", "real_result", "complex_result", "none")
OPERAND_KINDS = ("compute", "bool", "real", "complex", "int32", "int64")
PARAM_KINDS = ("compute", "double", "int", "bool")
ISA_TIERS = ("all", "base")

_DEFAULT_RESULT = {"bool_result": "bool", "real_result": "real", "complex_result": "complex"}


@dataclass(frozen=True)
class Param:
    name: str
    kind: str  # one of PARAM_KINDS


class Located:
    """What records of schemas/scalar share: the place of the definition."""

    file: Path
    line: int

    @property
    def where(self) -> str:
        return f"{self.file}:{self.line}"

    @property
    def source(self) -> str:
        """Path of the record for generated files: independent of where the tree lies."""
        return f"schemas/scalar/{self.file.name}"


@dataclass(frozen=True)
class Body(Located):
    """One pointwise operator's arithmetic and the facts about it."""

    name: str
    function: Callable[..., object]
    dtypes: tuple[ScalarType, ...]
    promote: str
    inputs: tuple[str, ...]  # operand kinds
    input_names: tuple[str, ...]
    results: tuple[str, ...]  # operand kinds
    params: tuple[Param, ...]
    isa: str
    round_params: bool
    narrow: Callable[..., object] | None
    file: Path
    line: int

    @property
    def accepts(self) -> str:
        """The dtypes that it takes, in words."""
        words = describe_dtypes(self.dtypes)
        return f"{words}; bool and integers are taken as the default float" if self.promote == "int_to_float" else words


_collecting: list[list[object]] = []


def collect(record: object) -> None:
    """Hand a record to the `load` in progress; a schema file imported by hand is simply not collected."""
    if _collecting:
        _collecting[-1].append(record)


def scalar(
    *,
    dtypes: str,
    promote: str = "default",
    params: tuple[str, ...] = (),
    result: str | tuple[str, ...] | None = None,
    isa: str = "all",
    round_params: bool = False,
    narrow: Callable[..., object] | None = None,
    name: str | None = None,
) -> Callable[[Callable[..., object]], Callable[..., object]]:
    """Declare a function as the scalar body of the pointwise operator of its name.

    Parameters
    ----------
    dtypes : set of compute dtypes, see `types.dtype_set`
    promote : how the compute dtype is found. "default": the common dtype of the operands; "int_to_float": integers become
        the default float; "bool_to_int": bool becomes int64; "bool_result", "real_result", "complex_result": as default, with that kind of result; "none":
        operands must agree already
    params : scalar arguments of the operator, the last arguments of the function
    result : kind of each result, where `promote` does not say it
    isa : "base" if no instruction set beyond the base makes it faster (slow special functions): built once
    round_params : round parameters to the storage dtype first (matters to half kinds)
    narrow : a cheaper function for arguments in a narrow range. Takes what the body takes and returns (condition, results),
        or None where it has nothing to offer; where the condition holds for a whole block of elements its results, which
        must be those of the body bit for bit, are used
    name : the operator's name where Python does not allow it as a function name
    """

    def decorate(function: Callable[..., object]) -> Callable[..., object]:
        collect(_make_body(function, dtypes, promote, params, result, isa, round_params, narrow, name))
        return function

    return decorate


def _make_body(
    function: Callable[..., object],
    dtypes: str,
    promote: str,
    params: tuple[str, ...],
    result: str | tuple[str, ...] | None,
    isa: str,
    round_params: bool,
    narrow: Callable[..., object] | None,
    name: str | None,
) -> Body:
    file, line = Path(function.__code__.co_filename), function.__code__.co_firstlineno
    name = name or function.__name__.rstrip("_")
    where = f"{file}:{line}: [{name}]"
    _one_of(where, "promote", promote, PROMOTE)
    _one_of(where, "isa", isa, ISA_TIERS)
    parsed = tuple(parse_param(where, p) for p in params)
    arguments = list(inspect.signature(function).parameters.values())
    if tuple(a.name for a in arguments[len(arguments) - len(parsed) :]) != tuple(p.name for p in parsed):
        raise RecordError(
            f"{where} params {tuple(p.name for p in parsed)} must be the last arguments of the function, in order"
        )
    operands = arguments[: len(arguments) - len(parsed)]
    inputs = tuple("compute" if a.annotation is a.empty else str(a.annotation) for a in operands)
    if result is None:
        result = _DEFAULT_RESULT.get(promote, "compute")
    results = (result,) if isinstance(result, str) else tuple(result)
    for kind in (*inputs, *results):
        _one_of(where, "operand kind", kind, OPERAND_KINDS)
    try:
        types = dtype_set(dtypes)
    except ValueError as err:
        raise RecordError(f"{where} {err}") from err
    return Body(
        name=name,
        function=function,
        dtypes=types,
        promote=promote,
        inputs=inputs,
        input_names=tuple(a.name for a in operands),
        results=results,
        params=parsed,
        isa=isa,
        round_params=round_params,
        narrow=narrow,
        file=file,
        line=line,
    )


def parse_param(where: str, text: str) -> Param:
    name, _, kind = text.partition(":")
    kind = kind or "compute"
    _one_of(where, f"kind of parameter {name}", kind, PARAM_KINDS)
    return Param(name, kind)


def _one_of(where: str, what: str, given: str, allowed: tuple[str, ...]) -> None:
    if given not in allowed:
        raise RecordError(f'{where} {what} is "{given}"; allowed are {", ".join(allowed)}')


@contextmanager
def _collection() -> Iterator[list[object]]:
    records: list[object] = []
    _collecting.append(records)
    try:
        yield records
    finally:
        _collecting.pop()


def load_scalars(schemas_dir: Path) -> list[object]:
    """Every record of `schemas_dir/scalar/*.py`, in order of file name, then of place.

    Raises
    ------
    RecordError  if a record is ill formed, a name is used twice, or there is no file
    """
    files = sorted((schemas_dir / "scalar").glob("*.py"))
    if not files:
        raise RecordError(f"{schemas_dir / 'scalar'}:0: there is no schema file (*.py) in this folder")
    with _collection() as records:
        for file in files:
            _run(file)
    seen: dict[tuple[type, str], object] = {}
    for record in records:
        key = (type(record), record.name)  # type: ignore[attr-defined]
        if key in seen:
            raise RecordError(f"{record.where}: [{record.name}] is declared twice, first at {seen[key].where}")  # type: ignore[attr-defined]
        seen[key] = record
    return records


def load_bodies(schemas_dir: Path) -> list[Body]:
    """The pointwise records of `load_scalars`."""
    return [r for r in load_scalars(schemas_dir) if isinstance(r, Body)]


def _run(file: Path) -> None:
    spec = importlib.util.spec_from_file_location(f"_opgen_schema_{file.stem}", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    before = sys.dont_write_bytecode
    sys.dont_write_bytecode = True  # the schemas folder holds sources only
    try:
        spec.loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = before
