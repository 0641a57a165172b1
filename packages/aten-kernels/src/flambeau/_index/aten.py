"""Names that the operators bring beside their own."""

LOAD = "flambeau.aten"  # with `import flambeau`
NAMES = {
    "trapezoid": "flambeau.aten.integrals:trapezoid",
    "trapz": "flambeau.aten.integrals:trapezoid",
    "cumulative_trapezoid": "flambeau.aten.integrals:cumulative_trapezoid",
    "cdist": "flambeau.aten.distances:cdist_by_name",
    "unique": "flambeau.aten.sort:unique",
    "unique_consecutive": "flambeau.aten.sort:unique_consecutive",
    "atleast_1d": "flambeau.aten.functions:atleast_1d",
    "atleast_2d": "flambeau.aten.functions:atleast_2d",
    "atleast_3d": "flambeau.aten.functions:atleast_3d",
    "block_diag": "flambeau.aten.functions:block_diag",
    "broadcast_tensors": "flambeau.aten.functions:broadcast_tensors",
    "cartesian_prod": "flambeau.aten.functions:cartesian_prod",
    "meshgrid": "flambeau.aten.functions:meshgrid",
    "nonzero": "flambeau.aten.functions:nonzero",
    "split": "flambeau.aten.functions:split",
    "gradient": "flambeau.aten.differences:gradient",
    "histogramdd": "flambeau.aten.statistics:histogramdd",
    "unravel_index": "flambeau.aten.functions:unravel_index",
    "torch": "flambeau",  # `torch.torch` is how PyTorch's own module names itself
    "fft": "flambeau.fft",
    "linalg": "flambeau.linalg",
    "special": "flambeau.special",
    "signal": "flambeau.signal",
    "masked": "flambeau.masked",
    "einsum": "flambeau.aten.einsum:einsum",
    "tensordot": "flambeau.aten.products:tensordot",
    "chain_matmul": "flambeau.aten.products:chain_matmul",
    "lu": "flambeau.aten.linalg:lu",
}
