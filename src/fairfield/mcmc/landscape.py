"""Log weights of coalitions and log-odds of players, as samplers read them.

The log weight of S is log exp(F(S)/T)·prior(S); the log-odds of player i given the others are
λ_i + (F(S+i) - F(S-i))/T. The gradient of a multilinear extension at a coalition is
F(S+i) - F(S-i) for all players at once, so one reading of a closed form gives all log-odds;
without one they take n + 1 worths.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.extension import Extension
from fairfield.core.game import Game
from fairfield.evaluation.evaluator import Evaluator
from fairfield.mean_field.elbo import CERTAIN, prior_energy

Scalar = TypeVar("Scalar", bound=np.generic)

# Worths and contributions F(S+i) - F(S-i) of coalitions (m, n): (m,) and (m, n).
Contributions = Callable[[BoolArray], tuple[FloatArray, FloatArray]]


def from_game(game: Game) -> Contributions | None:
    """The game's own way to contributions, None where it has none."""
    none = np.zeros((0, len(game.players)), dtype=bool)
    return None if game.contributions(none) is None else cast(Contributions, game.contributions)


def from_extension(extension: Extension) -> Contributions:
    """Contributions read from the gradient of the extension at 0 and 1."""

    def contributions(coalitions: BoolArray) -> tuple[FloatArray, FloatArray]:
        value, gradient = extension.centred(coalitions.astype(float))
        return value + extension.offset, gradient

    return contributions


def from_worths(evaluator: Evaluator) -> Contributions:
    """Contributions from the worths of a coalition and of all that differ by one player."""

    def contributions(coalitions: BoolArray) -> tuple[FloatArray, FloatArray]:
        rows, count = coalitions.shape
        near = coalitions[:, None, :] ^ np.eye(count, dtype=bool)
        all_of_them = np.concatenate([coalitions[:, None, :], near], axis=1)
        worths = evaluator.worths(all_of_them.reshape(-1, count)).reshape(rows, count + 1)
        own, others = worths[:, :1], worths[:, 1:]
        return own[:, 0], np.where(coalitions, own - others, others - own)

    return contributions


class FreePlayers:
    """The players that a prior (its log-odds, or None) leaves free, among those it fixes."""

    def __init__(self, prior: FloatArray | None, players: int) -> None:
        logits = np.zeros(players) if prior is None else prior
        self.places = np.flatnonzero(np.abs(logits) < CERTAIN)
        self.bias = logits[self.places]
        self.fixed_in = logits == CERTAIN

    def __len__(self) -> int:
        return len(self.places)

    def among_all(
        self, free: NDArray[Scalar], fixed_in: float = 1, fixed_out: float = 0
    ) -> NDArray[Scalar]:
        """Numbers (..., free) of the free players, beside one for those fixed in and out."""
        every = np.empty((*free.shape[:-1], len(self.fixed_in)), dtype=free.dtype)
        every[...] = np.where(self.fixed_in, fixed_in, fixed_out)
        every[..., self.places] = free
        return every


@dataclass
class Landscape:
    """log exp(F(S)/T)·prior(S) - centre over the free players, and the log-odds of each.

    The ``centre`` is taken out because large offsets cost digits. ``visits`` counts the
    coalitions that were evaluated, ``tick`` is called whenever some were.
    """

    contributions: Contributions
    temperature: float
    prior: FloatArray | None
    free: FreePlayers
    centre: float = 0.0
    tick: Callable[[], object] = lambda: None
    visits: int = 0
    lowest: float = np.inf  # of all log weights so far
    highest: float = -np.inf

    def evaluate(self, coalitions: BoolArray) -> tuple[FloatArray, FloatArray]:
        """Log weights (m,) and log-odds (m, free) at coalitions of the free players."""
        self.visits += len(coalitions)
        self.tick()
        worths, steps = self.contributions(self.free.among_all(coalitions))
        log_weights = worths / self.temperature - self.centre
        log_odds = steps[:, self.free.places] / self.temperature
        if self.prior is not None:
            inside, certain = coalitions.astype(float), np.where(coalitions, CERTAIN, -CERTAIN)
            log_weights += prior_energy(inside, certain, self.free.bias)
            log_odds += self.free.bias
        self.spans(log_weights)
        return log_weights, log_odds

    def spans(self, log_weights: FloatArray) -> None:
        """Take note of log weights that coalitions have."""
        self.lowest = min(self.lowest, float(log_weights.min(initial=np.inf)))
        self.highest = max(self.highest, float(log_weights.max(initial=-np.inf)))
