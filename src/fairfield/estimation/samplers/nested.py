"""Values under nested unions from random orders that keep every union together."""

from __future__ import annotations

import numpy as np

from fairfield.core.arrays import IntArray
from fairfield.estimation.samplers.permutation import Permutations
from fairfield.estimation.samplers.registry import sampler
from fairfield.multilinear.unions import UnionTree
from fairfield.problem import Problem


@sampler("auto", "owen")
@sampler("permutation", "owen")
class NestedOrders(Permutations):
    """Estimates Owen's values, the mean contributions along such orders, n - 1 coalitions each.

    An order is followed by its reverse, in which who came late comes early.
    """

    together, by_size = 2, False

    def __init__(self, problem: Problem, root: UnionTree) -> None:
        count = len(problem.game.players)
        super().__init__(problem, "owen", np.full(count, 1 / count))
        self._root = root

    def _draw(self, count: int) -> IntArray:
        orders = self._root.draw(-(-count // 2), self._rng)
        return np.stack([orders, orders[:, ::-1]], axis=1).reshape(-1, self.players)
