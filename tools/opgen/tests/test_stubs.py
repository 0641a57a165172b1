"""Stubs and the reference page follow from records."""

import ast
from pathlib import Path

import pytest
from opgen import stubs
from opgen.errors import RecordError
from opgen.records import read_record

ADD = {
    "func": "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    "pointwise": "add",
    "numbers": "all",
    "doc": "self + alpha * other.",
}


def record(**row: object) -> object:
    return read_record({"__line__": 3, **row}, "schemas/ops/x.yaml", "aten")


def test_signature_of_add() -> None:
    text = stubs.signature(record(**ADD))
    assert (
        text
        == "(input: Tensor | Number, other: Tensor | Number, *, alpha: Number = ..., out: Tensor | None = ...) -> Tensor"
    )


def test_numbers_only_where_the_record_says_so() -> None:
    text = stubs.signature(record(**{**ADD, "numbers": "other"}))
    assert text.startswith("(input: Tensor, other: Tensor | Number,")


def test_stub_parses_and_page_names_the_record(tmp_path: Path) -> None:
    stubs.emit(tmp_path, [record(**ADD)])
    ast.parse((tmp_path / "operators.pyi").read_text())
    assert "schemas/ops/x.yaml:3" in (tmp_path / "operators_reference.md").read_text()


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
