"""What pyDVL spends on the same game: run by data.py in pyDVL's own environment.

Reads the data of the game from an .npz file and prints, as JSON, evaluations and CPU seconds of
its exact Shapley values (stopped after some seconds) and of permutation sampling.
"""

import json
import sys
import time
import warnings

import numpy as np

warnings.simplefilter("ignore")

from pydvl.valuation import (  # noqa: E402  # its import warns
    DeterministicUniformSampler,
    GroupedDataset,
    MaxTime,
    ModelUtility,
    PermutationSampler,
    ShapleyValuation,
    SupervisedScorer,
)
from sklearn.linear_model import LogisticRegression  # noqa: E402  # after the filter as well

fits = 0


class Counted(LogisticRegression):
    """The model of the game; its fits are the evaluations."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> "Counted":
        global fits
        fits += 1
        return super().fit(X, y)


def main() -> None:
    path, seconds = sys.argv[1], float(sys.argv[2])
    with np.load(path, allow_pickle=False) as file:
        data = {name: file[name] for name in file.files}
    train = GroupedDataset(data["X"], data["y"], data["groups"])
    test = GroupedDataset(data["X_test"], data["y_test"], np.arange(len(data["y_test"])))
    model = Counted(solver="liblinear", max_iter=5000, random_state=666)
    answer = {}
    for name, sampler in (
        ("exact", DeterministicUniformSampler()),
        ("permutations", PermutationSampler(seed=0)),
    ):
        global fits
        fits = 0
        game = ModelUtility(model, SupervisedScorer("accuracy", test, default=0.5))
        start = time.process_time()
        ShapleyValuation(game, sampler, is_done=MaxTime(seconds), show_warnings=False).fit(train)
        answer[name] = (fits, time.process_time() - start)
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
