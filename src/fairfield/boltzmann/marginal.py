"""Laws of some of the players: given what the others do, or whatever they do.

F_M(S) = T log Σ_{R'⊆R} exp(F(S ∪ R')/T)·prior(R') is the game of the players outside R whose
law is that of p without R: it keeps log Z and the joint distribution of the rest.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NoReturn

import array_api_compat
import numpy as np

from fairfield.boltzmann.exact import ExactLaw
from fairfield.boltzmann.law import Law, law_of
from fairfield.boltzmann.sampled import SampledLaw
from fairfield.core.arrays import BoolArray, FloatArray, IntArray
from fairfield.core.coalitions import enumerate_coalitions
from fairfield.core.game import Game, Traits
from fairfield.games.given.conditioned import ConditionedGame
from fairfield.games.given.table import TableGame
from fairfield.mcmc.landscape import Contributions
from fairfield.mean_field.elbo import log_odds, prior_energy
from fairfield.multilinear.table import TableExtension

# Players removed exactly, by a sum over all their coalitions; more are left to sampling.
MOST_SUMMED = 8
TOO_MANY = (
    f"only log_z, marginals, pair_marginals and draws are available where more than {MOST_SUMMED} "
    "players are marginalised by sampling; remove fewer at a time"
)


def conditioned(game: Game, law: Law, held: BoolArray, barred: BoolArray) -> tuple[Game, Law]:
    """The game and the law of the other players, given who is in and who is out."""
    gone = held | barred
    _check_rest(gone)
    if isinstance(law, ExactLaw):
        return _merged(game, law, gone, lambda xp, out, into, i: into if held[i] else out)
    return _resampled(ConditionedGame(game, held, barred), _sampled(law), gone)


def marginalised(game: Game, law: Law, gone: BoolArray) -> tuple[Game, Law]:
    """The game and the law of the other players, whatever these do."""
    _check_rest(gone)
    if isinstance(law, ExactLaw):
        return _merged(game, law, gone, _sum_out(law))
    whole = _sampled(law)
    smaller = MarginalGame(game, whole.contributions, gone, float(whole.temperature), whole.prior)
    if gone.sum() > MOST_SUMMED:
        return smaller, MarginalLaw(whole, gone)
    return _resampled(smaller, whole, gone)


def _sum_out(law: ExactLaw) -> Any:
    """T log Σ exp(F/T)·prior over whether player i is out or in, for halves of a table."""
    temperature, prior = law.temperature.reshape(-1, 1, 1), law.prior

    def merge(xp: Any, out: Any, into: Any, i: int) -> Any:
        scale = xp.asarray(temperature, device=array_api_compat.device(out))
        log_in, log_out = 0.0, 0.0
        if prior is not None:
            log_in, log_out = -float(np.logaddexp(0, -prior[i])), -float(np.logaddexp(0, prior[i]))
        return scale * xp.logaddexp(out / scale + log_out, into / scale + log_in)

    return merge


def _merged(game: Game, law: ExactLaw, gone: BoolArray, merge: Any) -> tuple[Game, Law]:
    """The law without some players, over each of whom the two halves of the table are merged."""
    assert isinstance(game, TableGame)  # what an exact law is made from
    table = game.worth_table
    xp = array_api_compat.array_namespace(table)
    for i in reversed(np.flatnonzero(gone).tolist()):
        halves = xp.reshape(table, (int(np.prod(game.batch, dtype=int)), -1, 2, 2**i))
        table = merge(xp, halves[:, :, 0, :], halves[:, :, 1, :], i)
    rest = [name for name, out in zip(game.players, gone, strict=True) if not out]
    smaller = TableGame(xp.reshape(table, (*game.batch, 2 ** len(rest))), rest)
    prior = None if law.prior is None else law.prior[~gone]
    return smaller, ExactLaw(TableExtension.of(smaller), law.temperature, prior)


def _resampled(game: Game, law: SampledLaw, gone: BoolArray) -> tuple[Game, Law]:
    prior = None if law.prior is None else law.prior[~gone]
    return law_of(game, law.temperature, prior, law.options)


def _sampled(law: Law) -> SampledLaw:
    if not isinstance(law, SampledLaw):
        raise ValueError(TOO_MANY)
    return law


def _check_rest(gone: BoolArray) -> None:
    if gone.all():
        raise ValueError("at least one player must remain")


class MarginalGame(Game):
    """F_M by summing over the 2^r coalitions of the r players removed.

    One of its worths takes 2^r worths of the whole game.
    """

    def __init__(
        self,
        game: Game,
        source: Contributions | None,
        gone: BoolArray,
        temperature: float,
        prior: FloatArray | None,
    ) -> None:
        self.whole, self.temperature = game, temperature
        self.gone: IntArray = np.flatnonzero(gone)
        self.free: IntArray = np.flatnonzero(~gone)
        self.players = tuple(game.players[i] for i in self.free)
        self.traits = Traits(opaque=game.traits.opaque)
        self._prior = None if prior is None else prior[self.gone]
        self._source = source

    @cached_property
    def _others(self) -> BoolArray:
        """All coalitions of the players removed."""
        if len(self.gone) > MOST_SUMMED:
            raise ValueError(TOO_MANY)
        return enumerate_coalitions(len(self.gone))

    @cached_property
    def _log_prior(self) -> FloatArray:
        inside = self._others.astype(float)
        return self.temperature * prior_energy(inside, log_odds(inside), self._prior)

    def _completed(self, coalitions: BoolArray) -> BoolArray:
        """Every coalition with every coalition of the players removed: (m · 2^r, n)."""
        every = np.empty((len(coalitions), len(self._others), len(self.whole.players)), dtype=bool)
        every[:, :, self.free] = coalitions[:, None]
        every[:, :, self.gone] = self._others
        return every.reshape(-1, every.shape[-1])

    def worths(self, coalitions: BoolArray) -> FloatArray:
        worths = self.whole.worths(self._completed(coalitions))
        return self._sum(worths.reshape(len(coalitions), -1))

    def contributions(self, coalitions: BoolArray) -> tuple[FloatArray, FloatArray] | None:
        if self._source is None:
            return None
        worths, steps = self._source(self._completed(coalitions))
        worths = worths.reshape(len(coalitions), len(self._others))
        steps = steps[:, self.free].reshape(*worths.shape, len(self.free))
        own = self._sum(worths)
        signs = np.where(coalitions, -1.0, 1.0)
        flipped = self._sum((worths[..., None] + signs[:, None] * steps).swapaxes(1, 2))
        return own, signs * (flipped - own[:, None])

    def _sum(self, worths: FloatArray) -> FloatArray:
        return np.asarray(
            self.temperature
            * np.logaddexp.reduce((worths + self._log_prior) / self.temperature, axis=-1)
        )

    def describe(self) -> dict[str, Any]:
        gone = [str(self.whole.players[i]) for i in self.gone]
        prior = None if self._prior is None else self._prior.tolist()
        about = {"gone": gone, "temperature": self.temperature, "prior": prior}
        return {**super().describe(), **about, "whole": self.whole.describe()}


class MarginalLaw:
    """The samples of a law, restricted to some of its players."""

    def __init__(self, law: SampledLaw, gone: BoolArray) -> None:
        self._law, self._kept = law, np.flatnonzero(~gone)
        self.temperature = law.temperature
        self.prior = None if law.prior is None else law.prior[self._kept]

    @property
    def samples(self) -> int:
        return self._law.samples

    @property
    def warnings(self) -> tuple[str, ...]:
        return self._law.warnings

    @property
    def log_z(self) -> FloatArray:
        return self._law.log_z

    @property
    def marginals(self) -> FloatArray:
        return self._law.marginals[self._kept]

    @property
    def pair_marginals(self) -> FloatArray:
        return self._law.pair_marginals[np.ix_(self._kept, self._kept)]

    @property
    def log_odds(self) -> FloatArray:
        return self._law.log_odds[self._kept]

    def draw(self, count: int, rng: np.random.Generator) -> BoolArray:
        return self._law.draw(count, rng)[:, self._kept]

    def stderr(self, reading: str) -> FloatArray:
        if reading in ("mean", "entropy", "total_correlation"):
            raise ValueError(TOO_MANY)
        error = self._law.stderr(reading)
        if reading == "log_z":
            return error
        return error[np.ix_(*[self._kept] * error.ndim)]

    def _refuse(self, *_: Any) -> NoReturn:
        raise ValueError(TOO_MANY)

    mean = property(_refuse)
    entropy = property(_refuse)
    total_correlation = property(_refuse)
    elbo = gap = gap_of = log_share = _refuse
