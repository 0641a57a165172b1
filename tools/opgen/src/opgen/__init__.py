"""flambeau's code generator: reads the records in schemas/ and prints what follows from them."""
