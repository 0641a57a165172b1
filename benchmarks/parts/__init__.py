"""One module per subject. Each has TITLE and either `cases() -> list[Case]` or `rows(root) -> list[Row]`."""
