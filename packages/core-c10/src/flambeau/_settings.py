"""Process-wide switches that programs for torch set, of which the CPU needs none: what was set last is told again."""

from dataclasses import dataclass


@dataclass
class _Settings:
    interop_threads: int = 1
    deterministic: bool = False
    deterministic_warns_only: bool = False
    float32_matmul_precision: str = "highest"
    warn_always: bool = False


_settings = _Settings()


def get_num_interop_threads() -> int:
    """Threads for independent operators: operators of one program run one after another here."""
    return _settings.interop_threads


def set_num_interop_threads(num: int, /) -> None:
    """Accepted for programs that set it. Raises RuntimeError below 1."""
    if num <= 0:
        raise RuntimeError(f"expected a positive number of threads, got {num}")
    _settings.interop_threads = num


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Every CPU algorithm here is deterministic already; the flag is kept for are_deterministic_algorithms_enabled."""
    _settings.deterministic, _settings.deterministic_warns_only = bool(mode), bool(warn_only)


def are_deterministic_algorithms_enabled() -> bool:
    """What use_deterministic_algorithms set last."""
    return _settings.deterministic


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether use_deterministic_algorithms was asked to warn instead of refusing."""
    return _settings.deterministic_warns_only


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """use_deterministic_algorithms by number or name: 0 'default', 1 'warn', 2 'error'. Raises RuntimeError for others."""
    names = {"default": 0, "warn": 1, "error": 2}
    mode = names.get(debug_mode, debug_mode) if isinstance(debug_mode, str) else debug_mode
    if mode not in (0, 1, 2):
        raise RuntimeError(f"invalid value for debug_mode: {debug_mode!r}; allowed: 0 'default', 1 'warn', 2 'error'")
    use_deterministic_algorithms(mode != 0, warn_only=mode == 1)


def get_deterministic_debug_mode() -> int:
    """0: off, 1: warns, 2: refuses."""
    return 0 if not _settings.deterministic else 1 if _settings.deterministic_warns_only else 2


def get_float32_matmul_precision() -> str:
    """What set_float32_matmul_precision set last."""
    return _settings.float32_matmul_precision


def set_float32_matmul_precision(precision: str) -> None:
    """Products of float32 matrices are float32 on the CPU whatever is asked for; the word is kept."""
    if precision not in ("highest", "high", "medium"):
        raise RuntimeError(f"{precision} is not one of 'highest', 'high', or 'medium'")
    _settings.float32_matmul_precision = precision


def set_warn_always(b: bool, /) -> None:
    """Accepted for programs that set it: Python's filters decide how often a warning is shown."""
    _settings.warn_always = bool(b)


def is_warn_always_enabled() -> bool:
    """What set_warn_always set last."""
    return _settings.warn_always


def set_flush_denormal(mode: bool) -> bool:
    """Denormal numbers are always kept. Returns whether the setting took effect: False for flushing."""
    return not mode
