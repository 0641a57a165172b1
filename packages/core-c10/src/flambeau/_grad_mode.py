"""Switches of gradient recording, usable as context managers and as decorators."""

from collections.abc import Callable

from flambeau import _C


class _Switch:
    """Base: enters a state, restores what was there."""

    def __enter__(self) -> "_Switch":
        raise RuntimeError("abstract")

    def __exit__(self, *exc: object) -> None:
        raise RuntimeError("abstract")

    def clone(self) -> "_Switch":
        return type(self)()

    def __call__(self, function: Callable) -> Callable:
        import functools  # not at the top: flambeau loads this module, and inspect alone takes longer than all of it
        import inspect

        if inspect.isclass(function):
            raise TypeError(f"{type(self).__name__} decorates functions, got the class {function.__name__}")
        if inspect.isgeneratorfunction(function):

            @functools.wraps(function)
            def generator(*args: object, **kwargs: object) -> object:
                inner = function(*args, **kwargs)
                sent = None
                while True:
                    with self.clone():
                        try:
                            value = inner.send(sent)
                        except StopIteration as stop:
                            return stop.value
                    sent = yield value

            return generator

        @functools.wraps(function)
        def call(*args: object, **kwargs: object) -> object:
            with self.clone():
                return function(*args, **kwargs)

        return call


class no_grad(_Switch):
    """Operators inside record no gradients."""

    def __new__(cls, function: Callable | None = None) -> object:
        self = super().__new__(cls)
        return self if function is None else self(function)

    def __enter__(self) -> None:
        self._saved = _C._set_grad_enabled(False)

    def __exit__(self, *exc: object) -> None:
        _C._set_grad_enabled(self._saved)


class enable_grad(_Switch):
    """Operators inside record gradients, within no_grad too."""

    def __new__(cls, function: Callable | None = None) -> object:
        self = super().__new__(cls)
        return self if function is None else self(function)

    def __enter__(self) -> None:
        self._saved = _C._set_grad_enabled(True)

    def __exit__(self, *exc: object) -> None:
        _C._set_grad_enabled(self._saved)


class set_grad_enabled(_Switch):
    """Takes effect at once, as a function; as a context manager it is undone at the end."""

    def __init__(self, mode: bool) -> None:
        self.mode = bool(mode)
        self._saved = _C._set_grad_enabled(self.mode)

    def __enter__(self) -> None:
        _C._set_grad_enabled(self.mode)

    def __exit__(self, *exc: object) -> None:
        _C._set_grad_enabled(self._saved)

    def clone(self) -> "set_grad_enabled":
        return set_grad_enabled(self.mode)

    def __call__(self, function: Callable) -> Callable:

        _C._set_grad_enabled(self._saved)
        return super().__call__(function)


class inference_mode(_Switch):
    """No gradients, no version counting: tensors made inside can never take part in autograd."""

    def __new__(cls, mode: object = True) -> object:
        self = super().__new__(cls)
        if callable(mode) and not isinstance(mode, bool):
            self.mode = True
            return self(mode)
        self.mode = bool(mode)
        return self

    def __init__(self, mode: bool = True) -> None:
        pass

    def __enter__(self) -> None:
        self._saved = (_C._set_inference_mode(self.mode), _C._set_grad_enabled(not self.mode))

    def __exit__(self, *exc: object) -> None:
        inference, grad = self._saved
        _C._set_inference_mode(inference)
        _C._set_grad_enabled(grad)

    def clone(self) -> "inference_mode":
        return inference_mode(self.mode)
