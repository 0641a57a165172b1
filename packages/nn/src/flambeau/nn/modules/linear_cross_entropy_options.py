"""LinearCrossEntropyOptions."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["LinearCrossEntropyOptions"]


class LinearCrossEntropyOptions:
    """How linear_cross_entropy may chunk its logits. Kept and compared; results do not depend on it."""

    def __init__(
        self,
        allow_retain_graph: bool = False,
        batch_chunk_size: int | None = None,
        chunking_method: str | None = "auto",
        acc_policy: str = "auto",
        acc_dtype: Any = None,
    ) -> None:
        self.allow_retain_graph = allow_retain_graph
        self.batch_chunk_size = batch_chunk_size
        self.chunking_method = chunking_method
        self.acc_policy = acc_policy
        self.acc_dtype = acc_dtype

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]  # mutable and compared by value

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in self.__dict__.items())
        return f"{type(self).__name__}({fields})"
