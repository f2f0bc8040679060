"""KNN-Shapley beside pyDVL's and shapiq's: processor time, search included, and how exact it is.

    python benchmarks/neighbor_peers.py [--quick]

pyDVL 0.10 needs NumPy < 2, so it runs in an environment of its own: that of the Python named by
FAIRFIELD_PYDVL_PYTHON. shapiq (1.8, for its weighted neighbours) is used where it is installed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from measure import show

import fairfield as ff

FEATURES, K = 6, 5
# Weights are rounded to eighths by shapiq's three bits; four of ours can hold the same ones.
LEVELS, BITS = 8, 4
Line = tuple[object, ...]

PYDVL = """
import sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np
from sklearn.neighbors import KNeighborsClassifier
from pydvl.valuation import Dataset, KNNShapleyValuation
data = np.load(sys.argv[1])
train = Dataset(data["X"], data["y"])
test = Dataset(data["X_test"], data["y_test"])
model = KNeighborsClassifier(n_neighbors=int(data["k"]))
seconds = []
for _ in range(3):
    method = KNNShapleyValuation(model, test, progress=False)
    started = time.process_time()
    method.fit(train)
    seconds.append(time.process_time() - started)
result = method.result
values = np.empty(len(train))
values[np.asarray(result.indices)] = np.asarray(result.values)
np.savez(sys.argv[2], values=values, seconds=min(seconds))
"""


def data(rows: int, tests: int) -> dict[str, Any]:
    """Two noisy classes in a few dimensions."""
    rng = np.random.default_rng(0)
    X, X_test, slope = (rng.normal(size=(m, FEATURES)) for m in (rows, tests, 1))
    y = X @ slope[0] + rng.normal(size=rows) > 0
    return {"X": X, "y": y, "X_test": X_test, "y_test": X_test @ slope[0] > 0}


def processor(call: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of processor time, and the answer."""
    started = time.process_time()
    found = call()
    return time.process_time() - started, found


def pydvl(given: dict[str, Any]) -> tuple[float, Any] | str:
    """Seconds and values, or why there are none."""
    python = os.environ.get("FAIRFIELD_PYDVL_PYTHON")
    if python is None:
        return "set FAIRFIELD_PYDVL_PYTHON to a Python that has pyDVL"
    with tempfile.TemporaryDirectory() as folder:
        np.savez(Path(folder, "data.npz"), k=K, **given)
        files = [str(Path(folder, name)) for name in ("data.npz", "values.npz")]
        run = subprocess.run([python, "-c", PYDVL, *files], capture_output=True, text=True)
        if run.returncode:
            return f"failed: {run.stderr.strip().splitlines()[-1]}"
        theirs = np.load(files[1])
        return float(theirs["seconds"]), theirs["values"]


def shapiq(given: dict[str, Any], weighted: bool) -> tuple[float, Any] | str:
    """Seconds and values, the mean over test points, or why there are none."""
    try:
        from shapiq.explainer.nn import KNNExplainer, WeightedKNNExplainer
    except ImportError:
        return "shapiq 1.8 is not installed here"
    from sklearn.neighbors import KNeighborsClassifier

    model = KNeighborsClassifier(K, weights="distance" if weighted else "uniform")
    model.fit(given["X"], given["y"])
    kind = WeightedKNNExplainer if weighted else KNNExplainer

    def explain() -> Any:
        each = [
            kind(model, class_index=int(label)).explain_function(row).get_n_order_values(1)
            for row, label in zip(given["X_test"], given["y_test"], strict=True)
        ]
        return np.mean(each, axis=0)

    return processor(explain)


def eighths(distances: Any) -> Any:
    """The weights of shapiq, d_1/d_j rounded to eighths, as whole numbers of fifteenths."""
    return np.rint(LEVELS * distances[:, :1] / distances) / (2**BITS - 1)


def voting(given: dict[str, Any]) -> ff.NeighborGame:
    """The weighted vote of the neighbours."""
    return ff.NeighborGame(**given, k=K, weights=eighths, vote="hard", bits=BITS)


def by_definition(given: dict[str, Any], of: Callable[[Any], Any]) -> Any:
    """The worths of all sub-sets, ``of`` signed sums of weights."""
    from scipy.spatial.distance import cdist

    count = len(given["y"])
    inside = np.arange(2**count)[:, None] >> np.arange(count) & 1
    worths = np.zeros(2**count)
    for row, label in zip(given["X_test"], given["y_test"], strict=True):
        distances = cdist(row[None], given["X"])[0]
        order = np.argsort(distances)
        weights = np.rint(LEVELS * distances[order[0]] / distances[order])
        signed = np.where(given["y"][order] == label, weights, -weights)
        members = inside[:, order]
        counted = members * (np.cumsum(members, axis=1) <= K)
        worths += of(counted @ signed) / len(given["y_test"])
    return worths


def unweighted(rows: int, tests: int) -> Iterator[Line]:
    """KNN-Shapley of all three."""
    given = data(rows, tests)

    def call() -> Any:
        return ff.NeighborGame(**given, k=K).extension().shapley()

    seconds, values = min((processor(call) for _ in range(5)), key=lambda found: found[0])
    size = f"{rows:,} × {tests:,}"
    yield size, "fairfield", f"{seconds:.3f}", "", ""
    for name, found in (("pyDVL", pydvl(given)), ("shapiq", shapiq(given, weighted=False))):
        if isinstance(found, str):
            yield size, name, found, "", ""
        else:
            off = f"{np.abs(found[1] - values).max():.1g}"
            yield size, name, f"{found[0]:.3f}", f"{found[0] / seconds:.0f} ×", off


def weighted(rows: int, tests: int) -> Iterator[Line]:
    """A weighted vote, ours and shapiq's."""
    given, size = data(rows, tests), f"{rows:,} × {tests:,}"
    seconds, _ = processor(lambda: voting(given).extension().shapley())
    yield size, "fairfield", f"{seconds:.3f}", ""
    found = shapiq(given, weighted=True)
    if isinstance(found, str):
        yield size, "shapiq", found, ""
    else:
        yield size, "shapiq", f"{found[0]:.3f}", f"{found[0] / seconds:.1f} ×"


def exactness(rows: int, tests: int) -> Iterator[Line]:
    """Weighted votes against their definitions: ties count ½ for us, 1 for shapiq, and none at all ½ and 0."""
    given = data(rows, tests)
    ours = ff.shapley(ff.TableGame(by_definition(given, lambda sums: (1 + np.sign(sums)) / 2)))
    yield "fairfield", f"{np.abs(voting(given).extension().shapley() - ours.values).max():.1g}"
    found = shapiq(given, weighted=True)
    if isinstance(found, str):
        yield "shapiq", found
        return
    table = by_definition(given, lambda sums: (sums >= 0) * 1.0)
    table[0] = 0.0
    yield "shapiq", f"{np.abs(found[1] - ff.shapley(ff.TableGame(table)).values).max():.1g}"


def main() -> None:
    quick = "--quick" in sys.argv
    ff.NeighborGame(**data(100, 5), k=K).extension().shapley()  # what is imported at first use
    print("# Nearest neighbours of other libraries")
    sizes = [(1000, 20)] if quick else [(1000, 20), (10_000, 100)]
    show(
        f"KNN-Shapley, K = {K}, search included, processor seconds",
        ("rows × test points", "library", "seconds", "÷ ours", "largest difference from ours"),
        [line for size in sizes for line in unweighted(*size)],
    )
    few = [(50, 2)] if quick else [(50, 2), (100, 2), (200, 2)]
    show(
        f"Shapley of a weighted vote, K = {K}, weights in eighths, processor seconds",
        ("rows × test points", "library", "seconds", "÷ ours"),
        [line for size in few for line in weighted(*size)],
    )
    show(
        "Largest error of a weighted vote, from all 2^12 sub-sets",
        ("library", "error"),
        exactness(12, 4),
    )


if __name__ == "__main__":
    main()
