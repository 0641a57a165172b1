"""Top-level names that flambeau-serialization adds: name -> module, or module:attribute."""

NAMES: dict[str, str] = {
    "save": "flambeau.serialization:save",
    "load": "flambeau.serialization:load",
    "serialization": "flambeau.serialization",
}
