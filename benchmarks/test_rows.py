"""How often 95 % intervals over test rows hold what a far larger test set says.

``python benchmarks/test_rows.py [--sets 200] [--rows 300] [--scoring neg_log_loss]`` values six vendors
once on 20 000 test rows and once on each of many test sets drawn from the same law, and prints the share
of intervals that hold the large set's value. The training rows, hence the fits, are the same throughout.
"""

import argparse

import numpy as np
from measure import machine, show
from sklearn.linear_model import LogisticRegression

import fairfield as ff
from fairfield.results.valuation import NORMAL

CRITERIA = ("shapley", "banzhaf", "leave_one_out", "variational_index")


KNOWN: dict[bytes, LogisticRegression] = {}


class Remembered(LogisticRegression):
    """Fits on the same rows are made once, since the training set is always the same."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> "Remembered":
        key = X.tobytes()
        if key not in KNOWN:
            KNOWN[key] = LogisticRegression().fit(X, y)
        vars(self).update(vars(KNOWN[key]))
        return self


def drawn(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
    X = rng.standard_normal((rows, 5))
    return X, (X @ [1.0, -1.0, 0.5, 0.0, 0.25] + rng.logistic(size=rows) > 0).astype(int)


def game(
    train: tuple[np.ndarray, np.ndarray], test: tuple[np.ndarray, np.ndarray], scoring: str
) -> ff.Game:
    groups = np.arange(len(train[1])) % 6
    return ff.DataGame(Remembered(), *train, *test, groups=groups, scoring=scoring)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=200)
    parser.add_argument("--rows", type=int, default=300)
    parser.add_argument("--scoring", nargs="+", default=["neg_log_loss", "accuracy", "roc_auc"])
    chosen = parser.parse_args()
    rng = np.random.default_rng(0)
    train, large = drawn(rng, 90), drawn(rng, 20_000)
    found = []
    for scoring in chosen.scoring:
        whole = game(train, large, scoring)
        T = ff.banzhaf(whole, temperature=ff.relative(1)).temperature
        truth = ff.compare(whole, criteria=CRITERIA, temperature=T)
        inside = {name: [] for name in CRITERIA}
        for _ in range(chosen.sets):
            some = ff.compare(
                game(train, drawn(rng, chosen.rows), scoring), criteria=CRITERIA, temperature=T
            )
            for name in CRITERIA:
                off = np.abs(some[name].values - truth[name].values)
                # The large set has an error of its own.
                errors = np.hypot(some[name].stderr, truth[name].stderr)
                inside[name].append(off <= NORMAL * errors)
        for name, held in inside.items():
            worst = np.mean(held, axis=0).min()
            found.append((scoring, name, f"{np.mean(held):.3f}", f"{worst:.3f}"))
    print(machine())
    title = f"{chosen.sets} test sets of {chosen.rows} rows"
    show(title, ("score", "criterion", "intervals that hold", "of the worst player"), found)
