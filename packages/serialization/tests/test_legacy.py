"""The format from before torch 1.6."""

import base64
import io
import pickle

import flambeau
import pytest
from samples import assert_same, checkpoint, saved, shares_memory


def test_it_is_written_and_read():
    before = checkpoint()
    stream = saved(before, _use_new_zipfile_serialization=False)
    assert stream.getvalue()[:2] == b"\x80\x02"
    assert_same(before, flambeau.load(stream))
    stream.seek(0)
    assert_same(before, flambeau.load(stream, weights_only=False))


def test_a_file_that_torch_wrote_is_read():
    """`torch.save({"a": arange(3.), "v": a[1:], "n": 5}, f, _use_new_zipfile_serialization=False)`."""
    after = flambeau.load(io.BytesIO(base64.b64decode(TORCH_LEGACY)))
    assert after["a"].tolist() == [0.0, 1.0, 2.0]
    assert after["v"].tolist() == [1.0, 2.0]
    assert shares_memory(after["a"], after["v"])
    assert after["n"] == 5


def test_a_zip_file_that_torch_wrote_is_read():
    """`torch.save({"a": arange(3.), "v": a[1:], "h": ones(2).bfloat16(), "u": ones(1).to(uint16), "p": Size([2])}, f)`."""
    after = flambeau.load(io.BytesIO(base64.b64decode(TORCH_ZIP)))
    assert after["a"].tolist() == [0.0, 1.0, 2.0]
    assert shares_memory(after["a"], after["v"])
    assert (after["h"].dtype, after["h"].tolist()) == (flambeau.bfloat16, [1.0, 1.0])
    assert (after["u"].dtype, after["u"].tolist()) == (flambeau.uint16, [1])
    assert tuple(after["p"]) == (2,)


def test_sparse_tensors_are_not_read_from_it():
    from hostile import legacy, name, program

    good = next(content for label, content, _ in legacy() if label == "legacy_no_keys")
    head = good[: good.index(b"\x80\x02c")]
    with pytest.raises(Exception, match="_rebuild_sparse_tensor"):
        flambeau.load(io.BytesIO(head + program(name("torch._utils", "_rebuild_sparse_tensor"))))


def test_python_2_strings_follow_the_encoding():
    import hostile

    content = hostile.archive(hostile.program(b"U\x02\xe4x"))
    assert flambeau.load(io.BytesIO(content), encoding="latin1") == "\xe4x"
    assert flambeau.load(io.BytesIO(content), encoding="bytes") == b"\xe4x"
    with pytest.raises(pickle.UnpicklingError, match="latin1"):
        flambeau.load(io.BytesIO(content))


TORCH_LEGACY = """
gAKKCmz8nEb5IGqoUBkugAJN6QMugAJ9cQAoWBAAAABwcm90b2NvbF92ZXJzaW9ucQFN6QNYDQAAAGxpdHRsZV9lbmRpYW5xAohYCgAAAHR5cG
Vfc2l6ZXNxA31xBChYBQAAAHNob3J0cQVLAlgDAAAAaW50cQZLBFgEAAAAbG9uZ3EHSwR1dS6AAn1xAChYAQAAAGFxAWN0b3JjaC5fdXRpbHMK
X3JlYnVpbGRfdGVuc29yX3YyCnECKChYBwAAAHN0b3JhZ2VxA2N0b3JjaApGbG9hdFN0b3JhZ2UKcQRYDgAAADk0NTE2NDI2OTUzNDA4cQVYAw
AAAGNwdXEGSwNOdHEHUUsASwOFcQhLAYVxCYljY29sbGVjdGlvbnMKT3JkZXJlZERpY3QKcQopUnELdHEMUnENWAEAAAB2cQ5oAigoaANoBFgO
AAAAOTQ1MTY0MjY5NTM0MDhxD2gGSwNOdHEQUUsBSwKFcRFLAYVxEoloCilScRN0cRRScRVYAQAAAG5xFksFdS6AAl1xAFgOAAAAOTQ1MTY0Mj
Y5NTM0MDhxAWEuAwAAAAAAAAAAAAAAAACAPwAAAEA=
"""

TORCH_ZIP = """
UEsDBAAACAgAAAAAAAAAAAAAAAAAAAAAAAAQABIAYXJjaGl2ZS9kYXRhLnBrbEZCDgBaWlpaWlpaWlpaWlpaWoACfXEAKFgBAAAAYXEBY3Rvcm
NoLl91dGlscwpfcmVidWlsZF90ZW5zb3JfdjIKcQIoKFgHAAAAc3RvcmFnZXEDY3RvcmNoCkZsb2F0U3RvcmFnZQpxBFgBAAAAMHEFWAMAAABj
cHVxBksDdHEHUUsASwOFcQhLAYVxCYljY29sbGVjdGlvbnMKT3JkZXJlZERpY3QKcQopUnELdHEMUnENWAEAAAB2cQ5oAigoaANoBGgFaAZLA3
RxD1FLAUsChXEQSwGFcRGJaAopUnESdHETUnEUWAEAAABocRVoAigoaANjdG9yY2gKQkZsb2F0MTZTdG9yYWdlCnEWWAEAAAAxcRdoBksCdHEY
UUsASwKFcRlLAYVxGoloCilScRt0cRxScR1YAQAAAHVxHmN0b3JjaC5fdXRpbHMKX3JlYnVpbGRfdGVuc29yX3YzCnEfKChoA2N0b3JjaC5zdG
9yYWdlClVudHlwZWRTdG9yYWdlCnEgWAEAAAAycSFoBksCdHEiUUsASwGFcSNLAYVxJIloCilScSVjdG9yY2gKdWludDE2CnEmdHEnUnEoWAEA
AABwcSljdG9yY2gKU2l6ZQpxKksChXErhXEsUnEtdS5QSwcIq0M3X88BAADPAQAAUEsDBAAACAgAAAAAAAAAAAAAAAAAAAAAAAAXACwAYXJjaG
l2ZS8uZm9ybWF0X3ZlcnNpb25GQigAWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWjFQSwcIt+/cgwEAAAABAAAAUEsD
BAAACAgAAAAAAAAAAAAAAAAAAAAAAAAaADcAYXJjaGl2ZS8uc3RvcmFnZV9hbGlnbm1lbnRGQjMAWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWl
paWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaNjRQSwcIP3dx6QIAAAACAAAAUEsDBAAACAgAAAAAAAAAAAAAAAAAAAAAAAARAD8AYXJjaGl2ZS9i
eXRlb3JkZXJGQjsAWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpsaXR0bGVQSwcIhT
3jGQYAAAAGAAAAUEsDBAAACAgAAAAAAAAAAAAAAAAAAAAAAAAOAD4AYXJjaGl2ZS9kYXRhLzBGQjoAWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpa
WlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWgAAAAAAAIA/AAAAQFBLBwhwvMgwDAAAAAwAAABQSwMEAAAICAAAAAAAAAAAAAAAAA
AAAAAAAA4AOABhcmNoaXZlL2RhdGEvMUZCNABaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpagD+A
P1BLBwj8fs9uBAAAAAQAAABQSwMEAAAICAAAAAAAAAAAAAAAAAAAAAAAAA4AQABhcmNoaXZlL2RhdGEvMkZCPABaWlpaWlpaWlpaWlpaWlpaWl
paWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWloBAFBLBwi+I8JYAgAAAAIAAABQSwMEAAAICAAAAAAAAAAAAAAAAAAA
AAAAAA8AQQBhcmNoaXZlL3ZlcnNpb25GQj0AWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWl
paWlpaWjMKUEsHCNGeZ1UCAAAAAgAAAFBLAwQAAAgIAAAAAAAAAAAAAAAAAAAAAAAAHgAyAGFyY2hpdmUvLmRhdGEvc2VyaWFsaXphdGlvbl9p
ZEZCLgBaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaMDg0OTQ4ODg0Nzk2NTA0ODczNTAwMzA1MjM5ODIyMT
gxNjMwMTA5OFBLBwjs8CSzKAAAACgAAABQSwECAAAAAAgIAAAAAAAAq0M3X88BAADPAQAAEAAAAAAAAAAAAAAAAAAAAAAAYXJjaGl2ZS9kYXRh
LnBrbFBLAQIAAAAACAgAAAAAAAC379yDAQAAAAEAAAAXAAAAAAAAAAAAAAAAAB8CAABhcmNoaXZlLy5mb3JtYXRfdmVyc2lvblBLAQIAAAAACA
gAAAAAAAA/d3HpAgAAAAIAAAAaAAAAAAAAAAAAAAAAAJECAABhcmNoaXZlLy5zdG9yYWdlX2FsaWdubWVudFBLAQIAAAAACAgAAAAAAACFPeMZ
BgAAAAYAAAARAAAAAAAAAAAAAAAAABIDAABhcmNoaXZlL2J5dGVvcmRlclBLAQIAAAAACAgAAAAAAABwvMgwDAAAAAwAAAAOAAAAAAAAAAAAAA
AAAJYDAABhcmNoaXZlL2RhdGEvMFBLAQIAAAAACAgAAAAAAAD8fs9uBAAAAAQAAAAOAAAAAAAAAAAAAAAAABwEAABhcmNoaXZlL2RhdGEvMVBL
AQIAAAAACAgAAAAAAAC+I8JYAgAAAAIAAAAOAAAAAAAAAAAAAAAAAJQEAABhcmNoaXZlL2RhdGEvMlBLAQIAAAAACAgAAAAAAADRnmdVAgAAAA
IAAAAPAAAAAAAAAAAAAAAAABIFAABhcmNoaXZlL3ZlcnNpb25QSwECAAAAAAgIAAAAAAAA7PAksygAAAAoAAAAHgAAAAAAAAAAAAAAAACSBQAA
YXJjaGl2ZS8uZGF0YS9zZXJpYWxpemF0aW9uX2lkUEsGBiwAAAAAAAAAHgMtAAAAAAAAAAAACQAAAAAAAAAJAAAAAAAAAEcCAAAAAAAAOAYAAA
AAAABQSwYHAAAAAH8IAAAAAAAAAQAAAFBLBQYAAAAACQAJAEcCAAA4BgAAAAA=
"""
