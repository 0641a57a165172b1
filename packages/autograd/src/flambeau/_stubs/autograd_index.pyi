# What flambeau/_index/autograd.py says, for type checkers; a test compares the two.
import flambeau.autograd as autograd

__all__ = ["autograd"]
