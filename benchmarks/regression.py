"""R² of all regressions of rolling windows, shared out among their columns.

``python benchmarks/regression.py [--columns 20] [--windows 1000]`` prints processor seconds and the
largest memory of Shapley values over 2^columns regressions a window, and how far R² of all regressions on
ten columns is from that of ``np.linalg.lstsq``.
"""

import argparse
import resource
import time

import numpy as np
from measure import machine, show

import fairfield as ff

COMPARED = 10


def off_least_squares(X: np.ndarray, y: np.ndarray) -> float:
    """The largest difference of R² over all sub-sets of the columns."""
    inside = (np.arange(2 ** X.shape[1])[:, None] >> np.arange(X.shape[1]) & 1).astype(bool)
    found = ff.RegressionGame(X, y).worths(inside)
    off = 0.0
    for some, explained in zip(inside, found, strict=True):
        design = np.column_stack([np.ones(len(y)), X[:, some]])
        left = y - design @ np.linalg.lstsq(design, y)[0]
        off = max(off, abs(explained - (1 - left.var() / y.var())))
    return off


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--windows", type=int, default=1000)
    chosen = parser.parse_args()
    rng = np.random.default_rng(0)
    X = rng.standard_normal((chosen.windows + 249, chosen.columns))
    y = X @ rng.standard_normal(chosen.columns) + 3 * rng.standard_normal(len(X))
    started = time.process_time()
    found = ff.shapley(ff.RegressionGame(X, y, window=250), progress=False)
    taken = time.process_time() - started
    off = np.abs(found.values.sum(axis=1) - found.grand).max()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    lstsq = off_least_squares(X[:250, :COMPARED], y[:250])
    print(f"# R² of all regressions\n\n{machine()}")
    show(
        f"{chosen.columns} columns, {chosen.windows} windows of 250 rows",
        ("processor seconds", "largest memory, MB", "largest Σ values - R²", "R² - lstsq's"),
        [(f"{taken:.1f}", f"{memory:.0f}", f"{off:.1g}", f"{lstsq:.1g}")],
    )
