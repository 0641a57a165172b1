"""What goes wrong with files, and how it is said."""

from __future__ import annotations

import pickle

import flambeau

UnpicklingError = pickle.UnpicklingError
# A file is damaged, cut short, or not of a kind that is read here.
FormatError = flambeau.FormatError


def quoted(name: str) -> str:
    """The name of a file in double quotes, as messages show it."""
    return f'"{name}"'


def shown(value: object, limit: int = 80) -> str:
    """`repr` of a value from a file, cut short: a hostile file must not fill the terminal."""
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 4 * limit:
        return f"an integer of {value.bit_length()} bits"
    if isinstance(value, (str, bytes)) and len(value) > limit:
        return f"{value[:limit]!r}... ({len(value)} long)"
    # Containers are named by their kind: their text could be as large as the file, or endless.
    if isinstance(value, (str, bytes, int, float, complex, bool, type(None))):
        return repr(value)
    if isinstance(value, tuple) and all(isinstance(item, (str, int)) for item in value[:9]):
        inside = ", ".join(shown(item, 20) for item in value[:8])
        return f"({inside}, ... {len(value)} items)" if len(value) > 8 else f"({inside})"
    return f"a {type(value).__name__}"


def name_file(err: Exception, name: str) -> None:
    """Put the name of the file into a message that was made where it is not known."""
    message = str(err)
    if quoted(name) not in message:
        err.args = (message.replace("[load] ", f"[load] {quoted(name)}: ", 1),)
