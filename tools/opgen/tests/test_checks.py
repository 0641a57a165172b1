"""Checks of records: what is understood, what is refused with a reason, and the C++ that follows."""

import pytest
from expecttest import assert_expected_inline
from opgen.checks import CheckError, print_checks, read_check
from opgen.schema import parse_schema

SCHEMA = parse_schema(
    "norm_backward(Tensor grad, Tensor input, int[] shape, Tensor? weight, int dim, float p, bool train, bool[3] mask, Tensor[] rest) -> Tensor"
)


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("sizes(grad) == sizes(input)", "(grad.sizes() == input.sizes())"),
        ("2 <= rank(input) <= 3", "(int64_t{2} <= input.dim() && input.dim() <= int64_t{3})"),
        ("weight is None or size(weight, 0) == shape[-1]",
         "((!weight.defined()) || (weight.size(int64_t{0}) == item_of(shape, -int64_t{1})))"),
        ("dtype(input) in (float32, float64)", "((input.dtype() == DType::Float32 || input.dtype() == DType::Float64))"),
        ("sizes(input)[1:] == shape", "(part_of(input.sizes(), int64_t{1}, INT64_MAX) == shape)"),
        ("not train or len(rest) > 0", "(!train || (length_of(rest) > int64_t{0}))"),
        ("0.0 <= p", "(0.0 <= p)"),
    ],
)  # fmt: skip
def test_conditions(text: str, condition: str) -> None:
    assert read_check(text, SCHEMA).condition == condition


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("rank(inputs) == 2", "neither an argument"),
        ("sizes(input) == 2", "of kind int; it is compared with a sizes"),
        ("rank(shape) == 2", "takes (Tensor), not (sizes)"),
        ("rank(input)", "is no condition"),
        ("dim is None", "never None"),
        ("KeyError: dim > 0", "allowed: RuntimeError"),
        ("min(dim, 2) == 1", "not understood"),
        ("dim ==", "no expression"),
    ],
)
def test_what_is_refused(text: str, reason: str) -> None:
    with pytest.raises(CheckError) as error:
        read_check(text, SCHEMA)
    assert reason in str(error.value)


def test_the_function_reads_what_it_needs_and_shows_what_it_read() -> None:
    checks = (read_check("IndexError: -rank(input) <= dim < rank(input)", SCHEMA),)
    assert_expected_inline(
        "\n".join(print_checks("check_it", checks, SCHEMA, "norm.yaml:7")),
        """\
void check_it(const Operator& op, const Value* args) {  // norm.yaml:7
  const Tensor& input = Arg<const Tensor&>::get(args[1]);
  const int64_t dim = Arg<int64_t>::get(args[4]);
  if (FL_UNLIKELY(!(-input.dim() <= dim && dim < input.dim())))
    throw_check(op, ErrorKind::Index, "-rank(input) <= dim < rank(input)", concat("sizes(input) is ", shown_sizes(input), ", ", "dim is ", dim));
}""",
    )
