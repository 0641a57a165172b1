"""Anomaly detection: a failing or NaN-making backward names the forward line."""

from flambeau.autograd import _C

__all__ = [
    "detect_anomaly",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "set_anomaly_enabled",
    "set_detect_anomaly",
]


def is_anomaly_enabled() -> bool:
    """Whether anomaly detection is on in this thread."""
    return _C._anomaly_mode()[0]


def is_anomaly_check_nan_enabled() -> bool:
    """Whether anomaly detection, where it is on, looks for NaN in gradients."""
    return _C._anomaly_mode()[1]


def set_anomaly_enabled(mode: bool, check_nan: bool = True) -> None:
    """Turn detection on or off in this thread."""
    _C._set_anomaly_mode(mode, check_nan)


class set_detect_anomaly:
    """Turn detection on or off at once; as a context manager, undo it at the end.

    Parameters
    ----------
    mode : bool
    check_nan : bool, whether a backward that gives NaN is an error too
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._saved = _C._set_anomaly_mode(bool(mode), check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        _C._set_anomaly_mode(*self._saved)


class detect_anomaly(set_detect_anomaly):
    """Detection for a block: slow, for debugging."""

    def __init__(self, check_nan: bool = True) -> None:
        import warnings

        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for debugging.",
            stacklevel=2,
        )
        super().__init__(True, check_nan)
