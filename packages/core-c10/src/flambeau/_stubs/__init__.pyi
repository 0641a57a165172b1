# Only type checkers read this folder: each package adds stubs of the names it brings to `flambeau` and to Tensor.
