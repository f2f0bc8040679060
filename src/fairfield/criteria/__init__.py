"""Criteria: readings of the gradient of the multilinear extension."""
