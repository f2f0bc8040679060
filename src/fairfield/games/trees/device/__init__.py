"""Tree games whose rows are on a GPU."""
