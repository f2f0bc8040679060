"""Games of which some players are held inside, or outside, whatever the others do."""

from __future__ import annotations

from copy import copy
from functools import cached_property
from math import inf
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.extension import Extension
from fairfield.core.game import Game


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
        self.batch, self.block, self.opaque = game.batch, game.block, game.opaque
        self.instead, self.noisy = game.instead, game.noisy
        self.labels, self.plays_for = game.labels, game.plays_for
        self.data = None if game.data is None else np.asarray(game.data)[..., ~self.fixed]
        self.nulls = None if game.nulls is None else game.nulls[..., ~self.fixed]
        if game.contributions is not None:
            self.contributions = self._contributions

    def __copy__(self) -> HeldGame:
        # Workers side by side count the failures of copies, each of its own.
        return HeldGame(copy(self.whole), self.held, self.fixed & ~self.held)

    @property
    def failures(self) -> int:
        """How many worths the game could not find and filled in."""
        return self.whole.failures

    @failures.setter
    def failures(self, count: int) -> None:
        self.whole.failures = count

    @property
    def first_failure(self) -> str:
        """Why the first of these worths was not found."""
        return self.whole.first_failure

    @first_failure.setter
    def first_failure(self, reason: str) -> None:
        self.whole.first_failure = reason

    def worths(self, coalitions: BoolArray) -> FloatArray:
        return self.whole.worths(_filled(coalitions, self.held, self.fixed))

    def worths_and_variances(self, coalitions: BoolArray) -> tuple[FloatArray, FloatArray]:
        return self.whole.worths_and_variances(_filled(coalitions, self.held, self.fixed))

    def _contributions(self, coalitions: BoolArray) -> tuple[FloatArray, FloatArray]:
        assert self.whole.contributions is not None  # or this is not handed out
        worths, steps = self.whole.contributions(_filled(coalitions, self.held, self.fixed))
        return worths, steps[:, ~self.fixed]

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
