"""Coalitions that were asked for and what was received for them, in order."""

from __future__ import annotations

from collections.abc import Container

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.evaluation.kept import pack


class Received:
    """The worths of coalitions in the order in which they were asked for."""

    def __init__(self) -> None:
        self._worths: list[FloatArray] = []
        self._noise: list[FloatArray] = []

    def tell(
        self, coalitions: BoolArray, worths: FloatArray, variances: FloatArray | None = None
    ) -> None:
        """Keep the worths (*batch, m) of the next coalitions, and their variances where noisy."""
        self._worths.append(worths)
        if variances is not None:
            self._noise.append(variances)

    def revise(self, worths: FloatArray, variances: FloatArray | None = None) -> None:
        """Replace all of them."""
        self._worths, self._noise = [worths], [] if variances is None else [variances]

    def worths(self) -> FloatArray:
        """All worths, (*batch, m)."""
        return np.concatenate(self._worths, axis=-1)

    def noise(self) -> FloatArray | None:
        """The variances of these worths, where they are noisy."""
        return np.concatenate(self._noise, axis=-1) if self._noise else None


def ends(players: int) -> BoolArray:
    """∅ and N."""
    return np.repeat([[False], [True]], players, axis=1)


def keys_of(coalitions: BoolArray) -> list[bytes]:
    """One string of bytes per coalition."""
    return [bytes(key) for key in pack(coalitions).tolist()]


def unseen(coalitions: BoolArray, seen: Container[bytes]) -> dict[bytes, int]:
    """The first row of each coalition that was not seen before, by its key, in their order."""
    found: dict[bytes, int] = {}
    for row, key in enumerate(keys_of(coalitions)):
        if key not in seen:
            found.setdefault(key, row)
    return found
