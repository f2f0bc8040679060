"""Worths from a service: calls, attempts of one call, answers on disk."""
