"""What type checkers must say about programs that use flambeau: `nox -s typecheck` runs them over this file.

Nothing here is executed.
"""

from __future__ import annotations

from typing import assert_type

import flambeau as torch
import flambeau.nn.functional as F
from flambeau import Tensor, nn


def functions(x: Tensor, y: Tensor) -> None:
    assert_type(torch.add(x, y, alpha=2), Tensor)
    assert_type(torch.add(x, 1, out=y), Tensor)
    assert_type(torch.zeros(2, 3), Tensor)
    assert_type(torch.zeros((2, 3), dtype=torch.float64, device="cpu", requires_grad=True), Tensor)
    assert_type(torch.zeros(x.shape, dtype=float), Tensor)
    assert_type(torch.empty([2, 3]), Tensor)
    assert_type(torch.arange(10), Tensor)
    assert_type(torch.arange(0, 10, 2), Tensor)
    assert_type(torch.cat([x, y], dim=0), Tensor)
    assert_type(torch.cat((x, nn.Parameter(y))), Tensor)
    assert_type(torch.where(x > 0, x, y), Tensor)
    assert_type(torch.where(x > 0), tuple[Tensor, ...])
    assert_type(torch.clamp(x, 0, 1), Tensor)
    assert_type(torch.clamp(x, max=y), Tensor)
    assert_type(torch.sum(x), Tensor)
    assert_type(torch.sum(x, 1, keepdim=True, dtype=torch.float64), Tensor)
    assert_type(torch.max(x), Tensor)
    assert_type(torch.max(x, 0).indices, Tensor)
    assert_type(torch.max(x, y), Tensor)
    assert_type(torch.split(x, [1, 2]), tuple[Tensor, ...])
    assert_type(torch.einsum("ij,jk->ik", x, y), Tensor)
    assert_type(torch.tensor([[1, 2], [3, 4]], dtype=torch.int32), Tensor)
    assert_type(torch.as_tensor(3.0), Tensor)
    assert_type(torch.relu_(x), Tensor)
    assert_type(torch.manual_seed(0), torch.Generator)
    assert_type(torch.is_tensor(x), bool)
    assert_type(torch.get_default_dtype(), torch.dtype)
    assert_type(torch.promote_types(torch.float32, torch.int64), torch.dtype)
    assert_type(torch.pi, float)


def named_results(x: Tensor) -> None:
    values, indices = torch.sort(x, dim=1, descending=True)
    assert_type(values, Tensor)
    assert_type(indices, Tensor)
    assert_type(x.topk(3).values, Tensor)
    q, r = torch.linalg.qr(x)
    assert_type(q @ r, Tensor)
    assert_type(torch.linalg.svd(x).Vh, Tensor)
    assert_type(torch.var_mean(x), tuple[Tensor, Tensor])


def modules_of_operators(x: Tensor) -> None:
    assert_type(torch.linalg.norm(x), Tensor)
    assert_type(torch.linalg.solve(x, x), Tensor)
    assert_type(torch.fft.fft(x, n=8), Tensor)
    assert_type(torch.special.expit(x), Tensor)
    assert_type(F.softmax(x, dim=1), Tensor)
    assert_type(F.conv2d(x, x, stride=2, padding="same"), Tensor)
    assert_type(F.gelu(x, approximate="tanh"), Tensor)
    assert_type(F.linear(x, x, None), Tensor)
    assert_type(F.scaled_dot_product_attention(x, x, x, is_causal=True), Tensor)


def methods(x: Tensor, y: Tensor) -> None:
    assert_type(x.add_(1), Tensor)
    assert_type(x.add(y, alpha=0.5).mul_(2).clamp_(0, 1), Tensor)
    assert_type(x.sum(dim=1, keepdim=True), Tensor)
    assert_type(x.sum(dim=(0, 1)), Tensor)
    assert_type(x.view(2, -1), Tensor)
    assert_type(x.view((2, -1)), Tensor)
    assert_type(x.view(torch.int32), Tensor)
    assert_type(x.permute(1, 0).reshape(-1).unsqueeze(0), Tensor)
    assert_type(x.expand(-1, 3), Tensor)
    assert_type(x.to("cpu"), Tensor)
    assert_type(x.to(torch.float64), Tensor)
    assert_type(x.to(torch.device("cpu"), torch.float32, non_blocking=True), Tensor)
    assert_type(x.to(y), Tensor)
    assert_type(x.float().int().bool(), Tensor)
    assert_type(x.unbind(), tuple[Tensor, ...])
    assert_type(x.chunk(2, dim=1), tuple[Tensor, ...])
    assert_type(x.nonzero(), Tensor)
    assert_type(x.nonzero(as_tuple=True), tuple[Tensor, ...])
    assert_type(x.new_zeros(2, 3), Tensor)
    assert_type(x.uniform_(0, 1), Tensor)
    assert_type(x.type(), str)
    assert_type(x.type(torch.float64), Tensor)
    assert_type(x.resize_(2, 3), Tensor)
    assert_type(x.is_floating_point(), bool)
    assert_type(float(x.item()), float)


def attributes(x: Tensor) -> None:
    assert_type(x.shape, torch.Size)
    assert_type(x.shape[0], int)
    assert_type(x.shape[1:], torch.Size)
    assert_type(x.size(), torch.Size)
    assert_type(x.size(0), int)
    assert_type(x.stride(), tuple[int, ...])
    assert_type(x.dtype, torch.dtype)
    assert_type(x.device, torch.device)
    assert_type(x.device.index, int | None)
    assert_type(x.ndim, int)
    assert_type(x.T, Tensor)
    assert_type(x.grad, Tensor | None)
    assert_type(x.requires_grad, bool)
    assert_type(x.is_cpu, bool)
    assert_type(torch.float32, torch.dtype)
    assert_type(torch.float32.itemsize, int)
    assert_type(torch.Size([1, 2]).numel(), int)
    assert_type(torch.finfo(torch.float32).eps, float)
    x.requires_grad = True
    x.data = x * 2
    x.grad = None


def language(x: Tensor, y: Tensor) -> None:
    assert_type(x + 1, Tensor)
    assert_type(1 - x, Tensor)
    assert_type(x / y, Tensor)
    assert_type(2**x, Tensor)
    assert_type(x @ y, Tensor)
    assert_type(-x, Tensor)
    assert_type(x == y, Tensor)
    assert_type(x < 0.5, Tensor)
    assert_type((x > 0) & ~(y > 0), Tensor)
    assert_type(x[0], Tensor)
    assert_type(x[..., None, 1:3], Tensor)
    assert_type(x[x > 0], Tensor)
    assert_type(len(x), int)
    assert_type(bool(x), bool)
    x[0, 1:] = 3
    x[y > 0] = y
    x += 1
    x **= 2
    for row in x:
        assert_type(row, Tensor)


@torch.no_grad()
def evaluate(model: nn.Module, x: Tensor) -> int:
    model.eval()
    return int(model(x).argmax(dim=1).sum())


@torch.no_grad
def also_a_decorator(x: Tensor) -> Tensor:
    return x * 2


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx: torch.autograd.function.FunctionCtx, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx: torch.autograd.function.FunctionCtx, grad: Tensor) -> Tensor:
        return grad * 2


class Network(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Flatten())
        self.head = nn.Linear(8, 10)
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.body(x)) * self.scale


def training(x: Tensor, labels: Tensor) -> None:
    model = Network()
    assert_type(model.head, nn.Linear)
    assert_type(model.head.weight, Tensor)
    assert_type(model.scale, nn.Parameter)
    assert_type(torch.nn.Linear(2, 3), nn.Linear)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, betas=(0.9, 0.99))
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=10)
    data = torch.utils.data.TensorDataset(x, labels)
    for inputs, targets in torch.utils.data.DataLoader(data, batch_size=8, shuffle=True):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(inputs), targets)
        assert_type(loss, Tensor)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    schedule.step()
    with torch.no_grad(), torch.inference_mode():
        assert_type(evaluate(model, x), int)
        assert_type(also_a_decorator(x), Tensor)
    with torch.set_grad_enabled(False):
        pass
    handle = x.register_hook(lambda grad: grad * 2)
    handle.remove()
    torch.autograd.grad(x.sum(), [x], create_graph=True)
    assert_type(torch.autograd.gradcheck(lambda t: t * 2, (x,)), bool)


def files(model: nn.Module) -> None:
    torch.save(model.state_dict(), "model.pt")
    model.load_state_dict(torch.load("model.pt", map_location="cpu"))
    with open("model.pt", "wb") as f:
        torch.save({"x": 1}, f)
