"""What surrogates make of the games of a pool: each is read anywhere, alone or corrected by the draws."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.combined import CombinedExtension
from fairfield.core.extension import Extension
from fairfield.core.special import log_binomials
from fairfield.estimation.at_points.draws import STEPPED
from fairfield.estimation.at_points.pool import Pool
from fairfield.estimation.at_points.reading import Control
from fairfield.estimation.corrections import is_stepped
from fairfield.estimation.designs.design import Sampled
from fairfield.estimation.fitted import Fitted
from fairfield.estimation.fitter import Fitter
from fairfield.estimation.prior.extension import MeanExtension

# Beyond so many players the laws of sizes, and Hessians, cost more than what they tell is worth.
MOST_PLAYERS = 300


@dataclass(frozen=True)
class Guide:
    """A surrogate of one game, with what the prior makes of the ``rest``: ``control`` of what is read from draws.

    Without a rest it is the game itself. The ``prior`` is what is made of the worths without a surrogate, which
    is ``bare``: of a surrogate's own errors the prior, which is given what it leaves, says too little. Of worths that
    take a few values, as those of votes do, a surrogate, smooth as it is, says too little: it ``jumps``. So many
    worths that were ``held_back`` vouch for a game that was recovered.
    """

    control: Control
    rest: MeanExtension | None
    prior: MeanExtension
    name: str
    bare: bool
    jumps: bool
    held_back: int

    def predict(self, coalitions: BoolArray) -> FloatArray:
        """The worths (m,) of coalitions (m, n) in the surrogate."""
        terms = [(c, part) for c, part in self.terms if part is not self.rest]
        found = [c * part.value(coalitions.astype(float)) for c, part in terms]
        if self.rest is not None:
            found.append(self.rest.predict(coalitions))
        return np.asarray(np.sum(found, axis=0))

    @property
    def terms(self) -> tuple[tuple[float, Extension], ...]:
        """Its parts."""
        extension = self.control.extension
        assert isinstance(extension, CombinedExtension)
        return extension.terms


def guides(pool: Pool, fitter: Fitter, *, noisy: bool, until: float = inf) -> list[Guide] | None:
    """The guides of all games of a pool, if they are found in time."""
    sampled = _sampled(pool, noisy=noisy)
    if pool.players > MOST_PLAYERS or fitter.is_late(sampled, until):
        return None
    fits = fitter.fits(sampled, until)
    games = range(len(pool.worths))
    together = len(fits) < len(games)
    return [_guide(fits[0 if together else game], game if together else 0, pool) for game in games]


def _sampled(pool: Pool, *, noisy: bool) -> Sampled:
    sizes = np.bincount(pool.coalitions.sum(axis=1), minlength=pool.players + 1)
    every = np.exp(log_binomials(pool.players)).round()
    noise = pool.noise if pool.noise.any() else None
    return Sampled(
        pool.coalitions, pool.worths, noise, 0, every, sizes.astype(float), noisy, anywhere=True
    )


def _guide(fitted: Fitted, game: int, pool: Pool) -> Guide:
    surrogate, rest = fitted.surrogate, fitted.rest
    each = surrogate.scale / max(len(surrogate.parts), 1)
    terms: list[tuple[float, Extension]] = [(each, p.extension()) for p in surrogate.parts]
    inside = outside = surrogate.inside
    own = None
    if rest is not None:
        own = MeanExtension(rest, game)
        terms.append((1.0, own))
        more = surrogate.inside - surrogate.outside if surrogate.parts else 0.0
        inside, outside = (rest.inside + more)[game], rest.outside[game]
    worths = fitted.sampled.worths[game]
    # Worths that jump leave nothing where they agree, and as much as they differ where they do not.
    jumps = rest is not None and bool(is_stepped(worths[None], STEPPED)[0])
    oddest = float(np.ptp(worths) if jumps else np.abs(outside).max())
    left = np.where((pool.times() > 1) | pool.ends, inside, outside)
    control = Control(left, oddest, CombinedExtension(terms))
    name = surrogate.name or MeanExtension.method
    bare = not surrogate.parts
    return Guide(
        control, own, MeanExtension(fitted.prior, game), name, bare, jumps, surrogate.held_back
    )
