"""A prior over games: kernels, and what the worths of some coalitions leave of it."""
