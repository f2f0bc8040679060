"""Coverage games: members cover elements, each with some probability."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairfield.core.arrays import BoolArray, FloatArray, is_sparse, parts_of
from fairfield.core.checks import names, numbers
from fairfield.core.extension import Extension
from fairfield.core.fingerprint import digest
from fairfield.core.game import Game, Players
from fairfield.games.set_functions.products import ProductsExtension


class CoverageGame(Game):
    """The importance of what a coalition's members cover.

        F(S) = Σ_e μ_e (1 - Π_{i∈S} (1 - A_ei))

    ``cover`` A (elements, n), dense or a SciPy sparse matrix, holds the probability that
    player i covers element e; ``importance`` μ (elements,). A gradient costs
    O(non-zero entries of A).

    >>> game = CoverageGame([[1, 1], [0, 1]], importance=[2, 3])
    >>> game.extension().gradient([0.5, 0.5]).tolist()
    [1.0, 4.0]
    """

    def __init__(
        self, cover: Any, importance: ArrayLike, *, players: Players | None = None
    ) -> None:
        from scipy.sparse import csr_array

        self.cover = csr_array(cover if is_sparse(cover) else numbers(cover, "cover", axes=2))
        self.cover.sum_duplicates()
        self.cover.eliminate_zeros()
        self.importance = numbers(importance, "importance")
        if not ((self.cover.data >= 0) & (self.cover.data <= 1)).all():
            raise ValueError(
                "cover has entries outside [0, 1]; each is the probability to cover an element"
            )
        if self.cover.shape[0] != len(self.importance):
            raise ValueError(
                f"cover of shape {self.cover.shape} and {len(self.importance)} importances were "
                "given; cover needs one row per element"
            )
        self.players = names(players, self.cover.shape[1])

    def worths(self, coalitions: BoolArray) -> FloatArray:
        # Entries of 1 would give log 0; they are counted separately.
        sure, logs = self.cover.copy(), self.cover.copy()
        sure.data = (sure.data == 1).astype(float)
        logs.data = np.log1p(-np.where(logs.data == 1, 0.0, logs.data))
        inside = coalitions.T.astype(float)
        covered = np.where(sure @ inside > 0, 1.0, -np.expm1(logs @ inside))
        return np.asarray(self.importance @ covered)

    def extension(self) -> Extension:
        missed = 1 - self.cover.data
        return ProductsExtension(
            self.cover,
            np.ones_like(missed),
            missed,
            -self.importance,
            constant=float(self.importance.sum()),
            method="closed form: coverage",
        )

    def describe(self) -> dict[str, Any]:
        return {**super().describe(), "numbers": digest(self.importance, *parts_of(self.cover))}
