"""What is refused when the tables are read: every message names file and line and says what is allowed."""

from pathlib import Path

import pytest
from opgen.errors import RecordError
from opgen.tables import load_tables

BODY = """\
from opgen.scalar import scalar
@scalar(dtypes="real", params=("alpha",))
def plus(x, y, alpha):
    return x + alpha * y
"""
PLUS = '{func: "plus(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", pointwise: plus, doc: Sum.}'
RUN = '{func: "run(Tensor self) -> Tensor", kernel: run_cpu, doc: Runs.'


def tables(folder: Path, *rows: str, derivatives: str = "derivatives: {}\n", body: str = BODY) -> Path:
    """A folder of tables with these rows, from line 2 on."""
    schemas = folder / "schemas"
    for name in ("ops", "scalar", "derivatives"):
        (schemas / name).mkdir(parents=True)
    (schemas / "ops/x.yaml").write_text("operators:\n" + "".join(f"  - {r}\n" for r in rows))
    (schemas / "scalar/x.py").write_text(body)
    (schemas / "derivatives/x.yaml").write_text(derivatives)
    return schemas


def test_well_formed_tables(tmp_path):
    read = load_tables(tables(tmp_path, PLUS, RUN + "}"))
    assert [r.schema.name for r in read.records] == ["plus", "run"]
    assert read.records[0].dtypes == "bool, integral, floating"
    assert read.records[1].dtypes == ""


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([PLUS.replace("pointwise: plus", "pointwise: minus")], r"schemas/ops/x.yaml:2: .*no body 'minus'"),
        ([PLUS.replace(", *, Scalar alpha=1", "")], r"x.yaml:2: plus has 2 tensors, 0 numbers, 1 results; its body .* 1 numbers"),
        ([RUN + "}"], r"x.py:2: \[plus\] no record in schemas/ops names it"),
        ([PLUS, RUN + ", reduction: sum}"], r"x.yaml:3: schemas/scalar has no reduction 'sum'"),
        ([PLUS, RUN + ", tags: [quick]}"], r"x.yaml:3: tags has 'quick'; allowed: row_major"),
        ([PLUS, RUN + ", dtypes: all}"], r"x.yaml:3: unknown field 'dtypes'"),
        ([PLUS, RUN + ', python: "m:f"}'], r"x.yaml:3: exactly one of"),
        ([PLUS, RUN + ", python: 'm:f', class: composite}"], r"x.yaml:3: exactly one of"),
        ([PLUS, '{func: "go(Tensor self) -> Tensor", alias_of: run}'], r"x.yaml:3: alias_of names no operator: run"),
        ([PLUS, "{class: core}"], r"x.yaml:3: a record needs 'func'"),
        ([PLUS, PLUS], r"x.yaml:3: plus is defined in schemas/ops/x.yaml:2 already"),
        ([PLUS, '{func: "go() -> Tensor", kernel: go}'], r"x.yaml:3: go is public and needs 'doc'"),
        (["plus"], r"x.yaml:1: 'operators' is a list of mappings"),
    ],
)  # fmt: skip
def test_ill_formed_rows(tmp_path, rows, message):
    with pytest.raises(RecordError, match=message):
        load_tables(tables(tmp_path, *rows))


def test_table_without_its_key(tmp_path):
    schemas = tables(tmp_path, PLUS)
    (schemas / "ops/y.yaml").write_text("rows: []\n")
    with pytest.raises(RecordError, match=r"schemas/ops/y.yaml:1: .*'operators'"):
        load_tables(schemas)


def test_yaml_that_does_not_parse(tmp_path):
    schemas = tables(tmp_path, PLUS)
    (schemas / "ops/y.yaml").write_text("operators:\n  - {func: [\n")
    with pytest.raises(RecordError, match=r"schemas/ops/y.yaml:3: "):
        load_tables(schemas)


def test_derivative_options_are_not_formulas(tmp_path):
    with pytest.raises(RecordError, match=r"derivatives/x.yaml:3: plus has no tensor argument 'forward'"):
        load_tables(tables(tmp_path, PLUS, derivatives="derivatives:\n  plus:\n    forward: auto\n"))


def test_decompositions_exist(tmp_path):
    fused = RUN + ", class: fused, python: 'flambeau.aten.x:run'}"
    schemas = tables(tmp_path, PLUS, fused)
    assert load_tables(schemas).records[1].python == "flambeau.aten.x:run"  # no sources beside the tables
    source = tmp_path / "packages/p/src/flambeau/aten"
    source.mkdir(parents=True)
    with pytest.raises(RecordError, match=r"x.yaml:3: python is .* no package has a module flambeau.aten.x"):
        load_tables(schemas)
    (source / "x.py").write_text("def walk(): ...\n")
    with pytest.raises(RecordError, match=r"x.yaml:3: .* flambeau.aten.x defines no 'run'"):
        load_tables(schemas)


def test_alias_is_described_as_its_target(tmp_path):
    rows = (PLUS, RUN + "}", '{func: "go(Tensor self) -> Tensor", alias_of: run}')
    assert load_tables(tables(tmp_path, *rows)).records[2].doc == "Another name of run. Runs."


def test_overloads_share_their_sentence(tmp_path):
    rows = ('{func: "run.fast(Tensor self) -> Tensor", kernel: fast}', PLUS, RUN + "}")
    assert load_tables(tables(tmp_path, *rows)).records[0].doc == "Runs."


def test_bodies_that_do_not_type_check_are_record_errors(tmp_path):
    from opgen.__main__ import main

    body = BODY.replace("x + alpha * y", "x if x > 0 else y")
    schemas = tables(tmp_path, PLUS, body=body)
    assert main(["--schemas", str(schemas), "--out", str(tmp_path / "out"), "--package", "aten"]) == 1
