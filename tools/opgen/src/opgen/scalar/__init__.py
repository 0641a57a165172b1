"""Scalar bodies: a typed expression IR, the tracer that reads bodies written in Python, and the printers of kernels."""

from pathlib import Path

from opgen.errors import RecordError
from opgen.scalar.body import Body, load_bodies, scalar
from opgen.scalar.emit import emit as emit_pointwise
from opgen.scalar.emit_reduce import emit_reductions
from opgen.scalar.lang import BodyError
from opgen.scalar.reduction import Reduction, reduction

__all__ = ["Body", "BodyError", "RecordError", "Reduction", "emit", "load_bodies", "reduction", "scalar"]


def emit(out_dir: Path, schemas_dir: Path) -> list[Path]:
    """Write every kernel of `schemas_dir/scalar/*.py` into `out_dir`: pointwise_*.cpp, reduce_*.cpp and their lists.

    Files named *_hot_*.cpp are to be compiled once for each instruction set, with FL_ISA = v2, v3, v4; files named
    *_base_*.cpp once, with FL_ISA = v2. The same schemas give the same bytes; files of earlier runs that are no longer
    written are deleted.
    """
    return sorted(emit_pointwise(out_dir, schemas_dir) + emit_reductions(out_dir, schemas_dir))
