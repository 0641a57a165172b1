"""Limits of the dtypes, against the definitions of the formats and torch's texts."""

import pickle
import sys

import flambeau
import pytest


def test_float64_and_float32_limits():
    info = flambeau.finfo(flambeau.float64)
    assert (info.max, info.tiny, info.eps) == (sys.float_info.max, sys.float_info.min, sys.float_info.epsilon)
    assert (info.min, info.bits, info.dtype, info.resolution) == (-sys.float_info.max, 64, "float64", 1e-15)
    assert flambeau.finfo(flambeau.float32).max == float.fromhex("0x1.fffffep+127")


def test_small_formats():
    limits = {
        "float16": (65504.0, 2.0**-14, 2.0**-10, 0.001),
        "bfloat16": (float.fromhex("0x1.fep+127"), 2.0**-126, 2.0**-7, 0.01),
        "float8_e4m3fn": (448.0, 2.0**-6, 0.125, 1.0),
        "float8_e4m3fnuz": (240.0, 2.0**-7, 0.125, 1.0),
        "float8_e5m2": (57344.0, 2.0**-14, 0.25, 1.0),
        "float8_e5m2fnuz": (57344.0, 2.0**-15, 0.125, 1.0),
    }
    for name, expected in limits.items():
        info = flambeau.finfo(getattr(flambeau, name))
        assert (info.max, info.smallest_normal, info.eps, info.resolution) == expected, name


def test_complex_dtypes_have_the_limits_of_their_parts():
    assert flambeau.finfo(flambeau.complex64) == flambeau.finfo(flambeau.float32)
    assert flambeau.finfo(flambeau.complex128).dtype == "float64"


def test_default_is_the_default_dtype():
    assert flambeau.finfo() == flambeau.finfo(flambeau.get_default_dtype())


def test_texts():
    assert repr(flambeau.finfo(flambeau.float32)) == (
        "finfo(resolution=1e-06, min=-3.40282e+38, max=3.40282e+38, eps=1.19209e-07, "
        "smallest_normal=1.17549e-38, tiny=1.17549e-38, dtype=float32)"
    )
    assert repr(flambeau.iinfo(flambeau.int32)) == "iinfo(min=-2.14748e+09, max=2.14748e+09, dtype=int32)"
    assert repr(flambeau.iinfo(flambeau.uint8)) == "iinfo(min=0, max=255, dtype=uint8)"


def test_integer_limits():
    for bits in (8, 16, 32, 64):
        signed = flambeau.iinfo(getattr(flambeau, f"int{bits}"))
        unsigned = flambeau.iinfo(getattr(flambeau, f"uint{bits}"))
        assert (signed.min, signed.max, signed.bits) == (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1, bits)
        assert (unsigned.min, unsigned.max, unsigned.dtype) == (0, 2**bits - 1, f"uint{bits}")


def test_the_wrong_kind_is_an_error_that_names_the_other():
    with pytest.raises(TypeError, match=r"int64.*iinfo"):
        flambeau.finfo(flambeau.int64)
    with pytest.raises(TypeError, match=r"float32.*finfo"):
        flambeau.iinfo(flambeau.float32)
    with pytest.raises(TypeError, match="bool"):
        flambeau.iinfo(flambeau.bool)
    with pytest.raises(TypeError, match="dtype, not int"):
        flambeau.finfo(3)


def test_limits_cannot_be_written_and_survive_pickling():
    info = flambeau.finfo(flambeau.bfloat16)
    with pytest.raises(AttributeError, match="eps"):
        info.eps = 1.0
    assert pickle.loads(pickle.dumps(info)) == info


def test_uint64_gives_its_large_values_to_python():
    x = flambeau.tensor([2**64 - 1, 2**63, 1], dtype=flambeau.uint64)
    assert x.tolist() == [2**64 - 1, 2**63, 1] and x[0].item() == 2**64 - 1
    assert int(x[1]) == 2**63 and float(x[1]) == 2.0**63 and x[2].item() == 1
