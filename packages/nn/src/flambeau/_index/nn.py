"""Top-level names that flambeau-nn adds, looked up on first use."""

NAMES = {
    "nn": "flambeau.nn",
    "optim": "flambeau.optim",
    "utils": "flambeau.utils",
    "_Parameter": "flambeau.nn:Parameter",
}
