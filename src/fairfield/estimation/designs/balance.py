"""Coalitions in which any two players are on the same side as often as on different ones.

A regression on n slopes errs by σ²/(m - n) after m random pairs of complements, by σ²/m after pairs whose
signs are orthogonal from player to player (Plackett and Burman, 1946). Drawn coalitions come close to that
when some players change places, which leaves their sizes, and the chances of all coalitions of a size, as
they are.
"""

from __future__ import annotations

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray, IntArray

# After so many draws per player, random ones are orthogonal enough: the rest gain 5% and less.
ENOUGH = 10
# Each draw takes time in the square of the players: all of them together some tenths of a second.
MOST = 3e8


class Balance:
    """How often players have been on the same side as others, less how often on different ones.

    So many draws, of pairs or of single coalitions, are ``left`` to be balanced.
    """

    def __init__(self, players: int, rng: np.random.Generator) -> None:
        # Ties go to whoever stands first: in an order that says nothing of the players.
        self._order: IntArray = rng.permutation(players)
        # Of everybody, ahead of the players, who is in all coalitions, for the constant of a regression.
        # Counts: whole numbers, the same on every machine.
        self._together: FloatArray = np.zeros((players + 1, players + 1), np.float32, order="F")
        most = int(min(ENOUGH * players, MOST / players**2))
        # Fewer draws than players determine no slopes.
        self.left = most if most >= players else 0

    def better(self, coalition: BoolArray) -> list[BoolArray]:
        """Coalitions of the same size, each better balanced with those so far than the one before, this one first.

        Whoever pulls most on one side changes places with whoever pulls most on the other, until that gains nothing.
        """
        signs = self._signs(coalition)
        pull = self._together @ signs
        inside, outside = 1 + np.flatnonzero(signs[1:] > 0), 1 + np.flatnonzero(signs[1:] < 0)
        found = [coalition]
        while len(inside) and len(outside):
            first, last = pull[inside].argmax(), pull[outside].argmin()
            out, into = inside[first], outside[last]
            if pull[out] - pull[into] + 2 * self._together[out, into] <= 0:
                break
            inside[first], outside[last] = into, out
            pull += 2 * (self._together[:, into] - self._together[:, out])
            one = found[-1].copy()
            one[self._order[[out - 1, into - 1]]] = False, True
            found.append(one)
        return found

    def add(self, coalition: BoolArray, *, paired: bool) -> None:
        """Count one more, with its complement if it is ``paired``."""
        from scipy.linalg.blas import sger

        signs = self._signs(coalition)
        if paired:
            signs[0] = 0.0
        weight = 2.0 if paired else 1.0
        self._together = sger(weight, signs, signs, a=self._together, overwrite_a=True)
        np.fill_diagonal(self._together, 0)
        self.left -= 1

    def _signs(self, coalition: BoolArray) -> FloatArray:
        return np.where(np.insert(coalition[self._order], 0, True), np.float32(1), np.float32(-1))
