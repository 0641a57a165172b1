"""Scalar bodies: a typed expression IR, the tracer that reads bodies written in Python, and the printers of kernels."""

from opgen.scalar.body import Body, RecordError, load_bodies, scalar
from opgen.scalar.emit import emit
from opgen.scalar.lang import BodyError

__all__ = ["Body", "BodyError", "RecordError", "emit", "load_bodies", "scalar"]
