# What flambeau/_index/nn.py says, for type checkers; a test compares the two.
import flambeau.nn as nn
import flambeau.optim as optim
import flambeau.utils as utils

__all__ = ["nn", "optim", "utils"]
