"""Parametric set functions that can be learned, each the worths of a game in closed form.

A model turns parameters θ into worths F(S) and into gains Δ_iF(S) = F(S+i) - F(S-i), and
pulls gradients of a loss in these back to gradients in θ: with v = F or Δ and L(v) the loss,

    pullback(∂L/∂v) = ∂L/∂θ.

θ begins with the n linear terms; what follows are the interactions.

What the members of a coalition repeat of each other is

    rep(S; W) = Σ_d (Σ_{i∈S} W_id - max_{i∈S} W_id),    W ≥ 0,

and what player i repeats of the others, Δ_i rep(S; W) = Σ_d min(W_id, max_{j∈S-i} W_jd).
The maximum over no players is 0. Both are piecewise linear in W; where players tie, the
gradient is one between those on both sides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from fairfield.core.arrays import FloatArray, IntArray
from fairfield.core.game import Game
from fairfield.games.set_functions.facility_location import FLDCGame, FLIDGame
from fairfield.games.set_functions.pairwise import PairwiseGame
from fairfield.learning.members import Members
from fairfield.learning.observed import Observed

# Worths or gains, and how gradients in them are pulled back to gradients in θ.
Answer: TypeAlias = tuple[FloatArray, Callable[[FloatArray], FloatArray]]

# A product of matrices handles this many numbers in the time that one pair of members takes.
DENSE = 40


@dataclass(frozen=True)
class Model:
    """F(S) = Σ_{i∈S} a_i, players who join independently, to which others add interactions."""

    players: int
    # Whether interactions may not fall below 0.
    nonnegative = False

    @property
    def interactions(self) -> int:
        """The number of parameters after the n linear ones."""
        return 0

    @property
    def interacting(self) -> slice:
        """The places of the interactions in θ."""
        return slice(self.players, self.players + self.interactions)

    @property
    def columns(self) -> list[IntArray]:
        """The places of interactions to redraw together; none where losses are convex."""
        return []

    def start(self, rng: np.random.Generator) -> FloatArray:
        """Interactions to begin with."""
        return np.zeros(self.interactions)

    def worths(self, theta: FloatArray, some: Members) -> Answer:
        """F_θ (m,) of coalitions by their members, and its pullback."""
        return some.sums(theta), some.totals

    def gains(self, theta: FloatArray, inside: FloatArray) -> Answer:
        """Δ_iF_θ (m, n) of coalitions (m, n) of 0 and 1, and its pullback."""
        return np.broadcast_to(theta, inside.shape), lambda gradient: gradient.sum(axis=0)

    def game(self, theta: FloatArray, seen: Observed) -> Game:
        """The game F_θ of the players that vary; the others only have their log-odds."""
        from scipy.sparse import csr_array

        nothing = csr_array((len(seen.players), len(seen.players)))
        return PairwiseGame(_linear_terms(theta, seen), nothing, players=seen.players)


class Pairwise(Model):
    """F(S) = Σ_{i∈S} a_i + Σ_{i<j∈S} J_ij: the largest entropy for given pair frequencies.

    Δ_iF(S) = a_i + Σ_{j∈S} J_ij. One pass over m coalitions costs O(m n²); worths alone cost
    as much as there are pairs of members, where these are few.
    """

    @property
    def interactions(self) -> int:
        return self.players * (self.players - 1) // 2

    def worths(self, theta: FloatArray, some: Members) -> Answer:
        if DENSE * some.followers.sum() > len(some.sizes) * self.players**2:
            return self._worths_by_products(theta, some.matrix())
        first, second, row = some.pairs()
        # The place of J_ij, i < j, in the upper triangle, row after row.
        place = first * (2 * self.players - first - 1) // 2 + second - first - 1
        linear, pairs = np.split(theta, [self.players])

        def pullback(gradient: FloatArray) -> FloatArray:
            of_pairs = np.bincount(place, gradient[row], self.interactions)
            return np.concatenate([some.totals(gradient), of_pairs])

        return some.sums(linear) + np.bincount(row, pairs[place], len(some.sizes)), pullback

    def _worths_by_products(self, theta: FloatArray, inside: FloatArray) -> Answer:
        linear, pairs = self._parts(theta)
        both = linear + inside @ (pairs / 2)

        def pullback(gradient: FloatArray) -> FloatArray:
            weighted = inside * gradient[:, None]
            return self._joined(weighted.sum(axis=0), weighted.T @ inside / 2)

        return np.vecdot(inside, both), pullback

    def gains(self, theta: FloatArray, inside: FloatArray) -> Answer:
        linear, pairs = self._parts(theta)

        def pullback(gradient: FloatArray) -> FloatArray:
            return self._joined(gradient.sum(axis=0), inside.T @ gradient)

        return linear + inside @ pairs, pullback

    def game(self, theta: FloatArray, seen: Observed) -> Game:
        linear, pairs = self._parts(theta)
        quadratic = np.zeros((len(seen.players), len(seen.players)))
        quadratic[np.ix_(seen.varying, seen.varying)] = pairs
        return PairwiseGame(_linear_terms(linear, seen), quadratic, players=seen.players)

    def _parts(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """a and the symmetric J, whose upper triangle θ holds."""
        pairs = np.zeros((self.players, self.players))
        pairs[np.triu_indices(self.players, 1)] = theta[self.players :]
        return theta[: self.players], pairs + pairs.T

    def _joined(self, linear: FloatArray, pairs: FloatArray) -> FloatArray:
        """The gradient in θ from those in a and in all entries of J."""
        return np.concatenate([linear, (pairs + pairs.T)[np.triu_indices(self.players, 1)]])


@dataclass(frozen=True)
class Diversity(Model):
    """F(S) = Σ_{i∈S} u_i - rep(S; W) + rep(S; V).

    FLID where V has no columns: players who offer the same, W ≥ 0, repeat each other. FLDC
    adds V ≥ 0, by which players complement each other.

    Sources: Tschiatschek, Djolonga, Krause, AISTATS 2016 (FLID); Djolonga, Tschiatschek,
    Krause, Variational inference in mixed probabilistic submodular models, NeurIPS 2016
    (FLDC). One pass over m coalitions costs O(m n D), its gains several times that.
    """

    repeated: int
    complementary: int = 0
    nonnegative = True

    @property
    def interactions(self) -> int:
        return self.players * (self.repeated + self.complementary)

    @property
    def columns(self) -> list[IntArray]:
        matrices = self._matrices(np.arange(self.interactions))
        return [column for matrix in matrices for column in matrix.T]

    def start(self, rng: np.random.Generator) -> FloatArray:
        # At W = 0 all players tie for every maximum; random weights separate them.
        return rng.random(self.interactions)

    def worths(self, theta: FloatArray, some: Members) -> Answer:
        linear = super().worths(theta[: self.players], some)
        return self._together(theta, linear, lambda weights: repeated_in_all(weights, some))

    def gains(self, theta: FloatArray, inside: FloatArray) -> Answer:
        linear = super().gains(theta[: self.players], inside)
        return self._together(theta, linear, lambda weights: repeated_by_each(weights, inside))

    def _together(
        self, theta: FloatArray, linear: Answer, repeated: Callable[[FloatArray], Answer]
    ) -> Answer:
        own, pull_own = linear
        (less, pull_less), (more, pull_more) = map(repeated, self._matrices(theta[self.players :]))

        def pullback(gradient: FloatArray) -> FloatArray:
            both = -pull_less(gradient).ravel(), pull_more(gradient).ravel()
            return np.concatenate([pull_own(gradient), *both])

        return own - less + more, pullback

    def game(self, theta: FloatArray, seen: Observed) -> Game:
        linear = _linear_terms(theta[: self.players], seen)
        # Players who never vary have zeros: they repeat no one.
        W, V = (np.zeros((len(seen.players), d)) for d in (self.repeated, self.complementary))
        W[seen.varying], V[seen.varying] = self._matrices(theta[self.players :])
        if not self.complementary:
            return FLIDGame(linear, W, players=seen.players)
        return FLDCGame(linear, W, V, players=seen.players)

    def _matrices(self, interactions: Any) -> tuple[Any, Any]:
        """W and V, whose rows the interactions hold one after the other."""
        W, V = np.split(interactions, [self.players * self.repeated])
        return W.reshape(self.players, self.repeated), V.reshape(self.players, self.complementary)


def _linear_terms(linear: FloatArray, seen: Observed) -> FloatArray:
    """The learned terms of the players that vary, log (k+½)/(N-k+½) for all others."""
    share = seen.shrunk_frequencies()
    terms = np.log(share / (1 - share))
    terms[seen.varying] = linear
    return terms


def repeated_in_all(weights: FloatArray, some: Members) -> Answer:
    """rep(S; W) (m,) of some coalitions, and its pullback to W (n, D)."""
    row, member = some.row, some.member
    offered = weights[member]
    filled, first = np.unique(row, return_index=True)
    highest = np.zeros((len(some.sizes), weights.shape[1]))
    if len(row):
        highest[filled] = np.maximum.reduceat(offered, first, axis=0)

    def pullback(gradient: FloatArray) -> FloatArray:
        best = (offered == highest[row]) & (offered > 0)
        ties = np.ones_like(highest)
        if len(row):
            ties[filled] = np.maximum(np.add.reduceat(best, first, axis=0, dtype=float), 1.0)
        shares = (1.0 - best / ties[row]) * gradient[row, None]
        columns = [np.bincount(member, share, len(weights)) for share in shares.T]
        return np.array(columns, dtype=float).reshape(-1, len(weights)).T

    return some.sums(weights.sum(axis=1)) - highest.sum(axis=1), pullback


def repeated_by_each(weights: FloatArray, inside: FloatArray) -> Answer:
    """Δ_i rep(S; W) (m, n) of coalitions (m, n), and its pullback to W (n, D)."""
    rows = np.arange(len(inside))
    repeated = np.zeros(inside.shape)
    kept = []
    for own in weights.T:
        offered = inside * own
        best = offered.argmax(axis=1)
        highest = offered[rows, best]
        offered[rows, best] = 0.0
        next_best = offered.argmax(axis=1)
        others = np.repeat(highest[:, None], len(own), axis=1)
        others[rows, best] = offered[rows, next_best]
        repeated += np.minimum(own, others)
        # Where no other offers anything, the minimum is 0 whatever W is.
        kept.append((best, next_best, own < others, (own >= others) & (others > 0)))

    def pullback(gradient: FloatArray) -> FloatArray:
        gradients = np.zeros_like(weights)
        for d, (best, next_best, own_least, others_least) in enumerate(kept):
            of_others = np.where(others_least, gradient, 0.0)
            of_next = of_others[rows, best]
            gradients[:, d] = np.sum(gradient, axis=0, where=own_least)
            gradients[:, d] += np.bincount(best, of_others.sum(axis=1) - of_next, len(weights))
            gradients[:, d] += np.bincount(next_best, of_next, len(weights))
        return gradients

    return repeated, pullback
