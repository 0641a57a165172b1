# What flambeau/_index/serialization.py says, for type checkers; a test compares the two.
import flambeau.serialization as serialization
from flambeau.serialization import load as load
from flambeau.serialization import save as save

__all__ = ["load", "save", "serialization"]
