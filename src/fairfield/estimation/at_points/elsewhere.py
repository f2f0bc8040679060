"""Whether an estimated index may belong to another fixed point than that of the game itself."""

from __future__ import annotations

import numpy as np

from fairfield.core.arrays import FloatArray
from fairfield.core.combined import CombinedExtension
from fairfield.core.extension import Extension
from fairfield.estimation.at_points.guides import Guide
from fairfield.games.set_functions.pairwise import PairwiseExtension
from fairfield.mean_field.anderson import anderson
from fairfield.mean_field.solvers import MeanField, solve

# So many games that the errors leave possible are solved; marginals that are so far apart, and values so many
# standard errors, belong to different fixed points.
TRIED, APART, FAR = 8, 0.1, 5.0


def leads_elsewhere(
    guide: Guide,
    start: FloatArray,
    temperature: float,
    prior: FloatArray,
    found: tuple[FloatArray, FloatArray, FloatArray],
    rng: np.random.Generator,
) -> bool:
    """Whether the way from the start, in a game within the errors of a surrogate, ends elsewhere.

    ``found`` are marginals, values and their standard errors. The games differ from the surrogate by slopes
    that have the errors of ∇f at the start. From where they end, and from what was found, the surrogate
    itself leads back to its own fixed point, if it has no other near these.
    """
    if guide.rest is None:
        return False
    x, values, errors = found
    n, surrogate = len(start), CombinedExtension(guide.terms)

    def index(game: Extension, begin: FloatArray) -> MeanField:
        return solve(anderson, game, begin, np.asarray(temperature), prior)

    own = index(surrogate, start)
    moved = np.abs(own.gradient[0] - values) > FAR * errors
    if (moved & (np.abs(own.x[0] - x) > APART)).any():
        return True
    covariance = guide.rest.covariance([(start, np.eye(n))])
    ends = [x]
    for slopes in rng.multivariate_normal(np.zeros(n), covariance, TRIED, method="eigh"):
        more = PairwiseExtension(slopes, np.zeros((n, n)))
        ends.append(index(CombinedExtension([*guide.terms, (1.0, more)]), start).x[0])
    return any(np.abs(index(surrogate, each).x - own.x).max() > APART for each in ends)
