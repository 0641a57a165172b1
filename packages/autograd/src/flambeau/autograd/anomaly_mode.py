"""Anomaly detection: a failing or NaN-making backward names the forward line."""

from flambeau.autograd import _C


class set_detect_anomaly:
    """Turn detection on or off at once; as a context manager, undo it at the end."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._saved = _C._set_anomaly_mode(bool(mode))

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        _C._set_anomaly_mode(self._saved)


class detect_anomaly(set_detect_anomaly):
    """Detection for a block: slow, for debugging."""

    def __init__(self, check_nan: bool = True) -> None:
        import warnings

        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for debugging.",
            stacklevel=2,
        )
        super().__init__(True, check_nan)
