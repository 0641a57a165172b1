"""AdamW under the module name that torch gives it."""

from flambeau.optim.adam import AdamW

__all__ = ["AdamW"]
