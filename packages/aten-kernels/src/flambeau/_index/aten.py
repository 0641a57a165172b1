"""Names that the operators bring beside their own."""

NAMES = {
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
    "unbind_copy": "flambeau.aten.functions:unbind_copy",
    "split_with_sizes_copy": "flambeau.aten.functions:split_with_sizes_copy",
    "split": "flambeau.aten.functions:split",
    "unravel_index": "flambeau.aten.functions:unravel_index",
    "linalg": "flambeau.linalg",
    "special": "flambeau.special",
    "einsum": "flambeau.aten.einsum:einsum",
    "tensordot": "flambeau.aten.products:tensordot",
    "chain_matmul": "flambeau.aten.products:chain_matmul",
    "lu": "flambeau.aten.linalg:lu",
}
