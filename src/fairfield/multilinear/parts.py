"""The multilinear extension of sums of tables over few players each.

f(x) = Σ_k t_k(x on P_k), and so are all readings that are linear in the game: those of the
tables are computed for all terms of equally many players at once, and added up where the
players of a term stand in their game.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairfield.core.arrays import FloatArray, IntArray
from fairfield.core.checks import points_of_games
from fairfield.core.extension import Extension
from fairfield.core.parts import Part
from fairfield.games.given.table import TableGame
from fairfield.multilinear import size_weights
from fairfield.multilinear.table import TableExtension


class Summands(NamedTuple):
    """Terms of equally many players: which games' (k,), whose (k, d), and their tables."""

    games: IntArray
    players: IntArray
    tables: TableExtension


class PartsExtension(Extension):
    """Σ_k t_k(x on P_k), exactly, for any number of players.

    One gradient costs a pass over all tables.
    """

    method = "exact tables over few players"

    def __init__(self, terms: Sequence[Summands], players: int, batch: tuple[int, ...]) -> None:
        self.terms, self.players, self.batch = terms, players, batch
        self.count = int(np.prod(batch, dtype=int))
        self.degree = max((each.players.shape[1] for each in terms), default=1)

    @classmethod
    def of(cls, parts: Iterable[Part], players: int, batch: tuple[int, ...]) -> PartsExtension:
        """The extension of these parts of a batch of games."""
        terms = [
            Summands(each.games, each.players, TableExtension.of(TableGame(each.worths)))
            for each in parts
        ]
        return cls(terms, players, batch)

    @property
    def offset(self) -> FloatArray:
        return self._summed([terms.tables.offset for terms in self.terms])

    def ends(self) -> tuple[FloatArray, FloatArray]:
        empty, grand = zip(*(terms.tables.ends() for terms in self.terms), strict=True)
        return self._summed(empty), self._summed(grand)

    def centred(self, x: ArrayLike) -> tuple[FloatArray, FloatArray]:
        points, lead = points_of_games(x, self.players, self.batch)
        both = (terms.tables.centred(_at(points, terms)) for terms in self.terms)
        values, slopes = zip(*both, strict=True)
        return self._summed(values, lead), self._summed(slopes, lead, axes=1)

    def hessian(self, x: ArrayLike) -> FloatArray:
        points, lead = points_of_games(x, self.players, self.batch)
        found = [terms.tables.hessian(_at(points, terms)) for terms in self.terms]
        return self._summed(found, lead, axes=2)

    def shapley(self) -> FloatArray:
        return self._summed([terms.tables.shapley() for terms in self.terms], axes=1)

    def semivalue(self, weights: FloatArray) -> FloatArray:
        """Σ_{S∌i} weights[|S|] (F(S+i) - F(S)), for weights of the sizes 0 … n-1.

        To a term of d players S is S ∩ P, and the n - d others join it in every number t:
        its own weights are Σ_t C(n-d, t) weights[s+t].
        """
        found = []
        for _, players, tables in self.terms:
            others = self.players - players.shape[1]
            ways = [float(comb(others, t)) for t in range(others + 1)]
            found.append(size_weights.semivalue(tables, np.convolve(weights, ways[::-1], "valid")))
        return self._summed(found, axes=1)

    def along_diagonal(self, at: FloatArray, shares: FloatArray) -> FloatArray:
        found = [terms.tables.along_diagonal(at, shares) for terms in self.terms]
        return self._summed(found, axes=1)

    def hessian_along_diagonal(self, at: FloatArray, shares: FloatArray) -> FloatArray:
        found = [terms.tables.hessian_along_diagonal(at, shares) for terms in self.terms]
        return self._summed(found, axes=2)

    def rows(self, chosen: slice | NDArray[np.int64]) -> PartsExtension:
        picked = np.arange(self.count)[chosen]
        if len(np.unique(picked)) < len(picked):
            raise ValueError("a game was asked for twice; take different games of a batch")
        place = np.full(self.count, -1)
        place[picked] = np.arange(len(picked))
        kept = []
        for games, players, tables in self.terms:
            inside = np.flatnonzero(place[games] >= 0)
            if len(inside):
                kept.append(Summands(place[games[inside]], players[inside], tables.rows(inside)))
        return PartsExtension(kept, self.players, (len(picked),))

    def _summed(
        self, found: Sequence[FloatArray], lead: tuple[int, ...] = (), axes: int = 0
    ) -> FloatArray:
        """What the terms answer, (points, terms, d …), added up over those of a game."""
        own, points = (self.players,) * axes, int(np.prod(lead, dtype=int))
        size = self.count * self.players**axes
        totals = np.zeros((points, size))
        for (games, players, _), answers in zip(self.terms, found, strict=True):
            places = games.reshape(-1, *(1,) * axes)
            for axis in range(axes):
                others = [1] * axes
                others[axis] = -1
                places = places * self.players + players.reshape(len(games), *others)
            flat = np.reshape(answers, (points, -1))
            for total, each in zip(totals, flat, strict=True):
                total += np.bincount(places.ravel(), weights=each, minlength=size)
        return totals.reshape((*lead, *self.batch, *own))


def _at(points: FloatArray, terms: Summands) -> FloatArray:
    """The points of the games at the players of their terms: (points, terms, d)."""
    return np.asarray(points[:, terms.games[:, None], terms.players])
