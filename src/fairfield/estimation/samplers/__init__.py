"""Ways to estimate a criterion from a budget of coalitions, by name."""
