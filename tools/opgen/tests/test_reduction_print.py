"""What reductions print as, and how wrong ones fail."""

from pathlib import Path

import pytest
from expecttest import TestCase
from opgen.scalar import BodyError, RecordError, emit
from opgen.scalar.body import load_scalars
from opgen.scalar.print_reduce import print_finish, print_init, print_merge, print_rows
from opgen.scalar.reduction import TracedReduction, trace_reduction
from opgen.scalar.types import BY_NAME

PREAMBLE = """\
from opgen.scalar.lang import cast, where
from opgen.scalar.reduction import reduction
"""

MEAN = """
@reduction(dtypes="floating")
class mean:
    def identity(t):
        return 0

    def combine(a, b):
        return a + b

    def finish(a, count):
        return a / cast(count, a.type)
"""

ARGMAX = """
@reduction(dtypes="integral", accumulators=("compute", "int64"), results=("int64",))
class argmax:
    def identity(t):
        return t.min, (1 << 63) - 1

    def load(x, index):
        return x, index

    def combine(a, b):
        take = (b[0] > a[0]) | ((b[0] == a[0]) & (b[1] < a[1]))
        return where(take, b[0], a[0]), where(take, b[1], a[1])

    def finish(a, count):
        return a[1]
"""


def write_schema(folder: Path, text: str) -> Path:
    (folder / "scalar").mkdir(parents=True)
    (folder / "scalar" / "case.py").write_text(PREAMBLE + text, encoding="utf-8")
    return folder


def traced(folder: Path, text: str, dtype: str) -> TracedReduction:
    (record,) = load_scalars(write_schema(folder, text))
    return trace_reduction(record, BY_NAME[dtype])


class TestPrinted(TestCase):
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    def test_rows_are_taken_four_at_a_time_in_order(self) -> None:
        text = print_rows(traced(self.folder, MEAN, "float32"))
        body = text[text.index("{", text.index("j < width")) : text.index("}")]
        self.assertExpectedInline(
            body,
            """\
{
      const float a0_ = a0[j];
      const float x0_ = x0[j];
      const float s0_0 = a0_ + x0_;
      const float x1_ = x1[j];
      const float s1_0 = s0_0 + x1_;
      const float x2_ = x2[j];
      const float s2_0 = s1_0 + x2_;
      const float x3_ = x3[j];
      a0[j] = s2_0 + x3_;
    """,
        )

    def test_finish_sees_the_count(self) -> None:
        self.assertExpectedInline(
            print_finish(traced(self.folder, MEAN, "float64")),
            """\
(char* const* out, char* const* acc, int64_t n, int64_t count, const Param*) {
  auto* a0 = reinterpret_cast<const double*>(acc[0]);
  auto* out0 = reinterpret_cast<double*>(out[0]);
#pragma GCC ivdep
  for (int64_t j = 0; j < n; ++j) {
    const double a0_ = a0[j];
    out0[j] = a0_ / static_cast<double>(count);
  }
}""",
        )

    def test_index_is_a_second_accumulator(self) -> None:
        t = traced(self.folder, ARGMAX, "int32")
        self.assertExpectedInline(
            "\n".join(line.strip() for line in print_init(t).splitlines() if "[j]" in line),
            """\
a0[j] = -2147483648;
a1[j] = 9223372036854775807LL;""",
        )
        assert "row_index + j * rows.col_step" in print_rows(t)
        assert "b1[j]" in print_merge(t)


def test_combine_of_another_type_fails_with_file_and_line(tmp_path: Path) -> None:
    text = MEAN.replace("return a + b", "return a > b")
    with pytest.raises(BodyError, match=r"case.py:\d+: \[mean, float32\] combine gives \(bool\); .*float32"):
        traced(tmp_path, text, "float32")


def test_a_derived_reduction_replaces_only_what_it_gives(tmp_path: Path) -> None:
    derived = """
@reduction(dtypes="floating")
class sum_of_squares(mean):
    def load(x):
        return x * x

    def finish(a, count):
        return a
"""
    mean, squares = load_scalars(write_schema(tmp_path, MEAN + derived))
    assert squares.functions["combine"] is mean.functions["combine"]
    assert squares.functions["finish"] is not mean.functions["finish"]
    assert mean.line < squares.line == (PREAMBLE + MEAN).count("\n") + 3


def test_missing_identity_fails_with_file_and_line(tmp_path: Path) -> None:
    text = '@reduction(dtypes="all")\nclass sum:\n    def combine(a, b):\n        return a + b\n'
    with pytest.raises(RecordError, match=r"case.py:4: \[sum\] lacks identity"):
        load_scalars(write_schema(tmp_path, text))


def test_unknown_argument_fails_and_names_the_known_ones(tmp_path: Path) -> None:
    text = MEAN.replace("def finish(a, count)", "def finish(a, count, p)")
    with pytest.raises(BodyError, match=r"finish takes p; params are none"):
        traced(tmp_path, text, "float32")


def test_this_repository_generates(tmp_path: Path) -> None:
    schemas = Path(__file__).parents[3] / "schemas"
    if not (schemas / "scalar").is_dir():
        pytest.skip("schemas/ is not beside this package")
    names = [p.name for p in emit(tmp_path / "a", schemas)]
    assert names == [p.name for p in emit(tmp_path / "b", schemas)]
    assert all((tmp_path / "a" / n).read_bytes() == (tmp_path / "b" / n).read_bytes() for n in names)
    assert {"pointwise_units.h", "reduce_units.h"} <= set(names)
