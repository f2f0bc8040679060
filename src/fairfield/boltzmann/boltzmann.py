"""The energy-based model of a game: p(S) ∝ exp(F(S)/T)."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from fairfield.boltzmann.law import Law, law_of
from fairfield.boltzmann.marginal import conditioned, marginalised
from fairfield.boltzmann.mean_payoff import extension_of, law_of_mean
from fairfield.boltzmann.temperature import Temperature
from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.checks import whole
from fairfield.core.coalitions import coalition_of
from fairfield.core.game import Game, Player, Players
from fairfield.evaluation.evaluator import Evaluator
from fairfield.evaluation.options import Keywords, Options
from fairfield.games.given.convert import as_game
from fairfield.games.given.table import TableGame
from fairfield.mean_field.elbo import CERTAIN, log_odds, prior_energy, prior_logits
from fairfield.results.display import number
from fairfield.results.valuation import Number, Valuation, as_number

# The readings with a standard error; that of the last is the error of log Z.
READINGS = (
    "log_z", "marginals", "pair_marginals", "mean", "entropy", "total_correlation",
    "decoupling_error",
)  # fmt: skip


class Boltzmann:
    """The law p(S) ∝ exp(F(S)/T) of coalitions.

    Of all laws with the same mean payoff E[F] it has the largest entropy. A ``prior``
    π multiplies it by Π π_i^{z_i} (1-π_i)^{1-z_i}; π_i of 0 or 1 fixes a player.

    Exact where the game's table is within reach. A larger game is sampled: one with a
    closed form, or, within a ``budget`` of worths, any. Then readings are estimates,
    ``stderr(name)`` is the standard error of one, and ``warnings`` says in sentences where
    they may be wrong by more than that; so does a ``ReliabilityWarning``.

    ``options``: the keywords of :class:`fairfield.Options`, as budget, store and n_jobs.

    >>> law = Boltzmann([0.0, 1.0, 1.0, 2.0], temperature=1.0)
    >>> law.marginals.round(3).tolist()
    [0.731, 0.731]
    """

    game: Game
    law: Law

    def __init__(
        self,
        game: Any,
        temperature: Temperature,
        prior: ArrayLike | None = None,
        *,
        players: Players | None = None,
        **options: Unpack[Keywords],
    ) -> None:
        chosen, played = Options().changed(options), as_game(game, players)
        logits = prior_logits(prior, len(played.players))
        self.game, self.law = law_of(played, temperature, logits, chosen)

    @classmethod
    def _of(cls, game: Game, law: Law) -> Boltzmann:
        found = cls.__new__(cls)
        found.game, found.law = game, law
        return found

    @classmethod
    def from_mean(
        cls, game: Any, mean: float, *, players: Players | None = None, **options: Unpack[Keywords]
    ) -> Boltzmann:
        """The law of largest entropy with E_p[F] = ``mean``: its T is the Lagrange multiplier.

        There is one exactly when the mean lies between that of all coalitions and the
        largest worth. Of a game that is sampled, T is found to within the error of E_p[F].

        >>> round(Boltzmann.from_mean([0.0, 1.0], 0.75).temperature, 4)
        0.9102
        """
        chosen, played = Options().changed(options), _one_game(game, players)
        if not isfinite(mean):
            raise ValueError(f"a mean payoff of {mean} was given; it must be a finite number")
        table, law = law_of(played, 1.0, None, chosen)
        return cls._of(table, law_of_mean(law, mean))

    @classmethod
    def from_coalitions(
        cls, game: Any, coalitions: ArrayLike, *, players: Players | None = None,
        **options: Unpack[Keywords],
    ) -> Boltzmann:  # fmt: skip
        """The law whose T makes these observed coalitions most likely.

        The likelihood of T is largest where E_p[F] is their mean worth.

        >>> Boltzmann.from_coalitions([0.0, 1.0], [[1], [1], [1], [0]]).marginals.round(4)
        array([0.75])
        """
        chosen, played = Options().changed(options), _one_game(game, players)
        rows = _rows(coalitions, len(played.players))
        if not len(rows):
            raise ValueError("no coalitions were given; at least one is needed to find T")
        found, law = law_of(played, 1.0, None, chosen)
        extension_of(law)  # refused before a worth is evaluated
        if isinstance(found, TableGame):
            worths = found.worths(rows)
        else:
            with Evaluator(found, chosen) as evaluator:
                worths = evaluator.worths(rows)
        return cls._of(found, law_of_mean(law, float(np.mean(worths))))

    def log_likelihood(self, coalitions: ArrayLike) -> FloatArray:
        """log p(S) of observed coalitions (m, n): (*batch, m); its mean judges T and F.

        By sampling all of them are off by the same error, that of log Z.
        """
        rows = _rows(coalitions, len(self.game.players))
        inside = rows.astype(float)
        log_prior = prior_energy(inside, log_odds(inside), self.law.prior)
        return np.asarray(self.law.log_share(self.game.worths(rows)) + log_prior)

    def __repr__(self) -> str:
        temperature = number(self.temperature) if not self.game.batch else "one per game"
        return f"Boltzmann law of {self.game!r}, temperature {temperature}"

    @property
    def temperature(self) -> Number:
        """T, one number per game."""
        return as_number(self.law.temperature)

    @property
    def log_z(self) -> Number:
        """log Z = log Σ_S exp(F(S)/T)."""
        return as_number(self.law.log_z)

    @property
    def marginals(self) -> FloatArray:
        """p(i ∈ S), which mean-field marginals approximate."""
        return self.law.marginals

    @property
    def pair_marginals(self) -> FloatArray:
        """p(i, j ∈ S), with the marginals on the diagonal."""
        return self.law.pair_marginals

    @property
    def entropy(self) -> Number:
        """H(p) in nats."""
        return as_number(self.law.entropy)

    @property
    def mean(self) -> Number:
        """E_p[F], the mean payoff."""
        return as_number(self.law.mean)

    @property
    def total_correlation(self) -> Number:
        """Σ_i h(p_i) - H(p): KL(p ‖ q) at its best, reached by the true marginals."""
        return as_number(self.law.total_correlation)

    def stderr(self, reading: str = "log_z") -> Number:
        """The standard error of a reading by its name, 0 where sums are exact.

        ``reading`` is log_z, marginals, pair_marginals, mean, entropy, total_correlation
        or decoupling_error, whose error is that of log Z.
        """
        if reading not in READINGS:
            raise ValueError(f"there is no reading {reading!r}; choose from {', '.join(READINGS)}")
        return as_number(self.law.stderr("log_z" if reading == "decoupling_error" else reading))

    @property
    def warnings(self) -> tuple[str, ...]:
        """Why readings may be wrong by more than their errors, in sentences; none where exact."""
        return self.law.warnings

    def probability(self, coalitions: ArrayLike) -> FloatArray:
        """p(S) of coalitions (m, n): (*batch, m)."""
        return np.exp(self.log_likelihood(coalitions))

    def elbo(self, marginals: ArrayLike | Valuation) -> Number:
        """f(x)/T + H(x), plus the prior's part: log Z less the decoupling error."""
        return as_number(self.law.elbo(self._logits(marginals)))

    def decoupling_error(self, marginals: ArrayLike | Valuation) -> Number:
        """KL(q ‖ p) of the product law q with these marginals, or with σ(value/T)."""
        return as_number(self.law.gap(self._logits(marginals)))

    def reverse_error(self, marginals: ArrayLike | Valuation) -> Number:
        """KL(p ‖ q): smallest at the true marginals, where it is the total correlation."""
        logits, entropy, p = self._logits(marginals), self.law.entropy, self.marginals
        cross: FloatArray = np.sum(
            p * np.logaddexp(0, -logits) + (1 - p) * np.logaddexp(0, logits), axis=-1
        )
        # A product law that excludes what p allows is infinitely far from it.
        return as_number(np.where(cross > CERTAIN / 1e50, np.inf, cross - entropy))

    def draw(self, count: int, seed: int = 0) -> BoolArray:
        """``count`` coalitions drawn from p: (*batch, count, n); exactly from a table.

        By sampling, each starts at a sample of the run and is moved on by some sweeps.
        """
        return self.law.draw(whole("count", count, 0), np.random.default_rng(seed))

    def condition(self, inside: Iterable[Player] = (), outside: Iterable[Player] = ()) -> Boltzmann:
        """The law of the other players, given who is in and who is out."""
        names = self.game.players
        held, barred = coalition_of(inside, names), coalition_of(outside, names)
        if (held & barred).any():
            raise ValueError("a player cannot be both inside and outside")
        return self._of(*conditioned(self.game, self.law, held, barred))

    def marginalise(self, players: Iterable[Player]) -> Boltzmann:
        """The law of the others, whatever these players do: F_M(S) = T log Σ_R exp(F(S∪R)/T).

        Keeps log Z and the joint distribution of the remaining players. Of a sampled game up
        to eight players are summed over exactly, at 2^r worths for one; with more, log Z,
        marginals, pair marginals and draws of the rest come from samples of the whole law.
        """
        gone = coalition_of(players, self.game.players)
        return self._of(*marginalised(self.game, self.law, gone))

    def _logits(self, marginals: ArrayLike | Valuation) -> FloatArray:
        if isinstance(marginals, Valuation):
            if marginals.players != self.game.players:
                raise ValueError("the valuation is of other players than this law")
            bias = 0.0 if self.law.prior is None else self.law.prior
            return np.asarray(bias + marginals.values / self.law.temperature[..., None])
        x, count = np.asarray(marginals, dtype=float), len(self.game.players)
        if x.shape[-1:] not in ((), (count,)) or not ((x >= 0) & (x <= 1)).all():
            raise ValueError(
                f"marginals must be probabilities in [0, 1], one for each of the {count} players"
            )
        return log_odds(x if x.ndim else np.full(count, x))


def _one_game(game: Any, players: Players | None) -> Game:
    played = as_game(game, players)
    if played.batch:
        raise ValueError("a mean payoff sets the temperature of one game, not of a batch")
    return played


def _rows(coalitions: ArrayLike, count: int) -> BoolArray:
    """Coalitions as rows of booleans, checked."""
    given = np.asarray(coalitions)
    if given.shape[-1:] != (count,) or not np.isin(given, (0, 1)).all():
        raise ValueError(
            f"coalitions must be an array of 0 and 1, or booleans, with {count} columns, one per "
            "player"
        )
    return given.astype(bool).reshape(-1, count)
