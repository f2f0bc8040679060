"""A game that counts what it is asked."""

from __future__ import annotations


class Counted:
    """A worth function that counts the coalitions it was asked for."""

    def __init__(self) -> None:
        self.coalitions = 0

    def __call__(self, S):
        self.coalitions += len(S)
        return S.any(axis=1) + 0.1 * S.sum(axis=1) - 0.05 * S[:, 0] * S[:, 1]
