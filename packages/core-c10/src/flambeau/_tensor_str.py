"""The text of a tensor: `repr(tensor)`.

Only shape, flags, indexing and `tolist` of the tensor are used, and all arithmetic is on Python
numbers, so tensors print with no operator package installed.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import flambeau

from ._print_options import PRINT_OPTS, get_printoptions, printoptions, set_printoptions

if TYPE_CHECKING:
    from flambeau import Tensor
    from flambeau import dtype as DType
    from flambeau import layout as Layout

__all__ = ["PRINT_OPTS", "get_printoptions", "printoptions", "set_printoptions"]

# Printed in place of the elements that a summary leaves out.
_GAP = "..."

# Beyond these a fixed-point column would be mostly zeros, so the numbers are printed as 1.0000e+05.
_SCI_RATIO = 1000.0
_SCI_MAX = 1.0e8
_SCI_MIN = 1.0e-4


class _Column:
    """Prints numbers that share one width; `width` counts the characters of the widest."""

    def __init__(self, texts: Sequence[str], write: Callable[[Any], str]) -> None:
        self.width = max([1, *map(len, texts)])
        self._write = write

    def __call__(self, value: Any) -> str:
        return self._write(value).rjust(self.width)


def _exact_column(values: Sequence[Any]) -> _Column:
    """Column of integers or booleans."""
    return _Column([str(value) for value in values], str)


def _float_column(values: Sequence[float]) -> _Column:
    """Column of floating numbers: whole ("3."), fixed ("3.1416") or scientific, one form for all."""
    finite = [v for v in values if v != 0 and math.isfinite(v)]
    whole = all(v == math.floor(v) for v in finite)
    if not finite:
        # Zeros, infinities and nan alone: `sci_mode` has nothing to act on, and nothing is padded.
        return _Column([], _float_form(True, False))
    scientific = PRINT_OPTS.sci_mode
    if scientific is None:
        scientific = _wants_scientific(finite, whole)
    form = _float_form(whole, scientific)
    # Only finite values that are not zero say how wide the column is, as in torch.
    return _Column([form(v) for v in finite], form)


def _wants_scientific(finite: Sequence[float], whole: bool) -> bool:
    """Say whether a fixed-point column of these values would be mostly zeros."""
    magnitudes = [abs(v) for v in finite]
    low, high = min(magnitudes), max(magnitudes)
    return high / low > _SCI_RATIO or high > _SCI_MAX or (not whole and low < _SCI_MIN)


def _float_form(whole: bool, scientific: bool) -> Callable[[float], str]:
    """Return what writes one number."""
    if scientific:
        digits = f".{PRINT_OPTS.precision}e"
        return lambda value: format(value, digits)
    if whole:
        return lambda value: format(value, ".0f") + ("." if math.isfinite(value) else "")
    digits = f".{PRINT_OPTS.precision}f"
    return lambda value: format(value, digits)


class _ComplexColumn:
    """Prints complex numbers: a column of real parts beside one of imaginary parts."""

    def __init__(self, values: Sequence[complex]) -> None:
        self._real = _float_column([v.real for v in values])
        self._imag = _float_column([v.imag for v in values])
        self.width = self._real.width + self._imag.width + 1

    def __call__(self, value: complex) -> str:
        imag = self._imag(value.imag).lstrip() + "j"
        if imag[0] not in "+-":
            imag = "+" + imag
        return self._real(value.real) + imag


def _column(dtype: DType, values: Sequence[Any]) -> _Column | _ComplexColumn:
    if dtype.is_complex:
        return _ComplexColumn(values)
    return _float_column(values) if dtype.is_floating_point else _exact_column(values)


def _flat(nested: Any) -> Iterator[Any]:
    if isinstance(nested, list):
        for item in nested:
            yield from _flat(item)
    elif nested is not _GAP:
        yield nested


def _edges(tensor: Tensor) -> list[Any]:
    """Nested lists of the elements at the edges of each dimension, `_GAP` where some are left out."""
    edge = PRINT_OPTS.edgeitems
    length = tensor.shape[0]
    if length <= 2 * edge:
        return tensor.tolist() if tensor.dim() == 1 else [_edges(tensor[i]) for i in range(length)]
    if tensor.dim() == 1:
        tail = tensor[length - edge :].tolist() if edge else []
        return [*tensor[:edge].tolist(), _GAP, *tail]
    head = [_edges(tensor[i]) for i in range(edge)]
    return [*head, _GAP, *(_edges(tensor[i]) for i in range(length - edge, length))]


def _row_text(row: Sequence[Any], indent: int, column: Callable[[Any], str], width: int) -> str:
    per_line = max(1, (PRINT_OPTS.linewidth - indent) // (width + 2))
    # torch sets a blank before the dots, but not where they stand alone.
    gap = " " + _GAP if len(row) > 1 else _GAP
    cells = [gap if value is _GAP else column(value) for value in row]
    lines = [cells[i : i + per_line] for i in range(0, len(cells), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(", ".join(line) for line in lines) + "]"


def _nested_text(nested: Any, dim: int, indent: int, column: Callable[[Any], str], width: int) -> str:
    if dim == 0:
        return column(nested)
    if dim == 1:
        return _row_text(nested, indent, column, width)
    parts = [_GAP if item is _GAP else _nested_text(item, dim - 1, indent + 1, column, width) for item in nested]
    return "[" + ("," + "\n" * (dim - 1) + " " * (indent + 1)).join(parts) + "]"


def _elements_text(tensor: Tensor, indent: int) -> str:
    """Text of the elements of a dense tensor with at least one element, without prefix and suffixes."""
    tensor = _plain(tensor)
    summarised = tensor.numel() > PRINT_OPTS.threshold and tensor.dim() > 0
    nested = _edges(tensor) if summarised else tensor.tolist()
    column = _column(tensor.dtype, list(_flat(nested)))
    return _nested_text(nested, tensor.dim(), indent, column, column.width)


def _plain(tensor: Tensor) -> Any:
    """The tensor without history, so that printing records nothing for backward."""
    return tensor.detach() if tensor.requires_grad else tensor


def _compressed_index_names(layout: Layout) -> tuple[str, str] | None:
    return {
        "torch.sparse_csr": ("crow_indices", "col_indices"),
        "torch.sparse_bsr": ("crow_indices", "col_indices"),
        "torch.sparse_csc": ("ccol_indices", "row_indices"),
        "torch.sparse_bsc": ("ccol_indices", "row_indices"),
    }.get(str(layout).replace("flambeau.", "torch."))


def _part_text(name: str, part: Tensor, indent: int) -> str:
    """Text of one dense tensor inside a sparse one; `indent` is where the part's name begins."""
    opening = f"{name}=tensor("
    part = _plain(part)
    if part.numel() == 0:
        return f"{opening}[], size={tuple(part.shape)})"
    return opening + _elements_text(part, indent + len(opening)) + ")"


def _sparse_text(tensor: Tensor, indent: int, suffixes: list[str]) -> str:
    plain = _plain(tensor)
    names = _compressed_index_names(tensor.layout)
    if names is None:
        parts = [("indices", plain._indices()), ("values", plain._values())]
    else:
        parts = [(name, getattr(plain, name)()) for name in (*names, "values")]
    suffixes += [f"size={tuple(tensor.shape)}", f"nnz={plain._nnz()}"]
    suffixes += [*_dtype_suffix(tensor), f"layout={tensor.layout}"]
    gap = ",\n" + " " * indent
    return gap.join(_part_text(name, part, indent) for name, part in parts)


def _is_default_dtype(dtype: DType) -> bool:
    default = flambeau.get_default_dtype()
    if dtype.is_complex:
        return dtype == default.to_complex()
    return dtype in (default, flambeau.int64, flambeau.bool)


def _device_suffix(tensor: Tensor) -> list[str]:
    device = tensor.device
    return [] if device.type == "cpu" else [f"device='{device}'"]


def _history_suffix(tensor: Tensor) -> list[str]:
    try:
        node = tensor.grad_fn
    except RuntimeError:
        # A view whose base was changed in place in a forbidden way has no valid history.
        return ["grad_fn=<Invalid>"]
    if node is not None:
        return [f"grad_fn=<{node.name().rsplit('::', 1)[-1]}>"]
    return ["requires_grad=True"] if tensor.requires_grad else []


def _with_suffixes(text: str, suffixes: Sequence[str], indent: int, break_first: bool) -> str:
    """Append the suffixes, each on the last line where it fits."""
    column = len(text) - (text.rfind("\n") + 1) + 2
    for position, suffix in enumerate(suffixes):
        if (break_first and position == 0) or column + len(suffix) + 2 > PRINT_OPTS.linewidth:
            text += ",\n" + " " * indent + suffix
            column = indent + len(suffix)
        else:
            text += ", " + suffix
            column += len(suffix) + 2
    return text + ")"


def _prefix(tensor: Tensor) -> str:
    kind = type(tensor)
    # Parameters and buffers print as the tensors they are; their own `repr` says the rest.
    is_wrapper = kind.__name__ in ("Parameter", "Buffer") and kind.__module__.endswith("nn.parameter")
    return "tensor(" if kind is flambeau.Tensor or is_wrapper else f"{kind.__name__}("


def _without_overrides(tensor: Tensor) -> contextlib.AbstractContextManager[Any]:
    """Keep the `__torch_function__` of a subclass away from the pieces that are taken for printing."""
    if type(tensor) is flambeau.Tensor:
        return contextlib.nullcontext()
    return flambeau._C.DisableTorchFunctionSubclass()


def _dense_text(tensor: Tensor, indent: int, suffixes: list[str]) -> str:
    """Text of the elements of a strided tensor; adds the suffixes that stand for what is not shown."""
    if tensor.device.type == "meta":
        return _hidden_text(tensor, _GAP, suffixes)
    if tensor.numel() == 0:
        return _hidden_text(tensor, "[]", suffixes)
    if PRINT_OPTS.edgeitems == 0:
        # With no edges a summary shows nothing, so the sizes stand in for it.
        suffixes.append(f"size={tuple(tensor.shape)}")
    suffixes.extend(_dtype_suffix(tensor))
    return _elements_text(tensor, indent)


def _hidden_text(tensor: Tensor, text: str, suffixes: list[str]) -> str:
    if text == _GAP or tensor.dim() != 1:
        suffixes.append(f"size={tuple(tensor.shape)}")
    # With no element to tell the kind of number, int64, bool and complex are named as well.
    if tensor.dtype != flambeau.get_default_dtype():
        suffixes.append(f"dtype={tensor.dtype}")
    return text


def _dtype_suffix(tensor: Tensor) -> list[str]:
    return [] if _is_default_dtype(tensor.dtype) else [f"dtype={tensor.dtype}"]


def _str(self: Tensor, *, tensor_contents: str | None = None) -> str:
    """Return the text of a tensor: prefix, elements, and a suffix for each thing that is not the default.

    Parameters
    ----------
    self : Tensor, of any layout and device; the elements of one on "meta" print as "..."
    tensor_contents : str, optional, stands for the elements and for what says their kind
    """
    with _without_overrides(self):
        return _text(self, tensor_contents)


def _text(tensor: Tensor, contents: str | None) -> str:
    prefix = _prefix(tensor)
    indent = len(prefix)
    suffixes = _device_suffix(tensor)
    is_sparse = contents is None and tensor.layout != flambeau.strided
    if is_sparse:
        contents = _sparse_text(tensor, indent, suffixes)
    elif contents is None:
        contents = _dense_text(tensor, indent, suffixes)
    suffixes.extend(_history_suffix(tensor))
    # The sizes of a COO tensor begin a line of their own.
    break_first = is_sparse and _compressed_index_names(tensor.layout) is None
    return _with_suffixes(prefix + contents, suffixes, indent, break_first)
