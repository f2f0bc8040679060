"""Games in which some players are always inside, or always outside, every coalition."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import Any

import array_api_compat
import numpy as np
from numpy.typing import ArrayLike

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.coalitions import members
from fairfield.core.combined import CombinedExtension
from fairfield.core.extension import Extension
from fairfield.core.game import Game, Measured
from fairfield.games.given.table import TableGame


class ConditionedGame(Game):
    """F(S ∪ inside) as a game of the players that are neither fixed inside nor outside.

    ``inside`` and ``outside`` are coalitions of the ``whole`` game; by default nobody is fixed
    there. The extension is that of the whole game with the coordinates of the fixed players
    at 1 and 0, so it has a closed form where that has one.

    >>> whole = TableGame([0, 1, 2, 3, 4, 5, 6, 7], players=["ann", "bob", "eve"])
    >>> game = ConditionedGame(whole, outside=np.array([False, True, False]))
    >>> game.players, game.worths(np.ones((1, 2), dtype=bool)).tolist()
    (('ann', 'eve'), [5.0])
    """

    def __init__(
        self, whole: Game, inside: BoolArray | None = None, outside: BoolArray | None = None
    ) -> None:
        nobody = np.zeros(len(whole.players), dtype=bool)
        self.whole = whole
        self.inside = nobody if inside is None else inside
        self.fixed = self.inside | (nobody if outside is None else outside)
        self.players = tuple(whole.players[i] for i in np.flatnonzero(~self.fixed))
        self.batch = whole.batch
        data, nulls, start = whole.info.data, whole.traits.nulls, whole.traits.start
        self.info = replace(
            whole.info, data=None if data is None else np.asarray(data)[..., ~self.fixed]
        )
        self.traits = replace(
            whole.traits,
            device=None,
            nulls=None if nulls is None else nulls[..., ~self.fixed],
            start=None if start is None else start[~self.fixed],
        )

    def worths(self, coalitions: BoolArray) -> FloatArray:
        return self.whole.worths(_filled(coalitions, self.inside, self.fixed))

    def measure(self, coalitions: BoolArray) -> Measured:
        return self.whole.measure(_filled(coalitions, self.inside, self.fixed))

    def contributions(self, coalitions: BoolArray) -> tuple[FloatArray, FloatArray] | None:
        found = self.whole.contributions(_filled(coalitions, self.inside, self.fixed))
        return None if found is None else (found[0], found[1][:, ~self.fixed])

    def table(self, progress: bool | None = None) -> Any:
        if not isinstance(self.whole, TableGame) or self.traits.noisy:
            return None  # variances come with the worths, coalition by coalition
        table = self.whole.worth_table
        xp = array_api_compat.array_namespace(table)
        # One axis of length 2 for each player, the last player first.
        cube = xp.reshape(table, (*self.batch, *(2 for _ in self.fixed)))
        places = [
            int(i) if f else slice(None) for i, f in zip(self.inside, self.fixed, strict=True)
        ]
        return xp.reshape(cube[(..., *places[::-1])], (*self.batch, -1))

    def extension(self) -> Extension | None:
        whole = self.whole.extension()
        return None if whole is None else on_face(whole, self.inside, self.fixed)

    def describe(self) -> dict[str, Any]:
        inside = [str(player) for player in members(self.inside, self.whole.players)]
        return {**super().describe(), "inside": inside, "whole": self.whole.describe()}


def on_face(whole: Extension, inside: BoolArray, fixed: BoolArray) -> Extension:
    """An extension on a face of the cube, without the fixed players where it has such a form."""
    if isinstance(whole, CombinedExtension):
        return CombinedExtension([(c, on_face(part, inside, fixed)) for c, part in whole.terms])
    shorter = whole.face(inside, fixed)
    return ConditionedExtension(whole, inside, fixed) if shorter is None else shorter


class ConditionedExtension(Extension):
    """An extension on a face of the cube: fixed coordinates are 1 where inside and 0 elsewhere."""

    def __init__(self, whole: Extension, inside: BoolArray, fixed: BoolArray) -> None:
        self.whole, self.inside, self.fixed = whole, inside, fixed
        self.players, self.batch = int((~fixed).sum()), whole.batch
        self.degree = min(whole.degree, self.players)
        self.method, self.together, self.dense = whole.method, whole.together, whole.dense
        # The bound holds at ½, not where some coordinates are 0 or 1.
        self.coarseness = inf if whole.coarseness else 0.0

    def _at(self, x: ArrayLike) -> FloatArray:
        return np.asarray(_filled(np.asarray(x, dtype=float), self.inside, self.fixed))

    @property
    def offset(self) -> FloatArray:
        return self.whole.offset

    def centred(self, x: ArrayLike) -> tuple[FloatArray, FloatArray]:
        value, gradient = self.whole.centred(self._at(x))
        return value, gradient[..., ~self.fixed]

    def hessian(self, x: ArrayLike) -> FloatArray:
        free = np.flatnonzero(~self.fixed)
        return np.asarray(self.whole.hessian(self._at(x))[..., free[:, None], free])

    def rows(self, chosen: Any) -> Extension:
        return ConditionedExtension(self.whole.rows(chosen), self.inside, self.fixed)


def _filled(free: Any, inside: BoolArray, fixed: BoolArray) -> Any:
    """Coalitions, or points, of the free players completed by the fixed ones."""
    every = np.empty((*free.shape[:-1], len(inside)), dtype=free.dtype)
    every[...] = inside
    every[..., ~fixed] = free
    return every
