"""Games fitted to sampled worths, whose values are known in closed form."""
