"""Worths: where they are computed, and how much of it is allowed."""
