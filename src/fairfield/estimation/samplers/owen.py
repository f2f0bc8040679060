"""Values under nested unions from a budget of the coalitions that orders come through."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from fairfield.core.arrays import BoolArray, IntArray
from fairfield.estimation.along import Along
from fairfield.estimation.along_orders import Orders, Weighed, coalitions_along
from fairfield.estimation.answers import adding_up, estimate_of
from fairfield.estimation.corrections import Answer
from fairfield.estimation.designs.design import Sampled
from fairfield.estimation.designs.strata import Stratum
from fairfield.estimation.fitter import Fitter
from fairfield.estimation.loop import Estimate
from fairfield.estimation.prior.posterior import FITTED
from fairfield.estimation.received import Received, ends, keys_of
from fairfield.estimation.samplers.registry import sampler
from fairfield.evaluation.threads import one_blas_thread
from fairfield.multilinear.unions import UnionTree, all_worths_read
from fairfield.problem import Problem

# All coalitions that orders come through are listed up to so many of single unions; of more, so many samples
# of orders are drawn. Errors are read from samples of at most so many coalitions.
MOST_LISTED, SAMPLES, MOST_READ = 2**15, 16, 3000
# Of so many orders the one is followed that comes through most coalitions not asked for yet: nearly all
# of these are of few players, or lack few, and weigh much.
RIVALS = 16
# The last few coalitions would be long in being drawn: after so many orders without a new one
# they are asked for as they are listed, at random.
MOST_IN_VAIN = 32


@sampler("auto", "owen")
@sampler("surrogate", "owen")
class OwenValues(Received):
    """Estimates Owen's values by a surrogate, corrected along orders.

    An order is followed by its reverse, in which who came late comes early: it comes through the complements.
    """

    def __init__(self, problem: Problem, root: UnionTree) -> None:
        super().__init__()
        self.problem, self.root = problem, root
        self.players, self.seed = len(problem.game.players), problem.options.seed
        # Both ends, an order and its reverse.
        self.least = 2 * self.players
        self._rng = np.random.default_rng(self.seed)
        self._fitter = Fitter(self.seed)
        self._asked: BoolArray = np.empty((0, self.players), dtype=bool)
        self._place: dict[bytes, int] = {}
        # Orders, and where their coalitions stand among those asked for.
        self._orders: list[IntArray] = []
        self._places: list[IntArray] = []
        families = list(root.families())
        self._every: Weighed | None = None
        if sum(each.worths for each in families) <= MOST_LISTED:
            coalitions, weights = all_worths_read(families, self.players)
            self._every = Weighed(coalitions, weights.toarray())

    def ask(self, most: int) -> BoolArray:
        """Both ends first; then those along random orders, half as many again as there are."""
        start = len(self._asked)
        if not start:
            self._add(ends(self.players))
        wanted = max(self.least, start + min(start // 2, most))
        in_vain = 0
        while len(self._asked) < wanted and not self._whole(len(self._asked)):
            before = len(self._asked)
            # What was not given to the prior corrects it, and has to be drawn at random.
            rivals = RIVALS if before < FITTED else 1
            self._follow(self._newest(self.root.draw(rivals, self._rng)))
            in_vain = in_vain + 1 if len(self._asked) == before else 0
            if in_vain == MOST_IN_VAIN:
                if self._every is None:
                    break
                self._add(self._rng.permutation(self._every.coalitions))
        return self._asked[start:][:most]

    def _whole(self, count: int) -> bool:
        """Whether so many coalitions are all that orders come through."""
        return self._every is not None and count == len(self._every.coalitions)

    def _newest(self, orders: IntArray) -> IntArray:
        """The order that comes through most coalitions that were not asked for; single players, the heaviest, first."""
        keys = keys_of(coalitions_along(orders).reshape(-1, self.players))
        new = np.array([key not in self._place for key in keys], dtype=bool)
        size = np.arange(1, self.players)
        weight = 1 / np.minimum(size, self.players - size)
        return np.asarray(orders[np.argmax(new.reshape(len(orders), -1) @ weight)])

    def _follow(self, order: IntArray) -> None:
        """Ask for the coalitions along an order and its reverse, in random turn: a budget may end between them."""
        along = coalitions_along(order[None])[0]
        self._add(along[self._rng.permutation(len(along))])
        both = np.stack([along, ~along], axis=1).reshape(-1, self.players)
        self._orders.append(order)
        self._places.append(np.array([self._place[key] for key in keys_of(both)], dtype=np.int64))

    def _add(self, coalitions: BoolArray) -> None:
        """Ask for what is new of these and their complements, side by side."""
        both = np.stack([coalitions, ~coalitions], axis=1).reshape(-1, self.players)
        new = []
        for row, key in enumerate(keys_of(both)):
            if key not in self._place:
                self._place[key] = len(self._place)
                new.append(row)
        self._asked = np.concatenate([self._asked, both[new]])

    def provenance(self) -> dict[str, Any]:
        """Orders so far, reverses not counted, and the seed they come from."""
        return {"sampler": "orders", "seed": self.seed, "orders": len(self._orders)}

    def estimate(self, until: float = inf) -> Estimate:
        """The values by the surrogate and the correction with the smallest errors, game by game."""
        sampled = self._sampled()
        every = 2**self.players if self._every is None else len(self._every.coalitions)
        with one_blas_thread():
            answers, held_back = self._answers(sampled, until)
            return estimate_of(sampled, answers, self.problem.game.batch, held_back, every)

    def _answers(self, sampled: Sampled, until: float) -> tuple[list[list[Answer]], int]:
        """The answers for the games, fit by fit, and how many worths vouch for each, if all are recovered."""
        if self._whole(len(sampled.rows)):
            return [[self._exact(sampled)]], 0
        orders = self._reading(len(sampled.rows))
        if self._fitter.is_late(sampled, until) and len(orders.orders) > 1:
            return [[adding_up(orders.alone(sampled), sampled)]], 0
        fits = self._fitter.fits(sampled, until)
        answers = [[adding_up(each, fit.sampled) for each in orders.answers(fit)] for fit in fits]
        return answers, min(fit.surrogate.held_back for fit in fits)

    def _sampled(self) -> Sampled:
        worths, noise = self.worths(), self.noise()
        count = worths.shape[-1]
        if self._every is None:
            sizes = np.array(
                [Stratum(self.players, s, paired=False).pairs for s in range(self.players + 1)]
            )
        else:
            sizes = np.bincount(self._every.coalitions.sum(axis=1)).astype(float)
        return Sampled(
            self._asked[:count],
            worths.reshape(-1, count),
            None if noise is None else noise.reshape(-1, count),
            count // 2,
            sizes,
            Along.shapley(self.players).reach,
            self.problem.game.traits.noisy,
        )

    def _reading(self, known: int) -> Orders:
        """The orders of which all coalitions are among so many, and what values and errors are read from."""
        places = np.array(self._places)
        whole = (places < known).all(axis=1)
        if self._every is not None and len(self._every.coalitions) <= MOST_READ:
            return Orders(np.array(self._orders)[whole], places[whole], [self._every], self._every)
        count = max(1, MOST_READ // (2 * self.players))
        rng = np.random.default_rng([self.seed, count])
        few = Weighed.along(self.root.draw(count, rng))
        samples = (
            [Weighed.along(self.root.draw(count, rng)) for _ in range(SAMPLES)]
            if self._every is None
            else [self._every]
        )
        return Orders(np.array(self._orders)[whole], places[whole], samples, few)

    def _exact(self, sampled: Sampled) -> Answer:
        """The values from all worths that they are read from."""
        assert self._every is not None
        weights = np.zeros((len(sampled.rows), self.players))
        weights[[self._place[key] for key in keys_of(self._every.coalitions)]] = self._every.weights
        noise = np.zeros_like(sampled.worths) if sampled.noise is None else sampled.noise
        errors = np.einsum("gm,mi,mj->gij", noise, weights, weights, optimize=True)
        worths = sampled.worths - sampled.worths[:, :1]
        return Answer(worths @ weights, errors, "every coalition is known", lambda: weights)
