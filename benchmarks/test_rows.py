"""How often 95 % intervals over test rows hold what a far larger test set says.

``python benchmarks/test_rows.py [--sets 200] [--rows 300] [--scoring neg_log_loss]`` values six vendors
once on 20 000 test rows and once on each of many test sets drawn from the same law, and prints the share
of intervals that hold the large set's value. The training rows, hence the fits, are the same throughout.
``--vendors 10 --budget 150`` draws coalitions as well, anew for each test set: intervals are of both.
"""

import argparse
import re
from warnings import catch_warnings, simplefilter

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
    train: tuple[np.ndarray, np.ndarray],
    test: tuple[np.ndarray, np.ndarray],
    scoring: str,
    vendors: int,
) -> ff.Game:
    groups = np.arange(len(train[1])) % vendors
    return ff.DataGame(Remembered(), *train, *test, groups=groups, scoring=scoring)


def share_of_rows(method: str) -> float:
    """The share of the variance that the test rows have, by what the valuation says."""
    said = re.search(r"(\d+) % of the variance", method)
    return float(said[1]) / 100 if said else 1.0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=200)
    parser.add_argument("--rows", type=int, default=300)
    parser.add_argument("--scoring", nargs="+", default=["neg_log_loss", "accuracy", "roc_auc"])
    parser.add_argument("--vendors", type=int, default=6)
    parser.add_argument(
        "--budget", type=int, help="coalitions of each criterion; all of them if left out"
    )
    parser.add_argument("--criteria", nargs="+", default=CRITERIA)
    chosen = parser.parse_args()
    rng = np.random.default_rng(0)
    train, large = drawn(rng, 90), drawn(rng, 20_000)
    found = []
    for scoring in chosen.scoring:
        whole = game(train, large, scoring, chosen.vendors)
        T = ff.banzhaf(whole, temperature=ff.relative(1)).temperature
        truth = ff.compare(whole, criteria=chosen.criteria, temperature=T)
        for name in chosen.criteria:
            held, of_draws = [], []
            for seed in range(chosen.sets):
                test = drawn(np.random.default_rng([1, seed]), chosen.rows)
                posed = game(train, test, scoring, chosen.vendors)
                with catch_warnings():
                    simplefilter("ignore")
                    some = ff.compare(
                        posed, criteria=[name], temperature=T, budget=chosen.budget, seed=seed
                    )[name]
                off = np.abs(some.values - truth[name].values)
                # The large set has an error of its own.
                held.append(off <= NORMAL * np.hypot(some.stderr, truth[name].stderr))
                of_draws.append(share_of_rows(some.method))
            worst = np.mean(held, axis=0).min()
            rows = f"{np.mean(of_draws):.0%}"
            found.append((scoring, name, f"{np.mean(held):.3f}", f"{worst:.3f}", rows))
    print(machine())
    title = f"{chosen.sets} test sets of {chosen.rows} rows"
    if chosen.budget:
        title += f", {chosen.budget} of {2**chosen.vendors:,} coalitions"
    heads = ("score", "criterion", "intervals that hold", "of the worst player", "variance by rows")
    show(title, heads, found)
