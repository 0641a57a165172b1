"""Stubs and the reference page follow from records."""

import ast
from pathlib import Path

import pytest
from opgen import forms, stubs
from opgen.__main__ import indexes
from opgen.errors import RecordError
from opgen.records import load_records, read_record

ADD = {
    "func": "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    "pointwise": "add",
    "numbers": "all",
    "doc": "self + alpha * other.",
}


def record(**row: object) -> object:
    return read_record({"__line__": 3, **row}, "schemas/ops/x.yaml", "aten")


def texts(*rows: object, **form: bool) -> list[str]:
    return [str(f) for f in forms.overloads(list(rows), **form)]


def test_signature_of_add() -> None:
    assert texts(record(**ADD)) == [
        "(input: Tensor | _Number, other: Tensor | _Number, *, alpha: _Number = 1, out: Tensor | None = None) -> Tensor"
    ]


def test_methods_take_no_out_and_in_place_forms_give_self() -> None:
    assert texts(record(**ADD), method=True) == ["(other: Tensor | _Number, *, alpha: _Number = 1) -> Tensor"]
    assert texts(record(**ADD), method=True, inplace=True) == [
        "(other: Tensor | _Number, *, alpha: _Number = 1) -> Self"
    ]
    assert texts(record(**ADD), inplace=True) == [
        "(input: Tensor, other: Tensor | _Number, *, alpha: _Number = 1) -> Tensor"
    ]


def test_numbers_only_where_the_record_says_so() -> None:
    assert texts(record(**{**ADD, "numbers": "other"}))[0].startswith("(input: Tensor, other: Tensor | _Number,")


def test_a_list_of_ints_may_be_gathered_where_nothing_else_is_positional() -> None:
    view = record(func="view(Tensor(a) self, int[] size) -> Tensor(a)", kernel="k", view=True)
    assert texts(view, method=True) == ["(size: _Ints) -> Tensor", "(first: _int, /, *size: _int) -> Tensor"]
    assert texts(view) == ["(input: Tensor, size: _Ints) -> Tensor"]


def test_factories_take_requires_grad() -> None:
    zeros = record(func="zeros(int[] size, *, ScalarType? dtype=None, Device? device=None) -> Tensor", kernel="k")
    assert texts(zeros)[1] == (
        "(first: _int, /, *size: _int, dtype: _DType | None = None, device: _Device | None = None, "
        "out: Tensor | None = None, requires_grad: _bool = False) -> Tensor"
    )


def test_results_with_names_are_named_tuples_and_defaults_are_python(tmp_path: Path) -> None:
    sort = record(
        func="sort(Tensor self, int[2] k=[0, 1], str m='a', int dim=-1) -> (Tensor values, Tensor indices)", kernel="k"
    )
    assert texts(sort) == [
        "(input: Tensor, k: _Ints | _int = (0, 1), m: _str = 'a', dim: _int = -1, *, "
        "out: tuple[Tensor, Tensor] | list[Tensor] | None = None) -> _results.sort"
    ]
    stubs.emit(tmp_path, [sort], "aten", {})
    text = (tmp_path / "stubs/aten_results.pyi").read_text()
    assert "class sort(tuple[Tensor, Tensor]):" in text
    assert "def indices(self) -> Tensor: ..." in text


def test_a_form_that_an_earlier_one_takes_in_is_left_out() -> None:
    scalar = record(func="add.Scalar(Tensor self, Scalar other, *, Scalar alpha=1) -> Tensor", kernel="k")
    assert len(texts(record(**ADD), scalar)) == 1
    assert len(texts(scalar, record(**ADD))) == 2


def test_stubs_parse_and_the_page_names_the_record(tmp_path: Path) -> None:
    paths = stubs.emit(tmp_path, [record(**ADD)], "aten", {"aten": {"save": "flambeau.serialization:save"}})
    for path in paths:
        if path.suffix == ".pyi":
            ast.parse(path.read_text())
    assert "schemas/ops/x.yaml:3" in (tmp_path / "operators_reference.md").read_text()
    assert "__all__ = ['add', 'add_']" in (tmp_path / "stubs/aten_functions.pyi").read_text()


def test_names_of_the_index_win_over_operators(tmp_path: Path) -> None:
    index = {"add": "flambeau.aten.functions:plus", "nn": "flambeau.nn", "strided": "flambeau._C:strided"}
    stubs.emit(tmp_path, [record(**ADD)], "aten", {"other": index})
    assert "def add" not in (tmp_path / "stubs/aten_functions.pyi").read_text()
    assert "def add" in (tmp_path / "stubs/aten_methods.pyi").read_text()
    assert stubs.print_index(index).splitlines()[1:] == [
        "from flambeau.aten.functions import plus as add",
        "import flambeau.nn as nn",
        "",
        "__all__ = ['add', 'nn']",
    ]


def test_the_tables_and_indexes_of_the_repository_give_stubs_that_parse(tmp_path: Path) -> None:
    schemas = Path(__file__).resolve().parents[3] / "schemas"
    if not schemas.is_dir():
        pytest.skip("not in a checkout")
    records, known = load_records(schemas), indexes(schemas)
    assert set(known) == {"aten", "autograd", "core", "nn", "serialization"}
    for package in ("core", "aten"):
        for path in stubs.emit(tmp_path, records, package, known):
            if path.suffix == ".pyi":
                ast.parse(path.read_text(), str(path))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({**ADD, "colour": "red"}, "schemas/ops/x.yaml:3: unknown field 'colour'"),
        ({**ADD, "kernel": "k"}, "schemas/ops/x.yaml:3: exactly one of"),
        (
            {**ADD, "numbers": "alpha"},
            "schemas/ops/x.yaml:3: numbers has 'alpha'; allowed: all, or names of self, other",
        ),
        (
            {**ADD, "out": "tidy"},
            "schemas/ops/x.yaml:3: out has 'tidy'; allowed: true, false, or words of exact, disjoint",
        ),
        ({**ADD, "class": "odd"}, "schemas/ops/x.yaml:3: class is 'odd'; allowed: core, composite, fused"),
        ({"func": "add(Tenser self) -> Tensor", "kernel": "k"}, "schemas/ops/x.yaml:3: unknown type 'Tenser'"),
    ],
)
def test_ill_formed_record_names_file_line_and_what_is_allowed(row: dict, message: str) -> None:
    with pytest.raises(RecordError) as error:
        record(**row)
    assert message in str(error.value)
