"""The text of tensors, compared with what torch prints for the same values."""

import math

import expecttest
import flambeau
import pytest
from flambeau import _tensor_str

INF, NAN = math.inf, math.nan


def text(tensor):
    """`repr`, with the module named as torch names it, whichever name dtypes and layouts carry here."""
    return _tensor_str._str(tensor).replace("flambeau.", "torch.")


def texts(*tensors):
    return "\n".join(map(text, tensors))


def grid(*shape):
    """Nested lists of zeros with the given shape."""
    return 0 if not shape else [grid(*shape[1:]) for _ in range(shape[0])]


@pytest.fixture(autouse=True)
def default_options():
    flambeau.set_printoptions(profile="default")
    yield
    flambeau.set_printoptions(profile="default")


class TestNumbers(expecttest.TestCase):
    def test_one_dimension_of_floats_chooses_one_form_for_all(self):
        t = flambeau.tensor
        self.assertExpectedInline(
            texts(t([1.0, 2.0]), t([1.5, 2.0]), t([1e5, 1.0]), t([1e-5, 1.0]), t([1000.0, 1.0]), t([1001.0, 1.0])),
            """\
tensor([1., 2.])
tensor([1.5000, 2.0000])
tensor([1.0000e+05, 1.0000e+00])
tensor([1.0000e-05, 1.0000e+00])
tensor([1000.,    1.])
tensor([1.0010e+03, 1.0000e+00])""",
        )

    def test_zero_dimensions(self):
        t = flambeau.tensor
        self.assertExpectedInline(
            texts(*map(t, [3.0, 0.1234567, 1e-4, 9.99e-5, 1e8, 1.1e8, 1e10, NAN, -INF, -0.0, 5, True, 1j])),
            """\
tensor(3.)
tensor(0.1235)
tensor(1.0000e-04)
tensor(9.9900e-05)
tensor(100000000.)
tensor(1.1000e+08)
tensor(1.0000e+10)
tensor(nan)
tensor(-inf)
tensor(-0.)
tensor(5)
tensor(True)
tensor(0.+1.j)""",
        )

    def test_nan_and_infinity_take_the_width_of_the_column_but_do_not_set_it(self):
        t = flambeau.tensor
        self.assertExpectedInline(
            texts(t([1.5, NAN]), t([1.0, INF, -INF]), t([0.0, NAN]), t([NAN]), t([-100.25, INF])),
            """\
tensor([1.5000,    nan])
tensor([1., inf, -inf])
tensor([0., nan])
tensor([nan])
tensor([-100.2500,       inf])""",
        )

    def test_integers_and_booleans(self):
        t = flambeau.tensor
        self.assertExpectedInline(
            texts(
                t([1, -20, 300]),
                t([True, False]),
                t([1, 2], dtype=flambeau.uint8),
                t([-128, 127], dtype=flambeau.int8),
                t([2**63 - 1, -(2**63)]),
            ),
            """\
tensor([  1, -20, 300])
tensor([ True, False])
tensor([1, 2], dtype=torch.uint8)
tensor([-128,  127], dtype=torch.int8)
tensor([ 9223372036854775807, -9223372036854775808])""",
        )

    def test_complex_parts_have_forms_of_their_own(self):
        t = flambeau.tensor
        self.assertExpectedInline(
            texts(
                t([1 + 2j, 3 - 4j]),
                t([1.5 + 2j, complex(NAN, -4)]),
                t([complex(NAN, NAN), complex(1, -INF), complex(1, -0.0)]),
                t([complex(1e10, 1e-10), 1 + 2j]),
                t([1 + 2j], dtype=flambeau.complex128),
                t([1 + 2j] * 12),
            ),
            """\
tensor([1.+2.j, 3.-4.j])
tensor([1.5000+2.j,    nan-4.j])
tensor([nan+nanj, 1.-infj, 1.-0.j])
tensor([1.0000e+10+1.0000e-10j, 1.0000e+00+2.0000e+00j])
tensor([1.+2.j], dtype=torch.complex128)
tensor([1.+2.j, 1.+2.j, 1.+2.j, 1.+2.j, 1.+2.j, 1.+2.j, 1.+2.j, 1.+2.j, 1.+2.j, 1.+2.j,
        1.+2.j, 1.+2.j])""",
        )

    def test_half_kinds_and_float64_are_named(self):
        t = flambeau.tensor
        self.assertExpectedInline(
            texts(
                t([0.1], dtype=flambeau.float16),
                t([0.1], dtype=flambeau.bfloat16),
                t([0.1], dtype=flambeau.float64),
                t(0.1, dtype=flambeau.float64),
            ),
            """\
tensor([0.1000], dtype=torch.float16)
tensor([0.1001], dtype=torch.bfloat16)
tensor([0.1000], dtype=torch.float64)
tensor(0.1000, dtype=torch.float64)""",
        )


class TestShapes(expecttest.TestCase):
    def test_rows_are_aligned_under_the_prefix(self):
        self.assertExpectedInline(
            texts(flambeau.tensor([[1.0, -2.0], [3.5, 4.0]]), flambeau.tensor([[[1], [20]], [[3], [4]]])),
            """\
tensor([[ 1.0000, -2.0000],
        [ 3.5000,  4.0000]])
tensor([[[ 1],
         [20]],

        [[ 3],
         [ 4]]])""",
        )

    def test_empty_tensors_show_their_size(self):
        t = flambeau.tensor
        self.assertExpectedInline(
            texts(t([]), t([[]]), t([], dtype=flambeau.int64), t([[], []], dtype=flambeau.float64)),
            """\
tensor([])
tensor([], size=(1, 0))
tensor([], dtype=torch.int64)
tensor([], size=(2, 0), dtype=torch.float64)""",
        )

    def test_long_rows_are_broken_and_large_tensors_summarised(self):
        self.assertExpectedInline(
            texts(
                flambeau.tensor([1.0] * 30),
                flambeau.tensor(list(range(2000))),
                flambeau.tensor([[float(i + 1000 * j) for i in range(1000)] for j in range(2)]),
            ),
            """\
tensor([1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1.,
        1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1.])
tensor([   0,    1,    2,  ..., 1997, 1998, 1999])
tensor([[0.0000e+00, 1.0000e+00, 2.0000e+00,  ..., 9.9700e+02, 9.9800e+02,
         9.9900e+02],
        [1.0000e+03, 1.0010e+03, 1.0020e+03,  ..., 1.9970e+03, 1.9980e+03,
         1.9990e+03]])""",
        )

    def test_a_summary_leaves_out_the_middle_of_every_dimension(self):
        self.assertExpectedInline(
            texts(flambeau.tensor(grid(11, 10, 10))),
            """\
tensor([[[0, 0, 0,  ..., 0, 0, 0],
         [0, 0, 0,  ..., 0, 0, 0],
         [0, 0, 0,  ..., 0, 0, 0],
         ...,
         [0, 0, 0,  ..., 0, 0, 0],
         [0, 0, 0,  ..., 0, 0, 0],
         [0, 0, 0,  ..., 0, 0, 0]],

        [[0, 0, 0,  ..., 0, 0, 0],
         [0, 0, 0,  ..., 0, 0, 0],
         [0, 0, 0,  ..., 0, 0, 0],
         ...,
         [0, 0, 0,  ..., 0, 0, 0],
         [0, 0, 0,  ..., 0, 0, 0],
         [0, 0, 0,  ..., 0, 0, 0]],

        [[0, 0, 0,  ..., 0, 0, 0],
         [0, 0, 0,  ..., 0, 0, 0],
         [0, 0, 0,  ..., 0, 0, 0],
         ...,
         [0, 0, 0,  ..., 0, 0, 0],
         [0, 0, 0,  ..., 0, 0, 0],
         [0, 0, 0,  ..., 0, 0, 0]],

        ...,

        [[0, 0, 0,  ..., 0, 0, 0],
         [0, 0, 0,  ..., 0, 0, 0],
         [0, 0, 0,  ..., 0, 0, 0],
         ...,
         [0, 0, 0,  ..., 0, 0, 0],
         [0, 0, 0,  ..., 0, 0, 0],
         [0, 0, 0,  ..., 0, 0, 0]],

        [[0, 0, 0,  ..., 0, 0, 0],
         [0, 0, 0,  ..., 0, 0, 0],
         [0, 0, 0,  ..., 0, 0, 0],
         ...,
         [0, 0, 0,  ..., 0, 0, 0],
         [0, 0, 0,  ..., 0, 0, 0],
         [0, 0, 0,  ..., 0, 0, 0]],

        [[0, 0, 0,  ..., 0, 0, 0],
         [0, 0, 0,  ..., 0, 0, 0],
         [0, 0, 0,  ..., 0, 0, 0],
         ...,
         [0, 0, 0,  ..., 0, 0, 0],
         [0, 0, 0,  ..., 0, 0, 0],
         [0, 0, 0,  ..., 0, 0, 0]]])""",
        )

    def test_a_view_prints_its_own_elements(self):
        t = flambeau.tensor([[0, 1, 2, 3], [4, 5, 6, 7]])
        self.assertExpectedInline(
            texts(t[1], t[:, ::2], t[1, 3]),
            """\
tensor([4, 5, 6, 7])
tensor([[0, 2],
        [4, 6]])
tensor(7)""",
        )


class TestOptions(expecttest.TestCase):
    def test_precision_sci_mode_and_linewidth(self):
        t = flambeau.tensor([[1.0 / 3, 2e-5, 123.456]] * 2)
        out = []
        for options in ({"precision": 2}, {"sci_mode": True}, {"sci_mode": False}, {"linewidth": 20}, {"precision": 0}):
            with _tensor_str.printoptions(**options):
                out.append(text(t))
        self.assertExpectedInline(
            "\n".join(out),
            """\
tensor([[3.33e-01, 2.00e-05, 1.23e+02],
        [3.33e-01, 2.00e-05, 1.23e+02]])
tensor([[3.3333e-01, 2.0000e-05, 1.2346e+02],
        [3.3333e-01, 2.0000e-05, 1.2346e+02]])
tensor([[  0.3333,   0.0000, 123.4560],
        [  0.3333,   0.0000, 123.4560]])
tensor([[3.3333e-01,
         2.0000e-05,
         1.2346e+02],
        [3.3333e-01,
         2.0000e-05,
         1.2346e+02]])
tensor([[3e-01, 2e-05, 1e+02],
        [3e-01, 2e-05, 1e+02]])""",
        )

    def test_threshold_and_edgeitems(self):
        t = flambeau.tensor(list(range(12)))
        out = []
        for options in ({"threshold": 11}, {"threshold": 11, "edgeitems": 1}, {"threshold": 12}, {"profile": "short"}):
            with _tensor_str.printoptions(**options):
                out.append(text(t))
        with _tensor_str.printoptions(threshold=0, edgeitems=0):
            out.append(text(t))
        self.assertExpectedInline(
            "\n".join(out),
            """\
tensor([ 0,  1,  2,  ...,  9, 10, 11])
tensor([ 0,  ..., 11])
tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11])
tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11])
tensor([...], size=(12,))""",
        )

    def test_suffixes_go_to_a_new_line_where_they_do_not_fit(self):
        t = flambeau.tensor([1, 1, 1], dtype=flambeau.int32)
        out = []
        for linewidth in (30, 33, 34, 35, 36):
            with _tensor_str.printoptions(linewidth=linewidth):
                out.append(text(t))
        self.assertExpectedInline(
            "\n".join(out),
            """\
tensor([1, 1, 1],
       dtype=torch.int32)
tensor([1, 1, 1],
       dtype=torch.int32)
tensor([1, 1, 1],
       dtype=torch.int32)
tensor([1, 1, 1],
       dtype=torch.int32)
tensor([1, 1, 1],
       dtype=torch.int32)""",
        )


def test_set_printoptions_keeps_what_is_not_given_except_sci_mode():
    flambeau.set_printoptions(precision=7, sci_mode=True)
    flambeau.set_printoptions(edgeitems=2)
    assert _tensor_str.get_printoptions() == {
        "precision": 7,
        "threshold": 1000,
        "edgeitems": 2,
        "linewidth": 80,
        "sci_mode": None,
    }


def test_profiles():
    flambeau.set_printoptions(profile="full")
    assert _tensor_str.get_printoptions()["threshold"] == INF
    flambeau.set_printoptions(profile="short", precision=3)
    assert _tensor_str.get_printoptions()["precision"] == 3
    with pytest.raises(ValueError, match=r"'loud'.*'default', 'short', 'full'"):
        flambeau.set_printoptions(profile="loud")


def test_printoptions_are_restored_after_an_error():
    before = _tensor_str.get_printoptions()
    with pytest.raises(KeyError), _tensor_str.printoptions(precision=1, sci_mode=True):
        assert _tensor_str.get_printoptions()["precision"] == 1
        raise KeyError
    assert _tensor_str.get_printoptions() == before


def test_repr_and_str_are_this_text():
    t = flambeau.tensor([[1.5, 2.0]])
    assert repr(t).replace("flambeau.", "torch.") == str(t).replace("flambeau.", "torch.") == text(t)


class Stand:
    """What printing reads of a tensor, for tensors that this package alone cannot make."""

    layout, requires_grad, grad_fn = flambeau.strided, False, None
    dtype = flambeau.float32

    def __init__(self, values=(1.0, 2.0), device="cpu", **attributes):
        self._values, self.shape = list(values), (len(values),)
        self.device = flambeau.device(device)
        self.__dict__.update(attributes)

    def numel(self):
        return len(self._values)

    def dim(self):
        return len(self.shape)

    def tolist(self):
        return self._values

    def detach(self):
        return self


class Node:
    def __init__(self, name):
        self._name = name

    def name(self):
        return self._name


def stand_text(**attributes):
    return _tensor_str._text(Stand(**attributes), None).replace("flambeau.", "torch.").removeprefix("Stand")


def test_history_is_named_by_its_node():
    assert stand_text(requires_grad=True) == "([1., 2.], requires_grad=True)"
    assert stand_text(requires_grad=True, grad_fn=Node("MulBackward0")) == "([1., 2.], grad_fn=<MulBackward0>)"
    assert stand_text(requires_grad=True, grad_fn=Node("a::b::Fn")) == "([1., 2.], grad_fn=<Fn>)"


def test_meta_tensors_show_sizes_instead_of_elements():
    assert stand_text(device="meta") == "(..., device='meta', size=(2,))"
    assert stand_text(device="meta", dtype=flambeau.int64) == "(..., device='meta', size=(2,), dtype=torch.int64)"


def test_given_contents_replace_the_elements():
    assert _tensor_str._text(Stand(), "hello") == "Stand(hello)"
