"""How good the law p(S) ∝ exp(F(S)) is on coalitions that it was not learned from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from fairfield.boltzmann.boltzmann import Boltzmann
from fairfield.core.arrays import FloatArray
from fairfield.core.copies import measured
from fairfield.core.game import Game
from fairfield.evaluation.options import Options
from fairfield.learning.observed import Observed
from fairfield.multilinear.choose import table_refused

# Up to so many players all coalitions are summed for a gain, which takes less than a second.
MOST_SUMMED = 18
# Coalitions that a sampler visits for it, of more players.
VISITS = 500_000

# A mean, None of no observations, and its standard error, None of one.
Mean: TypeAlias = tuple[float | None, float | None]


@dataclass(frozen=True)
class Gain:
    """The held-out log-likelihood beyond that of independent players, in nats per coalition.

    ``error`` is its standard error, infinite where one coalition was held out.
    """

    mean: float
    error: float

    @property
    def is_loss(self) -> bool:
        """Whether independent players are better by more than two standard errors."""
        return self.mean < -2 * self.error

    def __str__(self) -> str:
        size = f"{abs(self.mean):.3g} ± {self.error:.2g} nats per coalition"
        if abs(self.mean) <= 2 * self.error:
            return f"on held-out data the law is as good as that of independent players, to {size}"
        if self.mean > 0:
            return f"on held-out data the law is better than that of independent players, by {size}"
        return (
            f"on held-out data the law is worse than that of independent players, by {size}: do "
            "not rely on its probabilities of whole coalitions"
        )


def gain_on(game: Game, alone: Game, held_out: Observed, seed: int = 0) -> Gain:
    """How much better the law of a game is than that of independent players.

    >>> import fairfield as ff
    >>> from fairfield.learning.observed import observe
    >>> pair = ff.PairwiseGame([-2.0, -2.0], [[0.0, 4.0], [4.0, 0.0]])
    >>> alone = ff.PairwiseGame([0.0, 0.0], [[0.0, 0.0], [0.0, 0.0]])
    >>> round(gain_on(pair, alone, observe([[0, 1], []], [0, 1])).mean, 3)
    0.566
    """
    mean, error = gain_of_law(game, alone, held_out)
    few = len(game.players) <= MOST_SUMMED
    law, other = (log_partition(each, seed, None if few else VISITS) for each in (game, alone))
    # Models have closed forms, and something is held out.
    assert mean is not None
    assert law is not None
    assert other is not None
    wide = np.inf if error is None else error
    return Gain(mean - law[0] + other[0], float(np.hypot(wide, law[1])))


def gain_of_law(one: Game, other: Game, held_out: Observed) -> Mean:
    """The mean of F(S) - G(S) over held-out coalitions S, and its standard error.

    Up to a constant, the difference of the log-likelihoods of two games. Both are scored on
    the same coalitions, so it has a smaller error than either.
    """
    ours, theirs = (measured(game, held_out.coalitions).worths for game in (one, other))
    return mean_of(ours - theirs, held_out.counts)


def log_partition(
    game: Game, seed: int = 0, budget: int | None = None
) -> tuple[float, float] | None:
    """log Z at temperature 1 and its standard error, None where it is out of reach."""
    closed = game.extension()
    if closed is not None and closed.degree == 1:
        zeros = np.zeros(closed.players)
        log_z = closed.value(zeros) + np.logaddexp(0, closed.gradient(zeros)).sum()
        return float(log_z), 0.0
    if closed is None and table_refused(game, Options()):
        return None
    law = Boltzmann(game, temperature=1.0, seed=seed, budget=budget)
    error = law.stderr("log_z")
    return float(law.log_z), 0.0 if error is None else float(error)


def mean_of(values: FloatArray, weights: FloatArray) -> Mean:
    """A weighted mean and its standard error."""
    total = weights.sum()
    if total == 0:
        return None, None
    mean = float(weights @ values / total)
    if total < 2:
        return mean, None
    spread = float(weights @ (values - mean) ** 2 / (total - 1))
    return mean, float(np.sqrt(spread / total))
