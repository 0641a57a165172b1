"""What type checkers say where flambeau-core-c10 is installed alone: names of the other packages are unknown, no more.

Nothing here is executed.
"""

from __future__ import annotations

from typing import assert_type

import flambeau as torch
from flambeau import Tensor

x = torch.tensor([1.0, 2.0], dtype=torch.float64)
assert_type(x, Tensor)
assert_type(x.shape, torch.Size)
assert_type(x.view(2, 1), Tensor)
assert_type(x.dim(), int)
assert_type(x + 1, Tensor)
assert_type(torch.finfo(torch.float32).eps, float)
with torch.no_grad():
    pass

torch.sort(x)  # type: ignore[attr-defined]
torch.nn.Linear(2, 3)  # type: ignore[attr-defined]
torch.save(x, "x.pt")  # type: ignore[attr-defined]
