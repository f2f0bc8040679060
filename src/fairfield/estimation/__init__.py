"""Estimates from a budget of coalitions: which to evaluate, and what follows."""
