"""Laws of some players, whatever the others do.

F_M(S) = T log Σ_{R'⊆R} exp(F(S ∪ R')/T)·prior(R') is the game of the players outside R whose
law is that of p without R: it keeps log Z and the joint law of the rest.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from fairfield.boltzmann.sampled import SampledLaw
from fairfield.core.arrays import BoolArray, FloatArray, IntArray
from fairfield.core.coalitions import enumerate_coalitions
from fairfield.core.game import Game, Traits
from fairfield.mcmc.landscape import Contributions
from fairfield.mean_field.elbo import log_odds, prior_energy

# Players removed exactly, by a sum over all their coalitions; more are left to sampling.
MOST_SUMMED = 8
TOO_MANY = (
    f"only log_z, marginals, pair_marginals and draws are known where more than {MOST_SUMMED} "
    "players are marginalised by sampling; remove fewer at a time"
)


class MarginalGame(Game):
    """F_M by summing over the 2^r coalitions of the r players removed.

    A look at one of its coalitions is a look at 2^r of the whole game.
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
        self._lean = None if prior is None else prior[self.gone]
        self._source = source

    @cached_property
    def _others(self) -> BoolArray:
        """All coalitions of those removed."""
        if len(self.gone) > MOST_SUMMED:
            raise ValueError(TOO_MANY)
        return enumerate_coalitions(len(self.gone))

    @cached_property
    def _tilt(self) -> FloatArray:
        inside = self._others.astype(float)
        return self.temperature * prior_energy(inside, log_odds(inside), self._lean)

    def _completed(self, coalitions: BoolArray) -> BoolArray:
        """Every coalition with every coalition of those removed: (m · 2^r, n)."""
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
            * np.logaddexp.reduce((worths + self._tilt) / self.temperature, axis=-1)
        )

    def describe(self) -> dict[str, Any]:
        gone = [str(self.whole.players[i]) for i in self.gone]
        lean = None if self._lean is None else self._lean.tolist()
        about = {"gone": gone, "temperature": self.temperature, "prior": lean}
        return {**super().describe(), **about, "whole": self.whole.describe()}


class MarginalLaw:
    """What the samples of a law say of some of its players."""

    def __init__(self, law: SampledLaw, gone: BoolArray) -> None:
        self._law, self._kept = law, np.flatnonzero(~gone)
        self.temperature = law.temperature
        self.prior = None if law.prior is None else law.prior[self._kept]

    @property
    def evaluations(self) -> int:
        return self._law.evaluations

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

    def draw(self, count: int, rng: np.random.Generator) -> BoolArray:
        return self._law.draw(count, rng)[:, self._kept]

    def stderr(self, reading: str) -> FloatArray:
        error = self._law.stderr(reading)
        if reading == "marginals":
            return error[self._kept]
        return error[np.ix_(self._kept, self._kept)] if reading == "pair_marginals" else error

    def _refuse(self, *_: Any) -> NoReturn:
        raise ValueError(TOO_MANY)

    mean = property(_refuse)
    entropy = property(_refuse)
    total_correlation = property(_refuse)
    elbo = gap = log_share = _refuse
