"""Games given by their worths: a table, a function, a game of another library."""
