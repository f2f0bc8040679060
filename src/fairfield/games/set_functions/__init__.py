"""Set functions of machine learning as games, in closed form."""
