"""Unanimity games: nothing is gained unless all players of the carrier agree."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.coalitions import coalition_of
from fairfield.core.extension import Extension
from fairfield.core.fingerprint import digest
from fairfield.core.game import Game, Player, Players, name_players
from fairfield.games.set_functions.products import ProductsExtension


class UnanimityGame(Game):
    """1 if a coalition holds the whole carrier, else 0.

        F(S) = 1[carrier ⊆ S]

    ``players`` are all players, by name or number, and ``carrier`` those whose agreement
    is needed. A gradient costs O(carrier).

    >>> UnanimityGame(["ann", "bob"], players=["ann", "bob", "cy"]).extension().shapley().tolist()
    [0.5, 0.5, 0.0]
    """

    def __init__(self, carrier: Iterable[Player], players: Players) -> None:
        self.players = name_players(players)
        self.carrier = coalition_of(carrier, self.players)
        if not self.carrier.any():
            raise ValueError("the carrier is empty; name at least one player who must agree")

    def worths(self, coalitions: BoolArray) -> FloatArray:
        return coalitions[:, self.carrier].all(axis=1).astype(float)

    def extension(self) -> Extension:
        return UnanimityExtension(self.carrier)

    def describe(self) -> dict[str, Any]:
        return {**super().describe(), "carrier": digest(self.carrier)}


class UnanimityExtension(ProductsExtension):
    """Π_{i ∈ carrier} x_i."""

    def __init__(self, carrier: BoolArray) -> None:
        from scipy.sparse import csr_array

        factors = csr_array(carrier[None], dtype=float)
        ones = np.ones(factors.nnz)
        super().__init__(factors, 0 * ones, ones, np.ones(1), method="closed form: unanimity")
        self.carrier = carrier

    def shapley(self) -> FloatArray:
        """Equal shares among the carrier."""
        return self.carrier / np.float64(self.carrier.sum())
