"""What scalar bodies print as, and how wrong ones fail."""

from pathlib import Path

import pytest
from expecttest import TestCase
from opgen.scalar import BodyError, RecordError, emit, load_bodies
from opgen.scalar.print_block import block_body
from opgen.scalar.trace import trace
from opgen.scalar.types import BY_NAME

PREAMBLE = """\
from opgen.scalar import functions as fn, scalar
from opgen.scalar.lang import cast, error_if, idiv, where
"""


def write_schema(folder: Path, text: str) -> Path:
    (folder / "scalar").mkdir(parents=True)
    (folder / "scalar" / "case.py").write_text(PREAMBLE + text, encoding="utf-8")
    return folder


def printed(folder: Path, text: str, dtype: str) -> str:
    (body,) = load_bodies(write_schema(folder, text))
    return block_body(trace(body, BY_NAME[dtype]))


class TestPrinted(TestCase):
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    def test_parameter_is_converted_once_outside_the_loop(self) -> None:
        text = '@scalar(dtypes="numeric", params=("alpha",))\ndef add(x, y, alpha):\n    return x + alpha * y\n'
        self.assertExpectedInline(
            printed(self.folder, text, "float32"),
            """\
{
  auto* out0 = reinterpret_cast<float*>(ptrs[0]);
  auto* in0 = reinterpret_cast<const float*>(ptrs[1]);
  auto* in1 = reinterpret_cast<const float*>(ptrs[2]);
  const float alpha_ = static_cast<float>(params[0].d);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const float x_ = in0[i];
    const float y_ = in1[i];
    out0[i] = x_ + (alpha_ * y_);
  }
  return 0;
}""",
        )

    def test_signed_integers_wrap(self) -> None:
        text = '@scalar(dtypes="integral")\ndef square(x):\n    return x * x\n'
        self.assertExpectedInline(
            printed(self.folder, text, "int32").splitlines()[6],
            """    out0[i] = static_cast<int32_t>(uint32_t(x_) * uint32_t(x_));""",
        )

    def test_shared_subexpression_is_computed_once(self) -> None:
        text = '@scalar(dtypes="floating")\ndef f(x):\n    return fn.exp(x) / (1 + fn.exp(x))\n'
        self.assertExpectedInline(
            "\n".join(printed(self.folder, text, "float64").splitlines()[4:8]),
            """\
  for (int64_t i = 0; i < n; ++i) {
    const double x_ = in0[i];
    const double t0 = vm::exp(x_);
    out0[i] = t0 / (1.0 + t0);""",
        )

    def test_declared_error_sets_a_flag(self) -> None:
        text = (
            '@scalar(dtypes="integral")\ndef quotient(x, y):\n'
            '    error_if(y == 0, "RuntimeError", "ZeroDivisionError")\n    return idiv(x, y)\n'
        )
        self.assertExpectedInline(
            "\n".join(printed(self.folder, text, "int64").splitlines()[4:]),
            """\
  uint32_t flags = 0;
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const int64_t x_ = in0[i];
    const int64_t y_ = in1[i];
    flags |= y_ == 0LL;
    out0[i] = vm::trunc_div(x_, y_);
  }
  return flags;
}""",
        )


BAD = {
    "if on a value": ("def f(x):\n    return x if x > 0 else -x\n", "floating", "case.py:5: .*where\\(condition"),
    "mixed types": ("def f(x):\n    return x + (x > 0)\n", "floating", "case.py:5: .*float32 and bool"),
    "float literal with integers": ("def f(x):\n    return x * 0.5\n", "integral", "case.py:5: .*uint8.*0.5"),
    "order of complex": ("def f(x):\n    return where(x > x, x, x)\n", "complex", "case.py:5: .*no order"),
    "wrong result": ("def f(x):\n    return x > 0\n", "floating", "case.py:3: .*result 0 is bool.*float32"),
    "true division of integers": ("def f(x):\n    return x / x\n", "integral", "case.py:5: .*idiv"),
}


@pytest.mark.parametrize("case", BAD)
def test_ill_typed_body_fails_with_file_and_line(tmp_path: Path, case: str) -> None:
    function, dtypes, message = BAD[case]
    (body,) = load_bodies(write_schema(tmp_path, f'@scalar(dtypes="{dtypes}")\n{function}'))
    with pytest.raises(BodyError, match=message):
        trace(body, body.dtypes[0])


BAD_RECORDS = {
    "unknown dtypes": ('@scalar(dtypes="floats")\ndef f(x):\n    return x\n', 'case.py:3: .*"floats".*floating'),
    "unknown promotion": (
        '@scalar(dtypes="all", promote="up")\ndef f(x):\n    return x\n',
        'case.py:3: .*"up".*default',
    ),
    "parameters out of place": ('@scalar(dtypes="all", params=("a",))\ndef f(a, x):\n    return x\n', "last arguments"),
    "declared twice": ('@scalar(dtypes="all")\ndef f(x):\n    return x\n' * 2, "case.py:6: .*declared twice"),
}


@pytest.mark.parametrize("case", BAD_RECORDS)
def test_ill_formed_record_fails_with_file_and_line(tmp_path: Path, case: str) -> None:
    text, message = BAD_RECORDS[case]
    with pytest.raises(RecordError, match=message):
        load_bodies(write_schema(tmp_path, text))


def test_emit_is_deterministic_and_owns_its_files(tmp_path: Path) -> None:
    text = '@scalar(dtypes="all")\ndef f(x):\n    return x\n@scalar(dtypes="floating")\ndef g(x):\n    return -x\n'
    schemas = write_schema(tmp_path / "schemas", text)
    stale = tmp_path / "out" / "pointwise_hot_9.cpp"
    stale.parent.mkdir()
    stale.write_text("left over")
    first = {p.name: p.read_bytes() for p in emit(tmp_path / "out", schemas)}
    second = {p.name: p.read_bytes() for p in emit(tmp_path / "again", schemas)}
    assert first == second
    assert not stale.exists()


def test_half_kinds_share_the_float32_block(tmp_path: Path) -> None:
    schemas = write_schema(tmp_path, '@scalar(dtypes="floating")\ndef g(x):\n    return -x\n')
    (unit, *_) = (p for p in emit(tmp_path / "out", schemas) if "hot" in p.name)
    text = unit.read_text()
    assert "g_f32, 1, 1, {{2, Form::kFloat16}" in text
    assert "uint32_t g_f16" not in text
