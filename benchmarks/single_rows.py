"""Which way finds rows with wrong labels, and what it costs.

    python benchmarks/single_rows.py [seeds]

A tenth of the labels of 178 to 284 training rows are changed. Shown are the share of wrong labels
among the lowest-valued tenth, a mean over seeds, and the mean processor time of one valuation.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from measure import machine, show
from sklearn.datasets import load_breast_cancer, load_digits, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

import fairfield as ff

ROWS, TESTS, FITS = 300, 250, 2000

Data = tuple[Any, Any, Any, Any]


def refitted(data: Data, scoring: str) -> ff.DataGame:
    return ff.DataGame(LogisticRegression(), *data, scoring=scoring)


METHODS: dict[str, Callable[[Data], ff.Valuation]] = {
    "`NeighborGame`, Shapley": lambda data: ff.shapley(ff.NeighborGame(*data)),
    "`NeighborGame`, Banzhaf": lambda data: ff.banzhaf(ff.NeighborGame(*data)),
    "`NeighborGame`, index": lambda data: ff.variational_index(ff.NeighborGame(*data)),
    '`NeighborGame`, Shapley, `weights="distance"`': lambda data: ff.shapley(
        ff.NeighborGame(*data, weights="distance")
    ),
    "leave-one-out, log-loss, n + 2 fits": lambda data: ff.leave_one_out(
        refitted(data, "neg_log_loss")
    ),
    f"Banzhaf, log-loss, {FITS:,} fits": lambda data: ff.banzhaf(
        refitted(data, "neg_log_loss"), budget=FITS
    ),
    "leave-one-out, accuracy, n + 2 fits": lambda data: ff.leave_one_out(
        refitted(data, "accuracy")
    ),
}

SETS: dict[str, Callable[[int], tuple[Any, Any]]] = {
    "breast cancer": lambda seed: load_breast_cancer(return_X_y=True),
    "digits, 3 and 8": lambda seed: two_digits(),
    "generated": lambda seed: make_classification(
        ROWS + TESTS, n_features=10, n_informative=5, class_sep=1.0, random_state=seed
    ),
}


def two_digits() -> tuple[Any, Any]:
    images, digits = load_digits(return_X_y=True)
    chosen = np.isin(digits, (3, 8))
    return images[chosen], (digits[chosen] == 8).astype(int)


def noisy(name: str, seed: int) -> tuple[Data, Any]:
    """Training and test rows, and which training labels are wrong."""
    rng = np.random.default_rng(seed)
    X, y = SETS[name](seed)
    order = rng.permutation(len(y))
    train = order[: min(ROWS, len(y) // 2)]
    test = order[len(train) : len(train) + TESTS]
    X = StandardScaler().fit(X[train]).transform(X)
    wrong = np.zeros(len(train), dtype=bool)
    wrong[rng.choice(len(train), len(train) // 10, replace=False)] = True
    return (X[train], np.where(wrong, 1 - y[train], y[train]), X[test], y[test]), wrong


def main() -> None:
    seeds = range(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
    warnings.simplefilter("ignore")  # that 2000 fits are few for so many rows
    rows = []
    for method, value in METHODS.items():
        found, seconds = [], []
        for name in SETS:
            shares = []
            for seed in seeds:
                data, wrong = noisy(name, seed)
                started = time.process_time()
                shares.append(ff.detection_rate(value(data), wrong))
                seconds.append(time.process_time() - started)
            found.append(f"{np.mean(shares):.2f}")
        rows.append([method, *found, f"{np.mean(seconds):.2g} s"])
    print(f"# Single rows\n\n{machine()}")
    show("Wrong labels among the lowest tenth", ["", *SETS, "processor time"], rows)


if __name__ == "__main__":
    main()
