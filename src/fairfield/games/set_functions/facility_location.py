"""Games of facility location and diversity: what the best member offers in each dimension."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import array_api_compat
import numpy as np
from numpy.typing import ArrayLike

from fairfield.core.arrays import BoolArray, FloatArray, beside, on_host
from fairfield.core.checks import names, numbers, numbers_anywhere
from fairfield.core.combined import Combination
from fairfield.core.extension import Extension
from fairfield.core.fingerprint import digest
from fairfield.core.game import Game, Players
from fairfield.games.set_functions.maxima import MaximaExtension


class FLIDGame(Game):
    """The gains of a coalition's members, less what they repeat of each other.

        F(S) = Σ_{i∈S} u_i + Σ_d (max_{i∈S} W_id - Σ_{i∈S} W_id)

    ``gains`` u (n,) and ``weights`` W (n, D) may have any sign; the maximum over no
    player is 0. A gradient costs O(n · D) after one sort, Shapley values O(n · D).

    Source: Tschiatschek, Djolonga, Krause, Learning probabilistic submodular diversity
    models via noise contrastive estimation, AISTATS 2016.

    >>> game = FLIDGame([1, 1], weights=[[1], [1]])
    >>> game.worths(np.array([[True, False], [True, True]])).tolist()
    [1.0, 1.0]
    >>> game.extension().gradient([0.5, 0.25]).tolist()
    [0.75, 0.5]
    """

    def __init__(
        self, gains: ArrayLike, weights: ArrayLike, *, players: Players | None = None
    ) -> None:
        self.gains = numbers(on_host(gains), "gains")
        self.weights = numbers_anywhere(weights, "weights", axes=2)
        if len(self.gains) != self.weights.shape[0]:
            raise ValueError(
                f"{len(self.gains)} gains and weights of shape {tuple(self.weights.shape)} were "
                "given; weights need one row per player"
            )
        self.players = names(players, len(self.gains))

    def worths(self, coalitions: BoolArray) -> FloatArray:
        xp, best = array_api_compat.array_namespace(self.weights), self._extension
        inside = beside(self.weights, coalitions.astype(np.int8))
        firsts = (
            xp.argmax(xp.take(inside, best.order[d, :], axis=1), axis=1)
            for d in range(best.sizes.shape[0])
        )
        largest = sum(xp.take(best.sizes[d, :], first) for d, first in enumerate(firsts))
        some = coalitions.any(axis=1)
        return np.asarray(coalitions @ best.linear + np.where(some, on_host(largest), 0.0))

    def extension(self) -> Extension:
        return self._extension

    @cached_property
    def _extension(self) -> MaximaExtension:
        repeated = array_api_compat.array_namespace(self.weights).sum(self.weights, axis=1)
        return MaximaExtension(self.gains - on_host(repeated), self.weights)

    def describe(self) -> dict[str, Any]:
        return {**super().describe(), "numbers": digest(self.gains, on_host(self.weights))}


class FacilityLocationGame(FLIDGame):
    """What the best member of a coalition offers to each customer, summed over customers.

        F(S) = Σ_d max_{i∈S} W_id

    with ``weights`` W (n, D); the maximum over no player is 0.

    >>> FacilityLocationGame([[3, 0], [1, 2]]).extension().shapley().tolist()
    [2.5, 2.5]
    """

    def __init__(self, weights: ArrayLike, *, players: Players | None = None) -> None:
        offers = numbers_anywhere(weights, "weights", axes=2)
        super().__init__(on_host(offers).sum(axis=1), offers, players=players)


class FLDCGame(Combination):
    """The gains of members, less what they repeat of each other, and what they complement.

        F(S) = Σ_{i∈S} u_i + Σ_d (max_{i∈S} W_id - Σ_{i∈S} W_id)
                           - Σ_e (max_{i∈S} V_ie - Σ_{i∈S} V_ie)

    ``gains`` u (n,), ``weights`` W (n, D) and ``complements`` V (n, E) may have any sign.
    Costs are those of two FLID games.

    Source: Djolonga, Tschiatschek, Krause, Variational inference in mixed probabilistic
    submodular models, NeurIPS 2016.

    >>> game = FLDCGame([1, 1], weights=[[1], [1]], complements=[[3], [3]])
    >>> game.worths(np.array([[True, False], [True, True]])).tolist()
    [1.0, 4.0]
    """

    def __init__(
        self,
        gains: ArrayLike,
        weights: ArrayLike,
        complements: ArrayLike,
        *,
        players: Players | None = None,
    ) -> None:
        diversity = FLIDGame(gains, weights, players=players)
        none = np.zeros(len(diversity.gains))
        complement = FLIDGame(none, complements, players=diversity.players)
        super().__init__([(1.0, diversity), (-1.0, complement)])
