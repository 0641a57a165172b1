"""Recurrent layers, attention and transformers."""

from __future__ import annotations

import flambeau as fl
import numpy as np
import pytest
from flambeau import nn
from flambeau.nn import functional as F

rng = np.random.default_rng(2)


def tensor(*shape: int) -> fl.Tensor:
    return fl.from_numpy(rng.standard_normal(shape).astype(np.float32))


def array(t: fl.Tensor) -> np.ndarray:
    return t.detach().numpy()


def close(t: fl.Tensor, expected, tol: float = 1e-5) -> None:
    np.testing.assert_allclose(array(t), expected, rtol=tol, atol=tol)


def sigmoid(v: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-v))


def run_lstm(x: np.ndarray, m: nn.LSTM, suffix: str = "l0") -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    w_ih, w_hh, b_ih, b_hh = (
        array(getattr(m, f"{name}_{suffix}")) for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    )
    h = c = np.zeros((x.shape[1], m.hidden_size), dtype=np.float32)
    out = []
    for step in x:
        i, f, g, o = np.split(step @ w_ih.T + b_ih + h @ w_hh.T + b_hh, 4, axis=1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        out.append(h)
    return np.stack(out), h, c


def test_lstm_is_the_formula():
    m = nn.LSTM(3, 4)
    x = tensor(5, 2, 3)
    out, (h, c) = m(x)
    expected, last_h, last_c = run_lstm(array(x), m)
    close(out, expected)
    close(h, last_h[None])
    close(c, last_c[None])


def test_bidirectional_runs_backwards_too():
    m = nn.LSTM(3, 4, bidirectional=True)
    x = tensor(5, 2, 3)
    out, (h, _) = m(x)
    ahead, last, _ = run_lstm(array(x), m)
    back, first, _ = run_lstm(array(x)[::-1], m, "l0_reverse")
    close(out, np.concatenate([ahead, back[::-1]], -1))
    close(h, np.stack([last, first]))


def test_gru_and_rnn_are_the_formulas():
    x = tensor(4, 2, 3)
    m = nn.GRU(3, 5)
    w_ih, w_hh, b_ih, b_hh = (array(p) for p in m.all_weights[0])
    h = np.zeros((2, 5), dtype=np.float32)
    for step in array(x):
        x_r, x_z, x_n = np.split(step @ w_ih.T + b_ih, 3, 1)
        h_r, h_z, h_n = np.split(h @ w_hh.T + b_hh, 3, 1)
        z = sigmoid(x_z + h_z)
        n = np.tanh(x_n + sigmoid(x_r + h_r) * h_n)
        h = (1 - z) * n + z * h
    close(m(x)[1], h[None])
    r = nn.RNN(3, 5, nonlinearity="relu", bias=False)
    w_ih, w_hh = (array(p) for p in r.all_weights[0])
    h = np.zeros((2, 5), dtype=np.float32)
    for step in array(x):
        h = np.maximum(step @ w_ih.T + h @ w_hh.T, 0)
    close(r(x)[1], h[None])


@pytest.mark.parametrize("kind", [nn.RNN, nn.GRU, nn.LSTM])
def test_layouts_and_single_sequences_agree(kind):
    m = kind(3, 4, num_layers=2, bidirectional=True)
    x = tensor(5, 2, 3)
    out, state = m(x)
    first = kind(3, 4, num_layers=2, bidirectional=True, batch_first=True)
    first.load_state_dict(m.state_dict())
    close(first(x.transpose(0, 1))[0], array(out).transpose(1, 0, 2))
    single, one_state = m(x[:, 0])
    close(single, array(out)[:, 0], 1e-4)
    h = state[0] if kind is nn.LSTM else state
    one = one_state[0] if kind is nn.LSTM else one_state
    close(one, array(h)[:, 0], 1e-4)
    again, _ = m(x[2:], m(x[:2])[1]) if not m.bidirectional else m(x)
    assert tuple(again.shape) == (5, 2, 8)


def test_a_state_carries_over():
    m = nn.LSTM(3, 4)
    x = tensor(6, 2, 3)
    whole, _ = m(x)
    head, state = m(x[:2])
    tail, _ = m(x[2:], state)
    close(tail, array(whole)[2:])
    close(head, array(whole)[:2])


def test_projection_shrinks_the_state():
    m = nn.LSTM(3, 4, proj_size=2)
    out, (h, c) = m(tensor(5, 2, 3))
    assert tuple(out.shape) == (5, 2, 2)
    assert tuple(h.shape) == (1, 2, 2)
    assert tuple(c.shape) == (1, 2, 4)
    assert list(m.state_dict())[-1] == "weight_hr_l0"
    assert repr(m) == "LSTM(3, 4, proj_size=2)"


def test_packed_sequences_equal_running_each_alone():
    from flambeau.nn.utils.rnn import pack_sequence, pad_packed_sequence

    lengths = [5, 3, 2, 4]
    sequences = [tensor(n, 3) for n in lengths]
    m = nn.GRU(3, 4, bidirectional=True)
    out, h = m(pack_sequence(sequences, enforce_sorted=False))
    padded, _ = pad_packed_sequence(out)
    for i, s in enumerate(sequences):
        alone, last = m(s)
        close(padded[: lengths[i], i], array(alone), 1e-4)
        close(h[:, i], array(last), 1e-4)


def test_cells_step_as_layers_do():
    x = tensor(3, 2, 3)
    for cell_kind, kind in ((nn.LSTMCell, nn.LSTM), (nn.GRUCell, nn.GRU), (nn.RNNCell, nn.RNN)):
        m, cell = kind(3, 4), cell_kind(3, 4)
        cell.load_state_dict({k.removesuffix("_l0"): v for k, v in m.state_dict().items()})
        state = None
        for step in x:
            state = cell(step, state)
        last = m(x)[1]
        close(state[0] if kind is nn.LSTM else state, array(last[0] if kind is nn.LSTM else last)[0])
        one = cell(x[0, 0])
        assert tuple((one[0] if kind is nn.LSTM else one).shape) == (4,)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: nn.LSTM(3, 4)(tensor(3)), ValueError, "Expected input to be 2D or 3D, got 1D"),
        (lambda: nn.LSTM(3, 4)(tensor(2, 2, 5)), RuntimeError, "Expected 3, got 5"),
        (lambda: nn.GRU(3, 4)(tensor(2, 2, 3), tensor(1, 4)), RuntimeError, "hx should also be 3-D but got 2-D"),
        (lambda: nn.GRU(3, 4)(tensor(2, 2, 3), tensor(1, 3, 4)), RuntimeError, r"Expected hidden size \(1, 2, 4\)"),
        (lambda: nn.LSTM(3, 4)(tensor(2, 2, 3), (tensor(1, 2, 4), tensor(1, 2, 5))), RuntimeError, r"hidden\[1\]"),
        (lambda: nn.GRU(3, 4)(tensor(2, 2, 3).double()), ValueError, "does not match weight dtype"),
        (lambda: nn.LSTM(3, 4)(tensor(0, 2, 3)), RuntimeError, "sequence length to be larger than 0"),
        (lambda: nn.LSTM(3, 0), ValueError, "hidden_size must be greater than zero"),
        (lambda: nn.LSTM(3, 4, 0), ValueError, "num_layers must be greater than zero"),
        (lambda: nn.LSTM(3, 4.0), TypeError, "hidden_size should be of type int, got: float"),
        (lambda: nn.GRU(3, 4, dropout=2), ValueError, r"in range \[0, 1\]"),
        (lambda: nn.GRU(3, 4, proj_size=2), ValueError, "only supported for LSTM"),
        (lambda: nn.RNN(3, 4, nonlinearity="foo"), ValueError, "Unknown nonlinearity 'foo'"),
        (lambda: nn.LSTMCell(3, 4)(tensor(2, 2, 3)), ValueError, "Expected input to be 1D or 2D, got 3D"),
        (lambda: nn.GRUCell(3, 4)(tensor(2, 5)), RuntimeError, "inconsistent input_size: got 5 expected 3"),
        (lambda: nn.GRUCell(3, 4)(tensor(2, 3), tensor(3, 4)), RuntimeError, "doesn't match hidden0 batch size 3"),
        (lambda: nn.MultiheadAttention(4, 3), AssertionError, "divisible by num_heads"),
        (lambda: nn.MultiheadAttention(0, 1), ValueError, "must be greater than 0"),
        (lambda: attend(tensor(4)), AssertionError, "2D or batched 3D tensor but received 1-D"),
        (lambda: attend(tensor(2, 2, 5)), AssertionError, "was expecting embedding dimension of 4, but got 5"),
        (lambda: attend(tensor(2, 2, 4), attn_mask=fl.zeros(3, 3)), RuntimeError, r"should be \(2, 2\)"),
        (lambda: attend(tensor(2, 2, 4), is_causal=True), RuntimeError, "Need attn_mask"),
        (lambda: nn.TransformerEncoderLayer(8, 2, activation="foo"), RuntimeError, "relu/gelu, not foo"),
        (lambda: nn.Transformer(8, 2, 1, 1, 16)(tensor(3, 2, 8), tensor(4, 1, 8)), RuntimeError, "batch number"),
    ],
)
def test_bad_arguments(call, error, text):
    with pytest.raises(error, match=text):
        call()


def attend(x: fl.Tensor, **kwargs):
    return nn.MultiheadAttention(4, 2)(x, x, x, **kwargs)


def test_dropout_of_one_layer_warns():
    with pytest.warns(UserWarning, match="all but last recurrent layer"):
        nn.LSTM(3, 4, dropout=0.5)


def softmax(v: np.ndarray) -> np.ndarray:
    e = np.exp(v - v.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def attention(m: nn.MultiheadAttention, x: np.ndarray, mask: np.ndarray | None = None):
    """(L, N, E), written out."""
    length, n, e = x.shape
    h, d = m.num_heads, e // m.num_heads
    q, k, v = np.split(x @ array(m.in_proj_weight).T + array(m.in_proj_bias), 3, -1)
    q, k, v = (t.reshape(length, n, h, d).transpose(1, 2, 0, 3) for t in (q, k, v))
    scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(d)
    if mask is not None:
        scores = scores + mask
    weights = softmax(scores)
    out = (weights @ v).transpose(2, 0, 1, 3).reshape(length, n, e)
    return out @ array(m.out_proj.weight).T + array(m.out_proj.bias), weights


def test_attention_is_the_formula_on_both_paths():
    m = nn.MultiheadAttention(8, 2)
    x = tensor(3, 2, 8)
    expected, weights = attention(m, array(x))
    out, w = m(x, x, x)
    close(out, expected, 1e-4)
    close(w, weights.mean(1), 1e-4)
    close(m(x, x, x, average_attn_weights=False)[1], weights, 1e-4)
    out, w = m(x, x, x, need_weights=False)
    assert w is None
    close(out, expected, 1e-4)
    close(m(x[:, 0], x[:, 0], x[:, 0])[0], expected[:, 0], 1e-4)


def test_masks_hide_positions():
    m = nn.MultiheadAttention(8, 2, batch_first=True)
    x = tensor(2, 3, 8)
    causal = nn.Transformer.generate_square_subsequent_mask(3)
    expected, _ = attention(m, array(x).transpose(1, 0, 2), array(causal))
    for kwargs in ({}, {"need_weights": False}, {"need_weights": False, "is_causal": True}):
        close(m(x, x, x, attn_mask=causal, **kwargs)[0], expected.transpose(1, 0, 2), 1e-4)
    hidden = fl.tensor([[False, False, True], [False, False, False]])
    _, w = m(x, x, x, key_padding_mask=hidden)
    assert w[0, :, 2].abs().max().item() == 0
    assert w[1, :, 2].abs().min().item() > 0


def test_other_sizes_of_key_and_value():
    m = nn.MultiheadAttention(8, 2, kdim=4, vdim=6, add_bias_kv=True, add_zero_attn=True)
    q, k, v = tensor(3, 2, 8), tensor(5, 2, 4), tensor(5, 2, 6)
    out, w = m(q, k, v)
    assert tuple(out.shape) == (3, 2, 8)
    assert tuple(w.shape) == (2, 3, 7)
    close(m(q, k, v, need_weights=False)[0], array(out), 1e-4)


def test_encoder_layer_orders_norms():
    x = tensor(3, 2, 8)
    for norm_first in (False, True):
        m = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, norm_first=norm_first)

        def feed(v, m=m):
            return m.linear2(F.relu(m.linear1(v)))

        def look(v, m=m):
            return m.self_attn(v, v, v, need_weights=False)[0]

        if norm_first:
            a = x + look(m.norm1(x))
            expected = a + feed(m.norm2(a))
        else:
            a = m.norm1(x + look(x))
            expected = m.norm2(a + feed(a))
        close(m(x), array(expected), 1e-4)


def test_transformer_runs_and_respects_causality():
    m = nn.Transformer(8, 2, 1, 1, 16, dropout=0.0, batch_first=True, activation="gelu")
    src, tgt = tensor(2, 3, 8), tensor(2, 4, 8)
    mask = m.generate_square_subsequent_mask(4)
    out = m(src, tgt, tgt_mask=mask)
    changed = tgt.clone()
    changed[:, -1] = 0
    again = m(src, changed, tgt_mask=mask)
    close(again[:, :-1], array(out)[:, :-1])
    assert not np.allclose(array(again)[:, -1], array(out)[:, -1])


def test_encoder_stack_copies_its_layer():
    layer = nn.TransformerEncoderLayer(8, 2, 16)
    m = nn.TransformerEncoder(layer, 2, nn.LayerNorm(8)).eval()
    assert m.layers[0] is not layer
    assert bool((m.layers[0].linear1.weight == m.layers[1].linear1.weight).all())
    assert tuple(m(tensor(3, 2, 8)).shape) == (3, 2, 8)


def test_flex_attention_matches_the_plain_one():
    from flambeau.nn.attention.flex_attention import create_block_mask, flex_attention

    q, k, v = (tensor(2, 2, 6, 4) for _ in range(3))
    block_mask = create_block_mask(lambda b, h, i, j: i >= j, None, None, 6, 6, BLOCK_SIZE=2)
    close(
        flex_attention(q, k, v, block_mask=block_mask), array(F.scaled_dot_product_attention(q, k, v, is_causal=True))
    )
    assert block_mask.to_dense()[0, 0].tolist() == [[1, 0, 0], [1, 1, 0], [1, 1, 1]]


def test_sdpa_kernel_keeps_the_choice():
    from flambeau.nn.attention import SDPBackend, _cur_sdpa_kernel_backends, sdpa_kernel

    with sdpa_kernel(SDPBackend.MATH):
        assert _cur_sdpa_kernel_backends() == [SDPBackend.MATH]
    assert len(_cur_sdpa_kernel_backends()) == 5
    with pytest.raises(AssertionError, match="got int"), sdpa_kernel(3):
        pass
