"""Recurrent networks as compositions of linear, sigmoid and tanh.

Shapes: T time, N batch, I input size, H hidden size, G gates * H.
"""

from __future__ import annotations

import flambeau as torch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flambeau import Tensor

# A cell takes the input's and the hidden state's share of the gates (N, G) and the states
# (h,) or (h, c), and returns the new states.


def rnn_tanh_cell(gates_x: Tensor, gates_h: Tensor, state: tuple) -> tuple[Tensor]:
    """h = tanh(W_ih x + b_ih + W_hh h + b_hh)"""
    return (torch.tanh(gates_x + gates_h),)


def rnn_relu_cell(gates_x: Tensor, gates_h: Tensor, state: tuple) -> tuple[Tensor]:
    """h = relu(W_ih x + b_ih + W_hh h + b_hh)"""
    return (torch.relu(gates_x + gates_h),)


def gru_cell(gates_x: Tensor, gates_h: Tensor, state: tuple) -> tuple[Tensor]:
    """Gates r, z, n: n = tanh(x_n + r * h_n), h = (1 - z) * n + z * h (Cho et al. 2014)."""
    h = state[0]
    x_r, x_z, x_n = gates_x.chunk(3, -1)
    h_r, h_z, h_n = gates_h.chunk(3, -1)
    r = torch.sigmoid(x_r + h_r)
    z = torch.sigmoid(x_z + h_z)
    n = torch.tanh(x_n + r * h_n)
    return (n + z * (h - n),)


def lstm_cell(gates_x: Tensor, gates_h: Tensor, state: tuple) -> tuple[Tensor, Tensor]:
    """Gates i, f, g, o: c = f * c + i * g, h = o * tanh(c) (Hochreiter, Schmidhuber 1997)."""
    i, f, g, o = (gates_x + gates_h).chunk(4, -1)
    c = torch.sigmoid(f) * state[1] + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


CELLS: dict[str, Callable] = {"RNN_TANH": rnn_tanh_cell, "RNN_RELU": rnn_relu_cell, "GRU": gru_cell, "LSTM": lstm_cell}


class Weights:
    """The parameters of one layer and direction."""

    def __init__(self, params: Sequence[Tensor], bias: bool, projected: bool) -> None:
        self.w_ih, self.w_hh = params[0], params[1]
        self.b_ih: Tensor | None = params[2] if bias else None
        self.b_hh: Tensor | None = params[3] if bias else None
        self.w_hr = params[-1] if projected else None


def _step(cell: Callable, w: Weights, gates_x: Tensor, state: tuple) -> tuple:
    state = cell(gates_x, torch._C._nn.linear(state[0], w.w_hh, w.b_hh), state)
    if w.w_hr is not None:
        state = (torch._C._nn.linear(state[0], w.w_hr), state[1])
    return state


def _run(
    cell: Callable, w: Weights, steps: Sequence[Tensor], state: tuple, reverse: bool
) -> tuple[list[Tensor], tuple]:
    """Run over steps (n_t, G) of the projected input, n_t never growing.

    A sequence that has ended keeps the state it ended with; backwards, one that has not begun
    waits with its initial state.
    """
    sizes = [s.shape[0] for s in steps]
    batch = sizes[0]
    n = sizes[-1] if reverse else batch
    waiting = tuple(s.narrow(0, n, batch - n) for s in state)
    state = tuple(s.narrow(0, 0, n) for s in state) if n < batch else state
    ended: list[tuple] = []
    outputs: list[Tensor] = []
    for gates_x in reversed(steps) if reverse else steps:
        size = gates_x.shape[0]
        if size < n:
            ended.append(tuple(s.narrow(0, size, n - size) for s in state))
            state = tuple(s.narrow(0, 0, size) for s in state)
        elif size > n:
            begin = tuple(s.narrow(0, 0, size - n) for s in waiting)
            rest = waiting[0].shape[0] - (size - n)
            waiting = tuple(s.narrow(0, size - n, rest) for s in waiting)
            state = tuple(torch.cat([s, b]) for s, b in zip(state, begin))
        n = size
        state = _step(cell, w, gates_x, state)
        outputs.append(state[0])
    if reverse:
        outputs.reverse()
    if ended:
        parts = [state, *reversed(ended)]
        state = tuple(torch.cat([p[i] for p in parts]) for i in range(len(state)))
    return outputs, state


def recurrent(
    mode: str,
    steps: list[Tensor],
    hidden: tuple[Tensor, ...],
    weights: Sequence[Sequence[Weights]],
    dropout_p: float,
    training: bool,
) -> tuple[list[Tensor], tuple[Tensor, ...]]:
    """Run layers and directions over the steps of a batch of sequences.

    Parameters
    ----------
    mode : key of CELLS
    steps : T tensors (n_t, I); n_t never grows
    hidden : h, or h and c, each (layers * directions, N, H)
    weights : one row per layer, one entry per direction
    dropout_p : dropout between layers, in training

    Returns
    -------
    (T tensors (n_t, directions * H), final states like `hidden`)
    """
    cell = CELLS[mode]
    sizes = [s.shape[0] for s in steps]
    initial = list(zip(*(h.unbind(0) for h in hidden)))
    final: list[tuple] = []
    data = torch.cat(steps)
    for layer, row in enumerate(weights):
        if layer and dropout_p and training:
            data = torch.dropout(data, dropout_p, True)
        results = []
        for direction, w in enumerate(row):
            # One product for all times; only the recurrent one has to wait its turn.
            gates = torch._C._nn.linear(data, w.w_ih, w.b_ih).split(sizes)
            state = initial[layer * len(row) + direction]
            outputs, state = _run(cell, w, gates, state, reverse=direction == 1)
            results.append(torch.cat(outputs))
            final.append(state)
        data = results[0] if len(row) == 1 else torch.cat(results, -1)
    out = tuple(torch.stack(s) for s in zip(*final))
    return list(data.split(sizes)), out
