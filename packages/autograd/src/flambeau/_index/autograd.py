"""Top-level names that flambeau-autograd adds."""

LOAD = "flambeau.autograd"  # with `import flambeau`
NAMES = {
    "autograd": "flambeau.autograd",
}
