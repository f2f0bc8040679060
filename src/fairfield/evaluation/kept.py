"""Worths that were evaluated, by coalition, packed tightly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.game import Failures, Game, Measured

Keys = NDArray[np.bytes_]


def kept_axes(game: Game) -> tuple[int, ...]:
    """The leading axes of what is kept: the batch, twice over where variances are kept too."""
    return (2, *game.batch) if game.traits.noisy else game.batch


def stacked(game: Game, found: Measured) -> FloatArray:
    """Worths (*batch, m); of a noisy game worths and variances (2, *batch, m)."""
    if not game.traits.noisy:
        return found.worths
    variances = np.zeros_like(found.worths) if found.variances is None else found.variances
    return np.stack([found.worths, variances])


def unstacked(game: Game, values: FloatArray, failures: Failures) -> Measured:
    """The inverse of :func:`stacked`."""
    if game.traits.noisy:
        return Measured(values[0], values[1], failures)
    return Measured(values, None, failures)


def pack(coalitions: BoolArray) -> Keys:
    """One string of n/8 bytes per coalition, equal exactly where the coalitions are."""
    bits = np.packbits(coalitions, axis=1, bitorder="little")
    return np.ascontiguousarray(bits).view(f"S{bits.shape[1]}").ravel()


def unpack(keys: Keys, players: int) -> BoolArray:
    """The coalitions of packed keys."""
    width = (players + 7) // 8
    flat = np.ascontiguousarray(keys.astype(f"S{width}")).view(np.uint8).reshape(len(keys), width)
    return np.unpackbits(flat, axis=1, count=players, bitorder="little").astype(bool)


class KeptWorths:
    """Sorted keys beside their worths, n/8 + 8 bytes a coalition and game."""

    def __init__(self, players: int, games: int) -> None:
        self.keys: Keys = np.empty(0, dtype=f"S{(players + 7) // 8}")
        self.worths: FloatArray = np.empty((0, games))

    def __len__(self) -> int:
        return len(self.keys)

    def find(self, keys: Keys) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The row of each key, and whether it is there at all."""
        at = np.searchsorted(self.keys, keys)
        inside = np.minimum(at, max(len(self.keys) - 1, 0))
        there = np.zeros(len(keys), dtype=bool)
        if len(self.keys):
            there = self.keys[inside] == keys
        return np.asarray(inside, dtype=np.int64), np.asarray(there)

    def add(self, keys: Keys, worths: FloatArray) -> None:
        """Add worths (k, games) of new keys; the first worth of a key stays."""
        joined = np.concatenate([self.keys, keys])
        unique, first = np.unique(joined, return_index=True)
        self.keys, self.worths = unique, np.concatenate([self.worths, worths])[first]
