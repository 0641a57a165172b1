"""Signal processing: `flambeau.signal.windows`."""

from flambeau.signal import windows

__all__ = ["windows"]
