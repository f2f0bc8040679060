"""What a sampler sees: log weights of coalitions, and what each player would change.

The log weight of S is log exp(F(S)/T)·prior(S); its slope for player i is the log-odds of
i given the others, λ_i + (F(S+i) - F(S-i))/T. The gradient of a multilinear extension at a
coalition is F(S+i) - F(S-i) for all players at once, so one look at a closed form tells
all slopes; a game without one is asked for n + 1 worths.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import cast

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray, IntArray
from fairfield.core.extension import Extension
from fairfield.core.game import Game
from fairfield.evaluation.evaluator import Evaluator
from fairfield.mean_field.elbo import CERTAIN, prior_energy, sigmoid

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
        asked = np.concatenate([coalitions[:, None, :], near], axis=1)
        worths = evaluator.worths(asked.reshape(-1, count)).reshape(rows, count + 1)
        own, others = worths[:, :1], worths[:, 1:]
        return own[:, 0], np.where(coalitions, own - others, others - own)

    return contributions


@dataclass
class Landscape:
    """log exp(F(S)/T)·prior(S) and its slopes, over the players that the prior leaves free.

    ``centre`` is taken out of all log weights. ``cost`` is what one look at a coalition counts
    against the ``budget``, ``spent`` the total.
    """

    contributions: Contributions
    temperature: float
    prior: FloatArray | None
    count: int
    centre: float = 0.0
    cost: int = 1
    budget: int | None = None
    spent: int = 0
    free: IntArray = field(init=False)

    def __post_init__(self) -> None:
        fixed = np.zeros(self.count) if self.prior is None else self.prior
        self.free = np.flatnonzero(np.abs(fixed) < CERTAIN)
        self._template = fixed > 0

    @property
    def players(self) -> int:
        """How many players are free."""
        return len(self.free)

    @property
    def lean(self) -> FloatArray:
        """The log-odds of the free players under the prior; 0 without one."""
        return np.zeros(self.players) if self.prior is None else self.prior[self.free]

    def whole(self, coalitions: BoolArray) -> BoolArray:
        """Coalitions of the free players together with those fixed inside."""
        every = np.tile(self._template, (len(coalitions), 1))
        every[:, self.free] = coalitions
        return every

    def look(self, coalitions: BoolArray) -> tuple[FloatArray, FloatArray]:
        """Log weights, less the centre, and slopes at coalitions of the free players."""
        self.spent += self.cost * len(coalitions)
        if self.budget is not None and self.spent > self.budget:
            raise ValueError(
                f"a budget of {self.budget:,} is too small to sample the law of {self.count} players "
                "at this temperature; raise the budget, or the temperature"
            )
        worths, steps = self.contributions(self.whole(coalitions))
        heights = worths / self.temperature - self.centre
        slopes = steps[:, self.free] / self.temperature
        if self.prior is not None:
            inside = coalitions.astype(float)
            heights += prior_energy(inside, np.where(coalitions, CERTAIN, -CERTAIN), self.lean)
            slopes += self.lean
        return heights, slopes

    def means(self, slopes: FloatArray) -> FloatArray:
        """p(i | the others) of all players, 0 or 1 for the fixed ones."""
        every = np.tile(self._template.astype(float), (len(slopes), 1))
        every[:, self.free] = sigmoid(slopes)
        return every
