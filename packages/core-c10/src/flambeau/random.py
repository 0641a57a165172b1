"""The default generator."""

from flambeau._C import Generator, Tensor, default_generator

__all__ = ["default_generator", "fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state"]


def manual_seed(seed: int) -> Generator:
    """Restart the default generator at a 64-bit seed (negative ones wrap). Returns the generator."""
    return default_generator.manual_seed(int(seed))


def seed() -> int:
    """Restart the default generator from the system's entropy; returns the seed."""
    return default_generator.seed()


def initial_seed() -> int:
    """The seed the default generator started from."""
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """State of the default generator: uint8, 5056 elements."""
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Restore a state that get_rng_state gave."""
    default_generator.set_state(new_state)


class fork_rng:
    """Inside the block random numbers leave the outer stream as it was."""

    def __init__(self, devices: object = None, enabled: bool = True, device_type: str = "cpu", **_: object) -> None:
        self.enabled = enabled

    def __enter__(self) -> None:
        self._state = get_rng_state() if self.enabled else None

    def __exit__(self, *exc: object) -> None:
        if self._state is not None:
            set_rng_state(self._state)
