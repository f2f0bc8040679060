"""R² of all regressions of rolling windows, shared out among their columns.

``python benchmarks/regression.py [--columns 20] [--windows 1000]`` prints processor seconds and the
largest memory of Shapley values over 2^columns regressions a window.
"""

import argparse
import resource
import time

import numpy as np
from measure import machine, show

import fairfield as ff

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
    print(machine())
    show(
        f"{chosen.columns} columns, {chosen.windows} windows of 250 rows",
        ("processor seconds", "largest memory, MB", "largest Σ values - R²"),
        [(f"{taken:.1f}", f"{memory:.0f}", f"{off:.1g}")],
    )
