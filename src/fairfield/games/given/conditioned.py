"""Games of which some players are held inside, or outside, whatever the others do."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from math import inf
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.extension import Extension
from fairfield.core.game import Game, Measured


class HeldGame(Game):
    """F(S ∪ held) as a game of the players that are neither held in nor barred.

    Its extension is that of the whole game with the coordinates of the others fixed at 1
    and 0, so it is in closed form where that is.

    >>> import fairfield as ff
    >>> game = HeldGame(ff.UnanimityGame([0, 1], players=3), [True, False, False], [False] * 3)
    >>> game.players, game.worths(np.array([[True, False]])).tolist()
    ((1, 2), [1.0])
    """

    def __init__(self, game: Game, held: ArrayLike, barred: ArrayLike) -> None:
        self.whole = game
        self.held, self.fixed = np.asarray(held, dtype=bool), np.logical_or(held, barred)
        self.players = tuple(game.players[i] for i in np.flatnonzero(~self.fixed))
        self.batch = game.batch
        data, nulls = game.info.data, game.traits.nulls
        self.info = replace(
            game.info, data=None if data is None else np.asarray(data)[..., ~self.fixed]
        )
        self.traits = replace(
            game.traits, device=None, nulls=None if nulls is None else nulls[..., ~self.fixed]
        )

    def worths(self, coalitions: BoolArray) -> FloatArray:
        return self.whole.worths(_filled(coalitions, self.held, self.fixed))

    def measure(self, coalitions: BoolArray) -> Measured:
        return self.whole.measure(_filled(coalitions, self.held, self.fixed))

    def contributions(self, coalitions: BoolArray) -> tuple[FloatArray, FloatArray] | None:
        found = self.whole.contributions(_filled(coalitions, self.held, self.fixed))
        return None if found is None else (found[0], found[1][:, ~self.fixed])

    def extension(self) -> Extension | None:
        return self._extension

    @cached_property
    def _extension(self) -> Extension | None:
        whole = self.whole.extension()
        return None if whole is None else HeldExtension(whole, self.held, self.fixed)

    def describe(self) -> dict[str, Any]:
        held = [str(p) for p, inside in zip(self.whole.players, self.held, strict=True) if inside]
        return {**super().describe(), "held": held, "whole": self.whole.describe()}


class HeldExtension(Extension):
    """An extension with some coordinates fixed, at 1 where held and at 0 elsewhere: a face."""

    def __init__(self, whole: Extension, held: BoolArray, fixed: BoolArray) -> None:
        self.whole, self.held, self.fixed = whole, held, fixed
        self.players, self.batch = int((~fixed).sum()), whole.batch
        self.degree = min(whole.degree, self.players)
        self.method, self.together = whole.method, whole.together
        # A bound at ½ is none where some coordinates are 0 or 1.
        self.coarseness = inf if whole.coarseness else 0.0

    def _at(self, x: ArrayLike) -> FloatArray:
        return np.asarray(_filled(np.asarray(x, dtype=float), self.held, self.fixed))

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
        return HeldExtension(self.whole.rows(chosen), self.held, self.fixed)


def _filled(free: Any, held: BoolArray, fixed: BoolArray) -> Any:
    """Coalitions, or points, of the free players among the others, held in or out."""
    every = np.empty((*free.shape[:-1], len(held)), dtype=free.dtype)
    every[...] = held
    every[..., ~fixed] = free
    return every
