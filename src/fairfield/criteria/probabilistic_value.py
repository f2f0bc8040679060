"""Probabilistic values: every player has a law of its own over the coalitions that it joins.

φ_i = Σ_{S ∌ i} p_i(S) [F(S+i) - F(S)],   Σ_S p_i(S) = 1  (Weber 1988)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias, Unpack

import numpy as np
from numpy.typing import ArrayLike

from fairfield.assemble import assemble
from fairfield.boltzmann.temperature import Temperature
from fairfield.core.arrays import BoolArray, FloatArray, IntArray, on_host
from fairfield.core.coalitions import enumerate_coalitions, rows_of
from fairfield.core.game import Players
from fairfield.criteria.criterion import Criterion, register, value
from fairfield.evaluation.options import Keywords
from fairfield.games.given.table import TableGame
from fairfield.problem import Problem
from fairfield.results.valuation import Valuation

# The probability of each coalition (m, n) that a player, by its number, may join.
Law: TypeAlias = Callable[[int, BoolArray], ArrayLike]
Chances: TypeAlias = Law | ArrayLike


class Joins(NamedTuple):
    """Rows of a table without a player, the same with it, and the chance of each."""

    found: IntArray
    joined: IntArray
    chance: FloatArray


@register
@dataclass(frozen=True)
class ProbabilisticValue(Criterion):
    """Σ_{S ∌ i} p_i(S) [F(S+i) - F(S)]."""

    chances: Chances
    name = "probabilistic_value"
    meaning = "What a player adds on average, coalitions by a law that is the player's own."

    def prepare(self, problem: Problem) -> Problem:
        """Refuse chances that are no laws of these players, or a law that no closed form reads."""
        if not callable(self.chances):
            self._points(len(problem.game.players))
        elif problem.source.closed is not None:
            raise ValueError(
                f"{problem.game!r} has a closed form, which is read with a chance of every player "
                "but not with a law over coalitions; give such chances, or a table of the game"
            )
        return super().prepare(problem)

    def exact(self, problem: Problem) -> Valuation:
        """A gradient for each player's own point; for laws over coalitions a sum over the table."""
        extension, played = problem.extension, problem.played()
        count = extension.players
        if callable(self.chances):
            assert isinstance(played, TableGame)  # closed forms were refused
            worths = on_host(played.worth_table)
            laws = (self._law(i, count) for i in range(count))
            slopes = [
                (worths[..., law.joined] - worths[..., law.found]) @ law.chance for law in laws
            ]
        else:
            points = self._points(count)
            slopes = [extension.gradient(each)[..., i] for i, each in enumerate(points)]
        covariance = None
        if isinstance(played, TableGame) and played.variances is not None:
            weights = np.zeros((count, 2**count))
            for i in range(count):
                law = self._law(i, count)
                weights[i, law.joined], weights[i, law.found] = law.chance, -law.chance
            covariance = (weights * played.variances[..., None, :]) @ weights.T
        return assemble(problem, self.name, np.stack(slopes, axis=-1), covariance=covariance)

    def _points(self, players: int) -> FloatArray:
        """The chances (n, n): row i holds those of the players whom player i may find."""
        given = np.asarray(self.chances, dtype=float)
        if given.shape not in ((players,), (players, players)):
            raise ValueError(
                f"chances of shape {given.shape} were given; {players} players need {players}, or a "
                f"row of {players} for each player"
            )
        if not ((given >= 0) & (given <= 1)).all():
            raise ValueError("chances must be probabilities, from 0 to 1; others were given")
        return np.broadcast_to(given, (players, players))

    def _law(self, player: int, players: int) -> Joins:
        """The coalitions that the player may find and make, as rows of a table, and their chances."""
        coalitions = enumerate_coalitions(players)
        found = coalitions[~coalitions[:, player]]
        chance, rows = self._chance(player, found), rows_of(found)
        found[:, player] = True
        return Joins(rows, rows_of(found), chance)

    def _chance(self, player: int, coalitions: BoolArray) -> FloatArray:
        """The probability that the player finds each of these coalitions, checked."""
        if not callable(self.chances):
            point = self._points(coalitions.shape[1])[player].copy()
            point[player] = 0.0
            return np.asarray(np.where(coalitions, point, 1 - point).prod(axis=1))
        given = np.array(self.chances(player, coalitions.copy()), dtype=float)
        if given.shape != coalitions.shape[:1]:
            raise ValueError(
                f"the law of player {player} gave an array of shape {given.shape} for "
                f"{len(coalitions)} coalitions; it must give one probability for each"
            )
        total = float(given.sum())
        if not (given >= 0).all() or not np.isclose(total, 1.0, rtol=1e-6):
            raise ValueError(
                f"the law of player {player} must be at least 0 and add up to 1, it adds up to "
                f"{total:g}; divide it by that"
            )
        return given


def probabilistic_value(
    game: Any,
    chances: Chances,
    *,
    players: Players | None = None,
    temperature: Temperature | None = None,
    **options: Unpack[Keywords],
) -> Valuation:
    """Σ_{S ∌ i} p_i(S) [F(S+i) - F(S)], each player with a law p_i over the others' coalitions.

    ``chances`` are n probabilities of being in, the same whoever joins (the 1-step variational
    value from there), or n rows of them: row i is the product law of the coalitions that player
    i finds (its own entry does not matter). Or ``chances(player, coalitions)`` gives, for the
    number of a player and coalitions (m, n) without it, their probabilities (m).

    Exact from closed forms where chances are numbers, n gradients; else from a table, O(n 2^n).

    ``options``: the keywords of :class:`fairfield.Options`, as budget, store and n_jobs.

    >>> import fairfield as ff
    >>> any_of = ff.FunctionGame(lambda S: S.any(axis=1), 3)
    >>> ff.probabilistic_value(any_of, [0.5, 0.5, 0.0]).values  # the third is never found there
    array([0.5 , 0.5 , 0.25])
    >>> def alone_or_last(player, coalitions):
    ...     others = coalitions.sum(axis=1)
    ...     return ((others == 0) | (others == 2)) / 2
    >>> ff.probabilistic_value(any_of, alone_or_last).values
    array([0.5, 0.5, 0.5])
    """
    return value(ProbabilisticValue(chances), game, players, temperature, options)
