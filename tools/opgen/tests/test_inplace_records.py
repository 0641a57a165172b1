"""Records with an inplace_kernel: one C++ function serves `<name>_`, and `<name>` on a copy."""

import pytest
from opgen.errors import RecordError
from opgen.records import read_record
from opgen.register import print_registration

ROW = {"func": "put(Tensor self, Tensor index) -> Tensor", "inplace_kernel": "put_op_"}


def test_both_forms_come_from_one_kernel():
    text = print_registration([read_record(dict(ROW), "x.yaml", "aten")], "aten")
    assert "const Tensor& put_op_(const Tensor& self, const Tensor& index);" in text
    assert "run_on_copy<" in text and ", false>" in text
    assert "install_inplace<" in text and '("put");' in text


def test_row_major_copies_are_asked_for_by_a_tag():
    text = print_registration([read_record({**ROW, "tags": ["row_major"]}, "x.yaml", "aten")], "aten")
    assert ", true>" in text


def test_one_body_only():
    with pytest.raises(RecordError, match="exactly one of"):
        read_record({**ROW, "kernel": "put_cpu"}, "x.yaml", "aten")
