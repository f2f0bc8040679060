"""Semivalues from coalitions drawn by their size.

    φ_i = Σ_{S ∋ i} w(|S|-1) F(S) - Σ_{S ∌ i} w(|S|) F(S)

Coalitions come stratified by size, each size as often as it moves the values, none twice. A
prior over games gives the values of its mean game; what that leaves of the worths, each predicted
from all the others, is summed up size by size for the rest. The sum is unbiased, so from many
coalitions it is the better one of the two; the estimated variances decide.
"""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.estimation.corrections import Answer, smallest
from fairfield.estimation.loop import Estimate, Estimator
from fairfield.estimation.over_rows import read_linearly
from fairfield.estimation.pairs import Distinct, in_turn
from fairfield.estimation.prior.posterior import Posterior, posterior
from fairfield.estimation.received import Received, ends
from fairfield.estimation.samplers.permutation import Permutations
from fairfield.estimation.samplers.registry import sampler
from fairfield.estimation.surrogates.prior import prior_answer
from fairfield.estimation.surrogates.sample import Diagonal
from fairfield.evaluation.threads import one_blas_thread
from fairfield.problem import Problem
from fairfield.results.valuation import as_number

# This share of the coalitions is spread evenly over the sizes.
EVENLY = 0.1
# Error bars from fewer coalitions per player are unreliable, and those of so few different worths.
RELIABLE, FEW_WORTHS = 6, 4


class BySize(Received):
    """Estimates a semivalue; ``shares[s]`` is the weight of all coalitions of size s joined."""

    def __init__(self, problem: Problem, diagonal: Diagonal) -> None:
        super().__init__()
        self.diagonal, self.players = diagonal, len(diagonal.shares)
        self.seed, self.shares = problem.options.seed, diagonal.shares
        self.least = 2 * self.players + 2
        count, sizes = self.players, np.arange(1, self.players)
        # C(n, s) w(s-1) and C(n, s) w(s): what all coalitions of size s = 0 … n stand for.
        self.joined = np.append(0.0, count * diagonal.shares / np.arange(1, count + 1))
        self.left = np.append(count * diagonal.shares / np.arange(count, 0, -1), 0.0)
        need = np.sqrt(self.joined[1:-1] ** 2 * sizes + self.left[1:-1] ** 2 * (count - sizes))
        self.spread = (1 - EVENLY) * need / need.sum() + EVENLY / len(sizes)
        rngs = np.random.default_rng(self.seed).spawn(len(sizes))
        self.strata = [
            Distinct(count, size, rng, paired=False)
            for size, rng in zip(sizes.tolist(), rngs, strict=True)
        ]
        self._coalitions = ends(count)

    def ask(self, most: int) -> BoolArray:
        """∅ and N first; then half as many again as there are."""
        known = len(self._coalitions)
        found, _ = in_turn(self.strata, max(self.players + 2, 48, known // 2), self.spread)
        first = self._coalitions if known == 2 and not self._worths else found[:0]
        self._coalitions = np.concatenate([self._coalitions, found])
        return np.concatenate([first, found])[:most]

    def provenance(self) -> dict[str, Any]:
        """How many coalitions so far, and the seed they come from."""
        return {"sampler": "by size", "seed": self.seed, "coalitions": len(self._coalitions)}

    def estimate(self, until: float = inf) -> Estimate:
        """The values of the mean game, corrected where that makes their errors smaller."""
        given = self.worths()
        batch, worths = given.shape[:-1], given.reshape(-1, given.shape[-1])
        noise = self.noise()
        rows = self._coalitions[: worths.shape[1]]
        # One thread: the same bits on every machine.
        with one_blas_thread():
            left = posterior(rows, worths, None if noise is None else noise.reshape(worths.shape))
            plain = prior_answer(left, self.diagonal, None)
            answers = [plain, *self._corrected(left, rows, worths)]
        best, shape = smallest(answers), (*batch, self.players)
        return Estimate(
            values=best.values.reshape(shape),
            covariance=best.covariance.reshape(*shape, -1),
            method=best.method,
            warnings=self._warnings(len(rows)),
            remarks=self._remarks(worths),
            more={"empty": as_number(given[..., 0]), "grand": as_number(given[..., 1])},
            linear=read_linearly(rows, answers),
        )

    def _warnings(self, count: int) -> tuple[str, ...]:
        least = min(RELIABLE * self.players + 2, 2**self.players)
        if count >= least:
            return ()
        return (
            f"{count:,} coalitions are few for {self.players} players, and the error bars are not "
            f"to be trusted; {least:,} are the least for that",
        )

    def _remarks(self, worths: FloatArray) -> tuple[str, ...]:
        """On worths that hardly differ; no warning, which a tolerance would wait out in vain."""
        seen = min(len(np.unique(each)) for each in worths)
        if worths.shape[1] == 2**self.players or seen > FEW_WORTHS:
            return ()
        return (
            "the worths take a few values only, as those of votes do, and the error bars are not to "
            "be trusted",
        )

    def _corrected(self, posed: Posterior, rows: BoolArray, worths: FloatArray) -> list[Answer]:
        """The mean game's values and what it leaves, where two coalitions of each size show that."""
        sizes = rows.sum(axis=1)
        drawn = np.bincount(sizes, minlength=self.players + 1)
        every = np.array([1.0, *(each.pairs for each in self.strata), 1.0])
        if (drawn < np.minimum(2, every)).any():
            return []
        known = (drawn / every)[sizes]
        inside, outside = posed.left(rows, worths)
        residuals = known * inside + (1 - known) * outside
        effect = np.where(rows, self.joined[sizes, None], -self.left[sizes, None])
        effect /= drawn[sizes][:, None]
        found = posed.values(self.diagonal).values + residuals @ effect
        parts = outside[:, :, None] * effect
        means = np.stack([parts[:, sizes == size].mean(axis=1) for size in range(len(drawn))], 1)
        free = np.sqrt((drawn / np.maximum(drawn - 1, 1))[sizes] * (1 - known))
        apart = (parts - means[:, sizes]) * free[:, None]
        method = f"a prior over games, corrected by {len(rows):,} coalitions"
        return [Answer(found, apart.swapaxes(1, 2) @ apart, method)]


@sampler("auto", "semivalue")
def by_size(problem: Problem, criterion: str, shares: FloatArray) -> Estimator:
    """A prior over games; random orders where no points of the diagonal stand for the weights."""
    diagonal = Diagonal.of_sizes(shares) if len(shares) > 1 else None
    if diagonal is None:
        return Permutations(problem, criterion, shares)
    return BySize(problem, diagonal)
