"""One step of a recurrent network."""

from __future__ import annotations

import math

import flambeau as torch
from flambeau.nn import init
from flambeau.nn.modules.module import Module
from flambeau.nn.parameter import Parameter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from flambeau import Tensor


class RNNCellBase(Module):
    """What the cells share: weight_ih (gates * H, I), weight_hh (gates * H, H), two biases."""

    __constants__ = ["input_size", "hidden_size", "bias"]
    input_size: int
    hidden_size: int
    bias: bool

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool, num_chunks: int, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        gates = num_chunks * hidden_size
        make = {"device": device, "dtype": dtype}
        self.weight_ih = Parameter(torch.empty((gates, input_size), **make))
        self.weight_hh = Parameter(torch.empty((gates, hidden_size), **make))
        self.register_parameter("bias_ih", Parameter(torch.empty(gates, **make)) if bias else None)
        self.register_parameter("bias_hh", Parameter(torch.empty(gates, **make)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all parameters anew, uniform in +-1 / sqrt(hidden_size)."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        nonlinearity = self.__dict__.get("nonlinearity", "tanh")
        if nonlinearity != "tanh":
            text += f", nonlinearity={nonlinearity}"
        return text

    def _check_rank(self, tensor: Tensor, what: str) -> None:
        if tensor.dim() not in (1, 2):
            raise ValueError(f"{type(self).__name__}: Expected {what} to be 1D or 2D, got {tensor.dim()}D instead")

    def _check_sizes(self, input: Tensor, states: tuple) -> None:
        if input.size(-1) != self.input_size:
            raise RuntimeError(f"input has inconsistent input_size: got {input.size(-1)} expected {self.input_size}")
        for i, h in enumerate(states):
            if input.size(0) != h.size(0):
                raise RuntimeError(f"Input batch size {input.size(0)} doesn't match hidden{i} batch size {h.size(0)}")
            if h.size(-1) != self.hidden_size:
                raise RuntimeError(
                    f"hidden{i} has inconsistent hidden_size: got {h.size(-1)}, expected {self.hidden_size}"
                )

    def _step(self, mode: str, input: Tensor, states: tuple | None, num_states: int) -> tuple:
        """One step of a batch or of one sequence (then all are 1-D)."""
        from flambeau.nn.functional._recurrent import CELLS

        batched = input.dim() == 2
        if not batched:
            input = input.unsqueeze(0)
        if states is None:
            zeros = torch.zeros(input.size(0), self.hidden_size, dtype=input.dtype, device=input.device)
            states = (zeros,) * num_states
        elif not batched:
            states = tuple(h.unsqueeze(0) for h in states)
        self._check_sizes(input, states)
        linear = torch._C._nn.linear
        gates_x = linear(input, self.weight_ih, self.bias_ih)
        gates_h = linear(states[0], self.weight_hh, self.bias_hh)
        states = CELLS[mode](gates_x, gates_h, states)
        return states if batched else tuple(h.squeeze(0) for h in states)


class RNNCell(RNNCellBase):
    """h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu: (N, I), (N, H) -> (N, H)."""

    __constants__ = ["input_size", "hidden_size", "bias", "nonlinearity"]
    nonlinearity: str

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        self._check_rank(input, "input")
        if hx is not None:
            self._check_rank(hx, "hidden")
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        mode = "RNN_" + self.nonlinearity.upper()
        return self._step(mode, input, None if hx is None else (hx,), 1)[0]


class LSTMCell(RNNCellBase):
    """One step of an LSTM: (N, I), ((N, H), (N, H)) -> ((N, H), (N, H)), the states (h, c)."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> Any:
        self._check_rank(input, "input")
        if hx is not None:
            for i, h in enumerate(hx):
                self._check_rank(h, f"hx[{i}]")
        return self._step("LSTM", input, None if hx is None else tuple(hx), 2)


class GRUCell(RNNCellBase):
    """One step of a GRU: (N, I), (N, H) -> (N, H)."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        self._check_rank(input, "input")
        if hx is not None:
            self._check_rank(hx, "hidden")
        return self._step("GRU", input, None if hx is None else (hx,), 1)[0]
