"""Recurrent layers."""

from __future__ import annotations

import math
import warnings

import flambeau as torch
from flambeau.nn import init
from flambeau.nn.modules._rnn_cells import GRUCell, LSTMCell, RNNCell, RNNCellBase
from flambeau.nn.modules.module import Module
from flambeau.nn.parameter import Parameter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from flambeau import Tensor

__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNBase", "RNNCell", "RNNCellBase"]

_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


def apply_permutation(tensor: Tensor, permutation: Tensor, dim: int = 1) -> Tensor:
    """Deprecated: `tensor.index_select(dim, permutation)`."""
    return tensor.index_select(dim, permutation)


def _apply_permutation(tensor: Tensor, permutation: Tensor, dim: int = 1) -> Tensor:
    return tensor.index_select(dim, permutation)


class RNNBase(Module):
    """What RNN, LSTM and GRU share; see those."""

    __constants__ = [
        "mode",
        "input_size",
        "hidden_size",
        "num_layers",
        "bias",
        "batch_first",
        "dropout",
        "bidirectional",
        "proj_size",
    ]
    mode: str
    input_size: int
    hidden_size: int
    num_layers: int
    bias: bool
    batch_first: bool
    dropout: float
    bidirectional: bool
    proj_size: int

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        _check_options(mode, hidden_size, num_layers, dropout, proj_size)
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size

        self._all_weights: list[list[str]] = []
        for layer in range(num_layers):
            for suffix in ("", "_reverse") if bidirectional else ("",):
                shapes = self._shapes(layer)
                names = [f"{name}_l{layer}{suffix}" for name in shapes]
                for name, shape in zip(names, shapes.values()):
                    setattr(self, name, Parameter(torch.empty(shape, device=device, dtype=dtype)))
                self._all_weights.append(names)
        self.reset_parameters()

    def _shapes(self, layer: int) -> dict[str, tuple[int, ...]]:
        """Parameter shapes of one layer and direction, by the first part of their names."""
        directions = 2 if self.bidirectional else 1
        gates = _GATES[self.mode] * self.hidden_size
        state = self.proj_size or self.hidden_size
        width = self.input_size if layer == 0 else state * directions
        shapes: dict[str, tuple[int, ...]] = {"weight_ih": (gates, width), "weight_hh": (gates, state)}
        if self.bias:
            shapes |= {"bias_ih": (gates,), "bias_hh": (gates,)}
        if self.proj_size:
            shapes["weight_hr"] = (self.proj_size, self.hidden_size)
        return shapes

    @property
    def _flat_weights_names(self) -> list[str]:
        return [name for names in self._all_weights for name in names]

    @property
    def _flat_weights(self) -> list[Tensor | None]:
        return [getattr(self, name, None) for name in self._flat_weights_names]

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The parameters, a list per layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def flatten_parameters(self) -> None:
        """Nothing to do: kept for programs that call it."""

    def reset_parameters(self) -> None:
        """Draw all parameters anew, uniform in +-1 / sqrt(hidden_size)."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def check_input(self, input: Tensor, batch_sizes: Tensor | None) -> None:
        """Refuse an input of another dtype, rank or size than the parameters need."""
        weight = self.weight_ih_l0
        if input.dtype != weight.dtype:
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({weight.dtype}). "
                f"Convert input: input.to({weight.dtype}), or convert model: "
                f"model.to({input.dtype})"
            )
        expected = 3 if batch_sizes is None else 2
        if input.dim() != expected:
            raise RuntimeError(f"input must have {expected} dimensions, got {input.dim()}")
        if input.size(-1) != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.size(-1)}"
            )

    def get_expected_hidden_size(self, input: Tensor, batch_sizes: Tensor | None) -> tuple[int, int, int]:
        """(layers * directions, N, state size) for an input."""
        if batch_sizes is not None:
            batch = int(batch_sizes[0])
        else:
            batch = input.size(0) if self.batch_first else input.size(1)
        directions = 2 if self.bidirectional else 1
        return self.num_layers * directions, batch, self.proj_size or self.hidden_size

    def check_hidden_size(
        self, hx: Tensor, expected_hidden_size: tuple[int, int, int], msg: str = "Expected hidden size {}, got {}"
    ) -> None:
        """Refuse a hidden state of another shape."""
        if tuple(hx.size()) != tuple(expected_hidden_size):
            raise RuntimeError(msg.format(expected_hidden_size, list(hx.size())))

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """Refuse an input or a hidden state that does not fit."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """Reorder the batch of a hidden state."""
        return hx if permutation is None else _apply_permutation(hx, permutation)

    def _state_sizes(self) -> tuple[int, ...]:
        """Last sizes of the states: h, and c of an LSTM."""
        return (self.hidden_size,)

    def _check_ranks(self, input: Tensor, hx: Any, batched: bool) -> None:
        n = 3 if batched else 2
        if hx is not None and hx.dim() != n:
            word = "batched 3-D" if batched else "unbatched 2-D"
            raise RuntimeError(f"For {word} input, hx should also be {n}-D but got {hx.dim()}-D tensor")

    def forward(self, input: Any, hx: Any = None) -> Any:
        """Run over sequences.

        Parameters
        ----------
        input : Tensor (T, N, I), (N, T, I) if batch_first, (T, I), or a PackedSequence
        hx : initial states (layers * directions, N, H), without N for one sequence; zeros

        Returns
        -------
        (outputs of the last layer at all times (T, N, directions * H), final states)
        """
        packed = None if isinstance(input, torch.Tensor) else input
        batched = True
        batch_sizes: Any = None
        sorted_indices = unsorted_indices = None
        if packed is not None:
            input, batch_sizes, sorted_indices, unsorted_indices = packed
        else:
            if input.dim() not in (2, 3):
                raise ValueError(f"{self._get_name()}: Expected input to be 2D or 3D, got {input.dim()}D instead")
            batched = input.dim() == 3
            self._check_ranks(input, hx, batched)
            if not batched:
                input = input.unsqueeze(0 if self.batch_first else 1)
                if hx is not None:
                    hx = _each(hx, lambda h: h.unsqueeze(1))
        if hx is None:
            hx = self._zeros(input, batch_sizes)
        else:
            # The batch of a packed sequence was sorted by length; the states follow.
            hx = self.permute_hidden(hx, sorted_indices)
        self.check_forward_args(input, hx, batch_sizes)

        if packed is not None:
            steps = list(input.split(batch_sizes.tolist()))
        else:
            steps = list(input.unbind(1 if self.batch_first else 0))
        out, states = self._run(steps, hx, input)
        if packed is not None:
            result = type(packed)(torch.cat(out), batch_sizes, sorted_indices, unsorted_indices)
            return result, self.permute_hidden(states, unsorted_indices)
        output = torch.stack(out, 1 if self.batch_first else 0)
        if not batched:
            output = output.squeeze(0 if self.batch_first else 1)
            states = _each(states, lambda h: h.squeeze(1))
        return output, states

    def _zeros(self, input: Tensor, batch_sizes: Tensor | None) -> Any:
        layers, batch, _ = self.get_expected_hidden_size(input, batch_sizes)
        zeros = tuple(
            torch.zeros(layers, batch, size, dtype=input.dtype, device=input.device) for size in self._state_sizes()
        )
        return zeros[0] if len(zeros) == 1 else zeros

    def _run(self, steps: list[Tensor], hx: Any, input: Tensor) -> tuple[list[Tensor], Any]:
        from flambeau.nn.functional._recurrent import Weights, recurrent

        if not steps:
            raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
        directions = 2 if self.bidirectional else 1
        flat = [Weights(row, self.bias, self.proj_size > 0) for row in self.all_weights]
        rows = [flat[i : i + directions] for i in range(0, len(flat), directions)]
        is_tuple = isinstance(hx, (tuple, list))
        hidden = tuple(hx) if is_tuple else (hx,)
        out, states = recurrent(self.mode, steps, hidden, rows, self.dropout, self.training)
        return out, states if is_tuple else states[0]

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        if self.proj_size != 0:
            text += f", proj_size={self.proj_size}"
        if self.num_layers != 1:
            text += f", num_layers={self.num_layers}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        if self.batch_first is not False:
            text += f", batch_first={self.batch_first}"
        if self.dropout != 0:
            text += f", dropout={self.dropout}"
        if self.bidirectional is not False:
            text += f", bidirectional={self.bidirectional}"
        return text

    def __setstate__(self, state: dict) -> None:
        super().__setstate__(state)
        self.__dict__.setdefault("proj_size", 0)


def _each(hx: Any, f: Any) -> Any:
    return tuple(f(h) for h in hx) if isinstance(hx, (tuple, list)) else f(hx)


def _check_options(mode: str, hidden_size: int, num_layers: int, dropout: Any, proj_size: int) -> None:
    p = float(dropout)
    if isinstance(dropout, bool) or not 0 <= p <= 1:
        raise ValueError(
            "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
        )
    if p > 0 and num_layers == 1:
        warnings.warn(
            "dropout option adds dropout after all but last recurrent layer, so non-zero dropout "
            f"expects num_layers greater than 1, but got dropout={dropout} and "
            f"num_layers={num_layers}",
            stacklevel=4,
        )
    if not isinstance(hidden_size, int):
        raise TypeError(f"hidden_size should be of type int, got: {type(hidden_size).__name__}")
    if hidden_size <= 0:
        raise ValueError("hidden_size must be greater than zero")
    if num_layers <= 0:
        raise ValueError("num_layers must be greater than zero")
    if proj_size < 0:
        raise ValueError("proj_size should be a positive integer or zero to disable projections")
    if proj_size >= hidden_size:
        raise ValueError("proj_size has to be smaller than hidden_size")
    if mode not in _GATES:
        raise ValueError("Unrecognized RNN mode: " + mode)


def _refuse_projection(args: tuple, kwargs: dict) -> None:
    if "proj_size" in kwargs:
        raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")


class RNN(RNNBase):
    """h = tanh(W_ih x + b_ih + W_hh h + b_hh) at each time, or relu in place of tanh.

    Arguments: input_size, hidden_size, num_layers=1, nonlinearity="tanh", bias=True,
    batch_first=False, dropout=0.0 (between layers), bidirectional=False, device, dtype.
    For forward see RNNBase.forward.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse_projection(args, kwargs)
        # The fourth positional argument is the nonlinearity, which RNNBase does not know.
        if len(args) > 3:
            self.nonlinearity = args[3]
            args = args[:3] + args[4:]
        else:
            self.nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if self.nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{self.nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__("RNN_" + self.nonlinearity.upper(), *args, **kwargs)


class GRU(RNNBase):
    """Gated recurrent units: gates r, z, n; h = (1 - z) * n + z * h (Cho et al. 2014).

    Arguments: input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0
    (between layers), bidirectional=False, device, dtype. For forward see RNNBase.forward.
    weight_ih_l0 is (3H, I), gates in the order r, z, n.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse_projection(args, kwargs)
        super().__init__("GRU", *args, **kwargs)


class LSTM(RNNBase):
    """Long short-term memory: gates i, f, g, o; c = f * c + i * g, h = o * tanh(c).

    Arguments: input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0
    (between layers), bidirectional=False, proj_size=0 (h = W_hr h of that size), device, dtype.
    The states are a pair (h, c); for forward see RNNBase.forward. weight_ih_l0 is (4H, I).
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)

    def _state_sizes(self) -> tuple[int, ...]:
        return self.proj_size or self.hidden_size, self.hidden_size

    def get_expected_cell_size(self, input: Tensor, batch_sizes: Tensor | None) -> tuple[int, int, int]:
        """(layers * directions, N, hidden_size) for an input."""
        layers, batch, _ = self.get_expected_hidden_size(input, batch_sizes)
        return layers, batch, self.hidden_size

    def _check_ranks(self, input: Tensor, hx: Any, batched: bool) -> None:
        n = 3 if batched else 2
        if hx is not None and (hx[0].dim() != n or hx[1].dim() != n):
            word = "batched 3-D" if batched else "unbatched 2-D"
            raise RuntimeError(
                f"For {word} input, hx and cx should also be {n}-D but got ({hx[0].dim()}-D, {hx[1].dim()}-D) tensors"
            )

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        self.check_input(input, batch_sizes)
        self.check_hidden_size(
            hidden[0], self.get_expected_hidden_size(input, batch_sizes), "Expected hidden[0] size {}, got {}"
        )
        self.check_hidden_size(
            hidden[1], self.get_expected_cell_size(input, batch_sizes), "Expected hidden[1] size {}, got {}"
        )

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        if permutation is None:
            return hx
        return tuple(_apply_permutation(h, permutation) for h in hx)
