"""Walking a tree of modules: children, named members, look-up by dotted path."""

from __future__ import annotations

from flambeau.nn.parameter import Parameter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from flambeau import Tensor
    from flambeau.nn.modules.module import Module


class Tree:
    """The traversal half of Module; see Module."""

    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]

    def apply(self, fn: Callable[[Module], None]) -> Any:
        """Call `fn` on every submodule, children first, and on this module; returns self."""
        for module in self.children():
            module.apply(fn)
        fn(self)  # type: ignore[arg-type]
        return self

    def children(self) -> Iterator[Module]:
        """Iterate over the immediate children, each once."""
        for _, module in self.named_children():
            yield module

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """Iterate over (name, child), each child once, under its first name."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def modules(self, remove_duplicate: bool = True) -> Iterator[Module]:
        """Iterate over this module and all below it, parents first."""
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_modules(
        self, memo: set | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """Iterate over (dotted name, module) for this module ("" by default) and all below.

        Parameters
        ----------
        memo : modules already met, which are left out (and added to)
        prefix : put before every name
        remove_duplicate : yield a module that is reachable twice only once
        """
        if memo is None:
            memo = set()
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self  # type: ignore[misc]
        head = prefix + "." if prefix else ""
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, head + name, remove_duplicate)

    def _named_members(
        self,
        get_members_fn: Callable[[Module], Any],
        prefix: str = "",
        recurse: bool = True,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Any]]:
        """Iterate over the (name, value) pairs that `get_members_fn` finds in each module."""
        seen = set()
        owners = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else ((prefix, self),)
        for owner_name, owner in owners:
            head = owner_name + "." if owner_name else ""
            for name, value in get_members_fn(owner):  # type: ignore[arg-type]
                if value is None or value in seen:
                    continue
                if remove_duplicate:
                    seen.add(value)
                yield head + name, value

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Iterate over the parameters, each once; only this module's own unless `recurse`."""
        for _, param in self.named_parameters(recurse=recurse):
            yield param

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Iterate over (dotted name, parameter); a shared one appears under its first name."""
        yield from self._named_members(
            lambda module: module._parameters.items(), prefix=prefix, recurse=recurse, remove_duplicate=remove_duplicate
        )

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Iterate over the buffers, each once; only this module's own unless `recurse`."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Iterate over (dotted name, buffer); a shared one appears under its first name."""
        yield from self._named_members(
            lambda module: module._buffers.items(), prefix=prefix, recurse=recurse, remove_duplicate=remove_duplicate
        )

    def get_submodule(self, target: str) -> Module:
        """Return the module at the dotted path `target` ("" is this module).

        Raises
        ------
        AttributeError  if the path breaks off or ends at something that is no module
        """
        module: Any = self
        for name in target.split(".") if target else ():
            module = _member(module, name)
            if not isinstance(module, Tree):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Put `module` at the dotted path `target`.

        Parameters
        ----------
        target : path whose parents exist
        strict : whether there must be a module at `target` already

        Raises
        ------
        ValueError      if `target` is empty or `module` is no module
        AttributeError  if the path breaks off or leads through something that is no module
        """
        if not target:
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Tree):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        parent_path, _, name = target.rpartition(".")
        parent = self.get_submodule(parent_path)
        if strict or hasattr(parent, name):
            current = _member(parent, name)
            if not isinstance(current, Tree):
                raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """Return the parameter at the dotted path `target`.

        Raises
        ------
        AttributeError  if there is nothing, or something that is no parameter
        """
        path, _, name = target.rpartition(".")
        param = _member(self.get_submodule(path), name)
        if not isinstance(param, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return param

    def get_buffer(self, target: str) -> Tensor:
        """Return the buffer at the dotted path `target`.

        Raises
        ------
        AttributeError  if there is nothing, or something that is no buffer
        """
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        buffer = _member(module, name)
        if name not in module._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return buffer


def _member(module: Any, name: str) -> Any:
    if not hasattr(module, name):
        raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
    return getattr(module, name)
