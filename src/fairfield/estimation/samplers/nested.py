"""Values under nested unions from random orders that keep every union together."""

from __future__ import annotations

from typing import Any

import numpy as np

from fairfield.core.arrays import BoolArray, IntArray
from fairfield.estimation.samplers.permutation import MOST_LISTED, Permutations
from fairfield.estimation.samplers.registry import sampler
from fairfield.multilinear.unions import UnionTree, all_worths_read
from fairfield.problem import Problem


@sampler("permutation", "owen")
class NestedOrders(Permutations):
    """Estimates Owen's values, the mean contributions along such orders, n - 1 coalitions each.

    An order is followed by its reverse, in which who came late comes early.
    """

    together = 2

    def __init__(self, problem: Problem, root: UnionTree) -> None:
        count = len(problem.game.players)
        super().__init__(problem, "owen", np.full(count, 1 / count))
        self._root = root

    def whole(self) -> tuple[BoolArray, Any] | None:
        families = list(self._root.families())
        if sum(each.worths for each in families) > 2**MOST_LISTED:
            return None
        every, weights = all_worths_read(families, self.players)
        return every, weights.toarray()

    def _draw(self, count: int) -> IntArray:
        orders = self._root.draw(-(-count // 2), self._rng)
        return np.stack([orders, orders[:, ::-1]], axis=1).reshape(-1, self.players)
