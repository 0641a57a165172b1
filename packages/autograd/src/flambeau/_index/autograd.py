"""Top-level names that flambeau-autograd adds."""

NAMES = {
    "autograd": "flambeau.autograd",
}
