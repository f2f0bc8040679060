"""Surrogates: games that are like the sampled one and whose values are known.

A value is linear in the game, φ(F) = φ(G) + φ(F - G). So a surrogate G that was fitted to
the sampled worths, and whose values have a closed form, leaves only F - G to be estimated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray, IntArray
from fairfield.core.extension import legendre
from fairfield.core.special import log_binomials

FOLDS = 5
# Points of the diagonal that stand for shares of sizes at most, and how well they must.
MOST_NODES, ACCURATE = 128, 1e-9
# So many pairs are fitted to at most; more are left to the correction.
FITTED = 5000
# A surrogate that leaves so many times what another does is not fitted to the end.
HOPELESS = 2.0


@dataclass(frozen=True)
class Diagonal:
    """How a semivalue averages ∇f on the diagonal: by a distribution of the point t.

    ``nodes`` and ``weights`` integrate over it, ``shares`` weigh the sizes of the coalition that
    a player joins.
    """

    name: str
    nodes: FloatArray
    weights: FloatArray
    shares: FloatArray

    @classmethod
    def shapley(cls, players: int) -> Diagonal:
        """Every point of the diagonal alike, every size alike."""
        shares = np.full(players, 1 / players)
        return cls("shapley", *legendre(players - 1), shares)

    @classmethod
    def banzhaf(cls, players: int) -> Diagonal:
        """The midpoint of the diagonal, sizes by the binomial distribution."""
        shares = np.exp(log_binomials(players - 1) - (players - 1) * np.log(2))
        return cls("banzhaf", np.array([0.5]), np.ones(1), shares)

    @classmethod
    def of_sizes(cls, shares: FloatArray) -> Diagonal | None:
        """That of a semivalue by its shares of sizes; None where points cannot stand for them."""
        players = len(shares)
        nodes, _ = legendre(2 * min(players, MOST_NODES) - 1)
        sizes = np.arange(players)[:, None]
        logs = log_binomials(players - 1)[:, None] + sizes * np.log(nodes)
        chances = np.exp(logs + (players - 1 - sizes) * np.log1p(-nodes))
        weights, *_ = np.linalg.lstsq(chances, shares, rcond=1e-12)
        if np.abs(chances @ weights - shares).max() > ACCURATE * shares.max():
            return None
        return cls("semivalue", nodes, np.asarray(weights, dtype=float), shares)


@dataclass(frozen=True)
class Sample:
    """Pairs and the odd parts of the games on them.

    ``coalitions`` (p, n) holds one coalition of each pair, ``odd`` (games, p) half the worth
    by which it exceeds its complement, ``both`` (games, 2, p) the worths of the two, which stand
    at ``places`` (p, 2) among all that were received, the ends first. ``weights`` (p,) are those of
    the regression, ``fraction`` (p,) how much of its stratum was drawn.
    """

    coalitions: BoolArray
    odd: FloatArray
    both: FloatArray
    places: IntArray
    weights: FloatArray
    fraction: FloatArray

    @property
    def signs(self) -> FloatArray:
        """±½ for who is in and who is out."""
        return np.where(self.coalitions, 0.5, -0.5)


@dataclass(frozen=True)
class Fit:
    """A surrogate of each game: its values (games, n), and what it leaves of the odd parts.

    ``inside`` and ``outside`` (games, p) are residuals of the surrogate that was fitted to a pair
    and of one that was not.
    """

    name: str
    values: FloatArray
    inside: FloatArray
    outside: FloatArray


def folds(groups: IntArray, seed: int) -> IntArray:
    """The number of each one's fold, (m,); those of one of the ``groups`` (m,), from 0 on, share it."""
    return np.asarray(
        (np.random.default_rng(seed).permutation(int(groups.max()) + 1) % FOLDS)[groups]
    )


def cross_fitted(
    name: str,
    sample: Sample,
    fit: Callable[[int, IntArray], tuple[FloatArray, FloatArray]],
    seed: int,
    rival: FloatArray,
) -> Fit | None:
    """The mean of surrogates that were each fitted without one fold of the pairs.

    ``fit(game, kept)`` gives the odd parts (p,) of the game fitted to these pairs, and its
    values (n,). None if the first fold leaves more than twice what the rival surrogate does,
    whose residuals (games, p) are given.
    """
    fold = np.full(len(sample.coalitions), FOLDS)
    fold[:FITTED] = folds(np.arange(len(fold[:FITTED])), seed)
    inside, outside = sample.odd.copy(), np.zeros_like(sample.odd)
    values = np.zeros((len(sample.odd), sample.coalitions.shape[1]))
    weights = sample.weights**2 * (1 - sample.fraction)
    for k in range(FOLDS):
        out = fold == k
        for game, truth in enumerate(sample.odd):
            odd, value = fit(game, np.flatnonzero(~out & (fold < FOLDS)))
            outside[game, out] = (truth - odd)[out]
            inside[game] -= odd / FOLDS
            values[game] += value / FOLDS
        ours, theirs = (np.sum((weights * each**2)[:, out], axis=1) for each in (outside, rival))
        if k == 0 and (ours > HOPELESS * theirs).all():
            return None
    outside[:, FITTED:] = inside[:, FITTED:]
    return Fit(name, values, inside, outside)


def no_surrogate(sample: Sample) -> Fit:
    """The game 0: everything is left to the regression."""
    games, players = len(sample.odd), sample.coalitions.shape[1]
    return Fit("", np.zeros((games, players)), sample.odd, sample.odd)
