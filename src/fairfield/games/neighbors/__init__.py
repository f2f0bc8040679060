"""The rows of a data set under a nearest-neighbour model, in closed form."""
