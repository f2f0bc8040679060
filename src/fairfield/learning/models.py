"""Parametric set functions that can be learned, each the worths of a game in closed form.

A model turns parameters θ into worths F(S) and into gains Δ_iF(S) = F(S+i) - F(S-i), and
pulls slopes of a loss in these back to slopes in θ: with v = F or Δ and L(v) the loss,

    pullback(∂L/∂v) = ∂L/∂θ.

θ begins with the n linear terms; what follows are the interactions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np

from fairfield.game import Game
from fairfield.games.pairwise import PairwiseGame
from fairfield.games.set_functions import FLDCGame, FLIDGame
from fairfield.learning.observed import Observed
from fairfield.learning.repetition import Pullback, repeated_by_each, repeated_in_all
from fairfield.multilinear import FloatArray

Answer: TypeAlias = tuple[FloatArray, Pullback]


class Model(Protocol):
    """A family of set functions F_θ over n players."""

    @property
    def players(self) -> int:
        """The number of players n."""

    @property
    def interactions(self) -> int:
        """The number of parameters after the n linear ones."""

    @property
    def nonnegative(self) -> bool:
        """Whether interactions may not fall below 0."""

    def start(self, rng: np.random.Generator) -> FloatArray:
        """Interactions to begin with."""

    def worths(self, theta: FloatArray, inside: FloatArray) -> Answer:
        """F_θ (m,) of coalitions (m, n) of 0 and 1, and its pullback."""

    def gains(self, theta: FloatArray, inside: FloatArray) -> Answer:
        """Δ_iF_θ (m, n) of coalitions (m, n) of 0 and 1, and its pullback."""

    def game(self, theta: FloatArray, seen: Observed) -> Game:
        """The game F_θ of those who vary in what was seen; others get their log-odds alone."""


@dataclass(frozen=True)
class Linear:
    """F(S) = Σ_{i∈S} a_i: players who join independently, with probability σ(a_i)."""

    players: int
    interactions = 0
    nonnegative = False

    def start(self, rng: np.random.Generator) -> FloatArray:
        return np.zeros(0)

    def worths(self, theta: FloatArray, inside: FloatArray) -> Answer:
        return inside @ theta, lambda slope: slope @ inside

    def gains(self, theta: FloatArray, inside: FloatArray) -> Answer:
        return np.broadcast_to(theta, inside.shape), lambda slope: slope.sum(axis=0)

    def game(self, theta: FloatArray, seen: Observed) -> Game:
        from scipy.sparse import csr_array

        nothing = csr_array((len(seen.players), len(seen.players)))
        return PairwiseGame(_linear_terms(theta, seen), nothing, players=seen.players)


@dataclass(frozen=True)
class Pairwise:
    """F(S) = Σ_{i∈S} a_i + Σ_{i<j∈S} J_ij: the largest entropy for given pair frequencies.

    Δ_iF(S) = a_i + Σ_{j∈S} J_ij. One pass over m coalitions costs O(m n²).
    """

    players: int
    nonnegative = False

    @property
    def interactions(self) -> int:
        return self.players * (self.players - 1) // 2

    def start(self, rng: np.random.Generator) -> FloatArray:
        return np.zeros(self.interactions)

    def worths(self, theta: FloatArray, inside: FloatArray) -> Answer:
        linear, pairs = self._parts(theta)
        both = linear + inside @ (pairs / 2)

        def pullback(slope: FloatArray) -> FloatArray:
            weighted = inside * slope[:, None]
            return self._joined(weighted.sum(axis=0), weighted.T @ inside / 2)

        return np.vecdot(inside, both), pullback

    def gains(self, theta: FloatArray, inside: FloatArray) -> Answer:
        linear, pairs = self._parts(theta)

        def pullback(slope: FloatArray) -> FloatArray:
            return self._joined(slope.sum(axis=0), inside.T @ slope)

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
        """Slopes in θ from those in a and in all entries of J."""
        return np.concatenate([linear, (pairs + pairs.T)[np.triu_indices(self.players, 1)]])


@dataclass(frozen=True)
class Diversity:
    """F(S) = Σ_{i∈S} u_i - rep(S; W) + rep(S; V), rep(S; W) = Σ_d (Σ_{i∈S} W_id - max_{i∈S} W_id).

    FLID where V has no columns: players who offer the same, W ≥ 0, repeat each other. FLDC
    adds V ≥ 0, by which players complement each other.

    Sources: Tschiatschek, Djolonga, Krause, AISTATS 2016 (FLID); Djolonga, Tschiatschek,
    Krause, Variational inference in mixed probabilistic submodular models, NeurIPS 2016
    (FLDC). One pass over m coalitions costs O(m n D), its gains several times that.
    """

    players: int
    repeated: int
    complementary: int = 0
    nonnegative = True

    @property
    def interactions(self) -> int:
        return self.players * (self.repeated + self.complementary)

    def start(self, rng: np.random.Generator) -> FloatArray:
        # At W = 0 all players tie for every maximum; random weights tell them apart.
        return rng.random(self.interactions)

    def worths(self, theta: FloatArray, inside: FloatArray) -> Answer:
        return self._together(theta, inside, inside @ theta[: self.players], repeated_in_all)

    def gains(self, theta: FloatArray, inside: FloatArray) -> Answer:
        linear = np.broadcast_to(theta[: self.players], inside.shape)
        return self._together(theta, inside, linear, repeated_by_each)

    def _together(
        self,
        theta: FloatArray,
        inside: FloatArray,
        linear: FloatArray,
        repeated: Callable[[FloatArray, FloatArray], Answer],
    ) -> Answer:
        _, weights, complements = self._parts(theta)
        less, pull_less = repeated(weights, inside)
        more, pull_more = repeated(complements, inside)

        def pullback(slope: FloatArray) -> FloatArray:
            own = slope.sum(axis=0) if slope.ndim == 2 else slope @ inside
            return np.concatenate([own, -pull_less(slope).ravel(), pull_more(slope).ravel()])

        return linear - less + more, pullback

    def game(self, theta: FloatArray, seen: Observed) -> Game:
        linear, weights, complements = self._parts(theta)
        gains = _linear_terms(linear, seen)
        repeats = _rows_of_all(weights, seen)
        if not self.complementary:
            return FLIDGame(gains, repeats, players=seen.players)
        return FLDCGame(gains, repeats, _rows_of_all(complements, seen), players=seen.players)

    def _parts(self, theta: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        n, columns = self.players, self.repeated
        matrices = theta[n:].reshape(-1)
        weights = matrices[: n * columns].reshape(n, columns)
        return theta[:n], weights, matrices[n * columns :].reshape(n, self.complementary)


def _linear_terms(linear: FloatArray, seen: Observed) -> FloatArray:
    """The learned terms of those who vary; log (k+½)/(N-k+½) for all others."""
    share = seen.shrunk_frequencies()
    terms = np.log(share / (1 - share))
    terms[seen.varying] = linear
    return terms


def _rows_of_all(weights: FloatArray, seen: Observed) -> FloatArray:
    """Weights (n, D) with zeros for players who never vary: they repeat nobody."""
    rows = np.zeros((len(seen.players), weights.shape[1]))
    rows[seen.varying] = weights
    return rows
