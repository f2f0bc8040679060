"""The energy-based model of a game: p(S) ∝ exp(F(S)/T)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias, Unpack

import array_api_compat
import numpy as np
from numpy.typing import ArrayLike

from fairfield.boltzmann.exact import Partition
from fairfield.boltzmann.marginal import MOST_SUMMED, TOO_MANY, MarginalGame, MarginalLaw
from fairfield.boltzmann.mean_payoff import sampled_temperature, temperature_of_mean
from fairfield.boltzmann.sampled import SampledLaw
from fairfield.boltzmann.temperature import Temperature, absolute, resolve
from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.coalitions import coalition_of
from fairfield.core.game import Game, Player, Players
from fairfield.evaluation.options import Keywords, Options
from fairfield.games.given.conditioned import ConditionedGame
from fairfield.games.given.convert import as_game
from fairfield.games.given.table import TableGame
from fairfield.mcmc.landscape import from_game
from fairfield.mean_field.elbo import CERTAIN, log_odds, prior_energy, prior_logits
from fairfield.multilinear.choose import table_of, table_refused
from fairfield.multilinear.table import TableExtension
from fairfield.results.display import number
from fairfield.results.valuation import Number, Valuation, as_number

# What can be read of a law, and whose standard error it has.
READINGS = {
    "log_z": "log_z",
    "marginals": "marginals",
    "pair_marginals": "pair_marginals",
    "mean": "mean",
    "entropy": "entropy",
    "total_correlation": "total_correlation",
    "decoupling_error": "log_z",
}

Law: TypeAlias = Partition | SampledLaw | MarginalLaw


class Boltzmann:
    """The law p(S) ∝ exp(F(S)/T) of coalitions.

    Of all laws with the same mean payoff E[F] it has the largest entropy. A ``prior``
    π multiplies it by Π π_i^{z_i} (1-π_i)^{1-z_i}; π_i of 0 or 1 fixes a player.

    Exact where the game's table is within reach. A larger game is sampled: one with a
    closed form, or, within a ``budget`` of worths, any. Then readings are estimates,
    ``stderr(name)`` is the standard error of one, and ``warnings`` says in sentences where
    they may be wrong by more than that; the same is said by an ``ReliabilityWarning``.

    ``options``: the keywords of :class:`fairfield.Options`, as budget, store and n_jobs.

    >>> law = Boltzmann([0.0, 1.0, 1.0, 2.0], temperature=1.0)
    >>> law.marginals.round(3).tolist()
    [0.731, 0.731]
    """

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
        self.game: Game
        self.partition: Law
        self.game, self.partition = _law(played, temperature, logits, chosen)

    @classmethod
    def _given(cls, game: Game, law: Law) -> Boltzmann:
        found = cls.__new__(cls)
        found.game, found.partition = game, law
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
        chosen, played = Options().changed(options), as_game(game, players)
        game, law = _law(played, 1.0, None, chosen)
        if game.batch:
            raise ValueError("a mean payoff sets the temperature of one game, not of a batch")
        temperature = (
            temperature_of_mean(law, mean)
            if isinstance(law, Partition)
            else sampled_temperature(law, mean)
        )
        return cls._given(*_law(game, temperature, None, chosen))

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
        played = as_game(game, players)
        rows = _rows(coalitions, len(played.players))
        if not len(rows):
            raise ValueError("no coalitions were given; at least one is needed to find T")
        return cls.from_mean(played, float(np.mean(played.worths(rows))), **options)

    def log_likelihood(self, coalitions: ArrayLike) -> FloatArray:
        """log p(S) of observed coalitions (m, n): (*batch, m); its mean judges T and F.

        By sampling all of them are off by the same error, that of log Z.
        """
        rows = _rows(coalitions, len(self.game.players))
        inside = rows.astype(float)
        tilt = prior_energy(inside, log_odds(inside), self.partition.prior)
        return np.asarray(self.partition.log_share(self.game.worths(rows)) + tilt)

    def __repr__(self) -> str:
        temperature = number(self.temperature) if not self.game.batch else "one per game"
        return f"Boltzmann law of {self.game!r}, temperature {temperature}"

    @property
    def temperature(self) -> Number:
        """T, one number per game."""
        return as_number(self.partition.temperature)

    @property
    def log_z(self) -> Number:
        """log Z = log Σ_S exp(F(S)/T)."""
        return as_number(self.partition.log_z)

    @property
    def marginals(self) -> FloatArray:
        """p(i ∈ S), the truth that mean-field marginals approximate."""
        return self.partition.marginals

    @property
    def pair_marginals(self) -> FloatArray:
        """p(i, j ∈ S), with the marginals on the diagonal."""
        return self.partition.pair_marginals

    @property
    def entropy(self) -> Number:
        """H(p) in nats."""
        return as_number(self.partition.entropy)

    @property
    def mean(self) -> Number:
        """E_p[F], the mean payoff."""
        return as_number(self.partition.mean)

    @property
    def total_correlation(self) -> Number:
        """Σ_i h(p_i) - H(p): KL(p ‖ q) at its best, reached by the true marginals."""
        return as_number(self.partition.total_correlation)

    def stderr(self, reading: str = "log_z") -> Number:
        """The standard error of a reading by its name, 0 where sums are exact.

        ``reading`` is log_z, marginals, pair_marginals, mean, entropy, total_correlation
        or decoupling_error, whose error is that of log Z.
        """
        if reading not in READINGS:
            raise ValueError(f"there is no reading {reading!r}; choose from {', '.join(READINGS)}")
        return as_number(self.partition.stderr(READINGS[reading]))

    @property
    def warnings(self) -> tuple[str, ...]:
        """Why readings may be wrong by more than their errors: sentences, none where exact."""
        return self.partition.warnings

    def probability(self, coalitions: ArrayLike) -> FloatArray:
        """p(S) of coalitions (m, n): (*batch, m)."""
        return np.exp(self.log_likelihood(coalitions))

    def elbo(self, marginals: ArrayLike | Valuation) -> Number:
        """f(x)/T + H(x), plus the prior's part: log Z less the decoupling error."""
        return as_number(self.partition.elbo(self._logits(marginals)))

    def decoupling_error(self, marginals: ArrayLike | Valuation) -> Number:
        """KL(q ‖ p) of the product law q with these marginals, or with σ(value/T)."""
        return as_number(self.partition.gap(self._logits(marginals)))

    def reverse_error(self, marginals: ArrayLike | Valuation) -> Number:
        """KL(p ‖ q): smallest at the true marginals, where it is the total correlation."""
        logits, p = self._logits(marginals), self.marginals
        cross: FloatArray = np.sum(
            p * np.logaddexp(0, -logits) + (1 - p) * np.logaddexp(0, logits), axis=-1
        )
        # A law that rules out what p allows is infinitely far from it.
        return as_number(np.where(cross > CERTAIN / 1e50, np.inf, cross - self.partition.entropy))

    def draw(self, count: int, seed: int = 0) -> BoolArray:
        """``count`` coalitions drawn from p: (*batch, count, n); exactly from a table.

        By sampling, each starts at a sample of the run and is moved on by some sweeps.
        """
        if count < 0:
            raise ValueError(f"{count} coalitions cannot be drawn; give a count of 0 or more")
        return self.partition.draw(count, np.random.default_rng(seed))

    def condition(self, inside: Iterable[Player] = (), outside: Iterable[Player] = ()) -> Boltzmann:
        """The law of the other players, given who is in and who is out."""
        names = self.game.players
        held, barred = coalition_of(inside, names), coalition_of(outside, names)
        if (held & barred).any():
            raise ValueError("a player cannot be both inside and outside")
        gone = held | barred
        if isinstance(self.partition, Partition):
            return self._reduced(gone, lambda xp, out, into, i: into if held[i] else out)
        game = ConditionedGame(self._remaining(gone), held, barred)
        return self._resampled(game, gone)

    def marginalise(self, players: Iterable[Player]) -> Boltzmann:
        """The law of the others, whatever these players do: F_M(S) = T log Σ_R exp(F(S∪R)/T).

        Keeps log Z and the joint law of the remaining players. Of a sampled game up to
        eight players are summed over exactly, at 2^r looks for one; with more, the samples
        of the whole law tell log Z, marginals, pair marginals and draws of the rest.
        """
        gone = coalition_of(players, self.game.players)
        if not isinstance(self.partition, Partition):
            return self._summed(gone)
        prior, temperature = self.partition.prior, self.partition.temperature
        speed = temperature.reshape(-1, 1, 1)

        def sum_out(xp: Any, out: Any, into: Any, i: int) -> Any:
            scale = xp.asarray(speed, device=array_api_compat.device(out))
            log_in, log_out = (0.0, 0.0)
            if prior is not None:
                log_in, log_out = -np.logaddexp(0, -prior[i]), -np.logaddexp(0, prior[i])
            return scale * xp.logaddexp(out / scale + float(log_out), into / scale + float(log_in))

        return self._reduced(gone, sum_out)

    def _reduced(self, gone: BoolArray, merge: Any) -> Boltzmann:
        """The law without some players, whose two halves of the table are merged."""
        game = self._remaining(gone)
        assert isinstance(game, TableGame)  # what an exact law is made from
        table = game.worth_table
        xp = array_api_compat.array_namespace(table)
        for i in reversed(np.flatnonzero(gone).tolist()):
            halves = xp.reshape(table, (int(np.prod(game.batch, dtype=int)), -1, 2, 2**i))
            table = merge(xp, halves[:, :, 0, :], halves[:, :, 1, :], i)
        rest = [name for name, out in zip(game.players, gone, strict=True) if not out]
        smaller = TableGame(xp.reshape(table, (*game.batch, 2 ** len(rest))), rest)
        prior = self.partition.prior
        kept = None if prior is None else prior[~gone]
        return self._given(
            smaller, Partition(TableExtension.of(smaller), self.partition.temperature, kept)
        )

    def _summed(self, gone: BoolArray) -> Boltzmann:
        """The law without some players, over whom is summed, or whom the samples ignore."""
        law, game = self._sampled(), self._remaining(gone)
        smaller = MarginalGame(game, law.contributions, gone, float(law.temperature), law.prior)
        if gone.sum() > MOST_SUMMED:
            return self._given(smaller, MarginalLaw(law, gone))
        return self._resampled(smaller, gone)

    def _resampled(self, game: Game, gone: BoolArray) -> Boltzmann:
        law = self._sampled()
        prior = None if law.prior is None else law.prior[~gone]
        return self._given(*_law(game, law.temperature, prior, law.options))

    def _sampled(self) -> SampledLaw:
        if isinstance(self.partition, MarginalLaw):
            raise ValueError(TOO_MANY)
        assert isinstance(self.partition, SampledLaw)  # the only other law
        return self.partition

    def _remaining(self, gone: BoolArray) -> Game:
        if gone.all():
            raise ValueError("at least one player must remain")
        return self.game

    def _logits(self, marginals: ArrayLike | Valuation) -> FloatArray:
        if isinstance(marginals, Valuation):
            if marginals.players != self.game.players:
                raise ValueError("the valuation is of other players than this law")
            tilt = 0.0 if self.partition.prior is None else self.partition.prior
            return np.asarray(tilt + marginals.values / self.partition.temperature[..., None])
        x = np.asarray(marginals, dtype=float)
        if not ((x >= 0) & (x <= 1)).all():
            raise ValueError("marginals must be probabilities in [0, 1]")
        return log_odds(x)


def _rows(coalitions: ArrayLike, count: int) -> BoolArray:
    """Coalitions as rows of booleans, checked."""
    given = np.asarray(coalitions)
    if given.shape[-1:] != (count,) or not np.isin(given, (0, 1)).all():
        raise ValueError(
            f"coalitions must be an array of 0 and 1, or booleans, with {count} columns, one per "
            "player"
        )
    return given.astype(bool).reshape(-1, count)


def _law(
    game: Game, temperature: Temperature, prior: FloatArray | None, options: Options
) -> tuple[Game, Partition | SampledLaw]:
    """The law of a game: exact from its table where that is within reach, else sampled."""
    extension = game.extension()
    sampled = extension is not None or from_game(game) is not None or options.budget is not None
    if not (sampled and table_refused(game, options)):
        table = table_of(game, options)[0]
        exact = TableExtension.of(table)
        return table, Partition(exact, resolve(temperature, exact), prior)
    T = absolute(temperature, game.batch) if extension is None else resolve(temperature, extension)
    return game, SampledLaw(game, extension, T, prior, options)
