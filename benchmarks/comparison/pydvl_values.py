"""pyDVL's values in the public comparison: run by __main__.py in pyDVL's own environment.

    python -m benchmarks.comparison.pydvl_values STORE SECONDS < JOBS

Each is stopped once it has spent its fits. The worth is that of our games: the same model and score,
and the same worth of no rows and of rows of one class.
"""

import json
import sys
import warnings

import numpy as np

warnings.simplefilter("ignore")

from pydvl.utils.status import Status  # noqa: E402  # after the filter
from pydvl.valuation import (  # noqa: E402
    BetaShapleyValuation,
    DataOOBValuation,
    Dataset,
    KNNShapleyValuation,
    ModelUtility,
    MSRBanzhafValuation,
    PermutationSampler,
    RelativeTruncation,
    ShapleyValuation,
    SupervisedScorer,
)
from pydvl.valuation.stopping import StoppingCriterion  # noqa: E402
from sklearn.ensemble import BaggingClassifier  # noqa: E402
from sklearn.neighbors import KNeighborsClassifier  # noqa: E402

from benchmarks.comparison.cases import SCORES, Case, Logistic, constant_score  # noqa: E402
from benchmarks.comparison.store import Found, Job, fill  # noqa: E402

NEIGHBORS = 5


class Counted(Logistic):
    """The model of the game; its fits are counted over all copies, and one class is refused."""

    fits = 0

    def fit(self, X, y):
        if (y == y[0]).all():
            raise ValueError("one class")
        Counted.fits += 1
        return super().fit(X, y)


class Spent(StoppingCriterion):
    """Stops once so many models were fitted.

    Where no rows are worth as much as all of them every permutation is truncated before a fit; so
    two permutations for each fit are the most.
    """

    def __init__(self, fits):
        super().__init__()
        self.fits, self.checks = fits, 0

    def _check(self, result):
        self.checks += 1
        done = Counted.fits >= self.fits or self.checks >= 2 * self.fits
        self._converged = np.full(len(result), done)
        return Status.Converged if done else Status.Pending

    def completion(self):
        return min(1.0, Counted.fits / self.fits)


def permutations(seed):
    return PermutationSampler(RelativeTruncation(rtol=0.01), seed=seed)


SEMIVALUES = {
    "TMC-Shapley": lambda game, done, seed: ShapleyValuation(game, permutations(seed), done),
    "Beta-Shapley": lambda game, done, seed: BetaShapleyValuation(
        game, PermutationSampler(seed=seed), done, alpha=16, beta=1
    ),
    "Data Banzhaf": lambda game, done, seed: MSRBanzhafValuation(game, done, seed=seed),
}


def values(case: Case, job: Job) -> Found:
    method, fits, seed = job.method, job.fits, job.seed
    Counted.fits = 0
    train, val = Dataset(case.X, case.y), Dataset(case.X_val, case.y_val)
    if method == "KNN-Shapley":
        valuation = KNNShapleyValuation(KNeighborsClassifier(NEIGHBORS), val, progress=False)
    elif method == "Data-OOB":
        bags = BaggingClassifier(Logistic(case.classes), n_estimators=fits, random_state=seed)
        valuation = DataOOBValuation(bags.fit(case.X, case.y))
        Counted.fits = fits
    else:
        name, _, score = method.partition(", ")
        score = score or "log-loss"
        scorer = SupervisedScorer(SCORES[score], val, default=constant_score(case, score))
        game = ModelUtility(Counted(case.classes), scorer, show_warnings=False)
        valuation = SEMIVALUES[name](game, Spent(fits), seed)
    valuation.show_warnings = False
    result = valuation.fit(train).result
    found = np.zeros(len(case.y))
    found[np.asarray(result.indices)] = np.nan_to_num(np.asarray(result.values, float))
    return Found(found, Counted.fits)


if __name__ == "__main__":
    jobs = [Job(*each) for each in json.load(sys.stdin)]
    sys.exit(not fill(sys.argv[1], float(sys.argv[2]), jobs, values))
