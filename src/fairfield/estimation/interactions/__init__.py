"""Interactions from some worths: what surrogates say of coalitions, and how wrong that may be."""
