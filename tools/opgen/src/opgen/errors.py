"""The error of an ill-formed table."""

from __future__ import annotations


class RecordError(ValueError):
    """A row or a body in schemas/ is ill formed; the message starts with file:line and says what is allowed."""
