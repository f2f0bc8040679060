"""Worths that were evaluated, by coalition, packed tightly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.game import Failures, Game, Measured

Keys = NDArray[np.bytes_]


def numbers_kept(game: Game) -> int:
    """How many numbers are kept of a coalition: a worth of each game, and a variance if noisy."""
    return int(np.prod(game.batch, dtype=int)) * (2 if game.traits.noisy else 1)


def as_rows(game: Game, found: Measured) -> FloatArray:
    """What is kept of each coalition (m, numbers): its worths, then variances if noisy."""
    worths = found.worths
    if game.traits.noisy:
        variances = np.zeros_like(worths) if found.variances is None else found.variances
        worths = np.stack([worths, variances])
    return worths.reshape(numbers_kept(game), -1).T


def as_measured(game: Game, columns: FloatArray, failures: Failures) -> Measured:
    """The worths (*batch, m), and variances if noisy, of columns (numbers, m) of what is kept."""
    lead = 2 if game.traits.noisy else 1
    values = columns.reshape((lead, *game.batch, columns.shape[-1]))
    return Measured(values[0], values[1] if game.traits.noisy else None, failures)


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

    def __init__(self, players: int, numbers: int) -> None:
        self.keys: Keys = np.empty(0, dtype=f"S{(players + 7) // 8}")
        self.worths: FloatArray = np.empty((0, numbers))

    def __len__(self) -> int:
        return len(self.keys)

    def find(self, keys: Keys) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The row of each key, and whether it is there at all."""
        if not len(self.keys):
            return np.zeros(len(keys), dtype=np.int64), np.zeros(len(keys), dtype=bool)
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return at, self.keys[at] == keys

    def add(self, keys: Keys, worths: FloatArray) -> None:
        """Add worths (k, numbers) of new keys; the first worth of a key stays."""
        joined = np.concatenate([self.keys, keys])
        unique, first = np.unique(joined, return_index=True)
        self.keys, self.worths = unique, np.concatenate([self.worths, worths])[first]
