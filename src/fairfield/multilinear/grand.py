"""What is known of a game near its grand coalition, from n + 2 worths."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fairfield.core.arrays import FloatArray
from fairfield.core.extension import Extension
from fairfield.core.game import Game
from fairfield.evaluation.evaluator import Evaluator, Spent
from fairfield.evaluation.options import Options


class GrandExtension(Extension):
    """f(1), ∇f(1) and f(0), from F(∅), F(N) and every F(N - i), in this order; no more.

    ``variances`` are those of the same worths, where they are estimates.
    """

    method = "n + 2 worths"

    def __init__(self, worths: FloatArray, variances: FloatArray | None = None) -> None:
        self.worths, self.variances = worths, variances
        self.batch = worths.shape[:-1]
        self.players = self.degree = worths.shape[-1] - 2

    def value(self, x: ArrayLike) -> FloatArray:
        self._only_at_one(x)
        return np.asarray(self.worths[..., 1])

    def gradient(self, x: ArrayLike) -> FloatArray:
        self._only_at_one(x)
        return np.asarray(self.worths[..., 1:2] - self.worths[..., 2:])

    def gradient_covariance(self, x: ArrayLike) -> FloatArray | None:
        self._only_at_one(x)
        if self.variances is None:
            return None
        # Every slope has F(N) in it, and its own F(N - i).
        own = self.variances[..., 2:, None] * np.eye(self.players)
        return np.asarray(own + self.variances[..., 1, None, None])

    def ends(self) -> tuple[FloatArray, FloatArray]:
        return self.worths[..., 0], self.worths[..., 1]

    def _only_at_one(self, x: ArrayLike) -> None:
        if not (np.asarray(x) == 1).all():
            raise ValueError("of these worths only leave-one-out can be read, ∇f at 1")


def near_grand(game: Game, options: Options) -> tuple[GrandExtension, Spent]:
    """The extension near the grand coalition, and what was evaluated for it."""
    count = len(game.players)
    if options.budget is not None and options.budget < count + 2:
        raise ValueError(
            f"{game!r}: leaving each player out needs {count + 2:,} worths, the budget allows "
            f"{options.budget:,}; raise it"
        )
    nobody = np.zeros((1, count), dtype=bool)
    with Evaluator(game, options) as evaluator:
        found = evaluator.measure(np.vstack([nobody, ~nobody, ~np.eye(count, dtype=bool)]))
    known = GrandExtension(found.worths, found.variances)
    return known, Spent(evaluator.evaluations, found.failures)
