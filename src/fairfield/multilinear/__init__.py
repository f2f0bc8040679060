"""The exact multilinear extension of a table of all worths."""
