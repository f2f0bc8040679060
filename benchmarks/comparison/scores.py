"""How good values are: what they find among the lowest, and the accuracy of what an order leaves."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import Memory
from scipy.stats import rankdata
from scipy.stats import t as student
from sklearn.metrics import average_precision_score

import fairfield as ff
from benchmarks.comparison.cases import Case, Logistic, accuracy, make_case
from benchmarks.comparison.store import Job, cases_of, key_of, read

# Shares of the training rows that have left, or have come.
SHARES = np.arange(1, 11) / 20
LEAST_SEEDS = 5
# Of each task: what it is done on, and whether a high score is good.
TASKS = {
    "labels: found": ("labels", True),
    "labels: average precision": ("labels", True),
    "removal, best first": ("labels", False),
    "removal, worst first": ("labels", True),
    "addition, best first": ("labels", True),
    "shift: found": ("shift", True),
    "shift: average precision": ("shift", True),
}

Method = tuple[str, str, int]


def curve(case: Case, order: Any, remove: bool) -> list[float]:
    """Test accuracy at each share of the rows removed, or added, in this order."""
    found = []
    for share in SHARES:
        cut = round(share * len(order))
        rows = order[cut:] if remove else order[:cut]
        model = Logistic(case.classes).fit(case.X[rows], case.y[rows])
        found.append(accuracy(model, case.X_test, case.y_test))
    return found


def score(data: str, kind: str, seed: int, values: list[float]) -> dict[str, list[float]]:
    """The score of each task done on this kind of case; of a curve, its points."""
    case = make_case(data, kind, seed)
    assert case is not None
    given = np.array(values)
    found = {
        f"{kind}: found": [ff.detection_rate(given, case.bad)],
        f"{kind}: average precision": [float(average_precision_score(case.bad, -given))],
    }
    if kind == "labels":
        mixed = np.random.default_rng(seed).permutation(len(given))  # equal values by chance
        worst = mixed[np.argsort(given[mixed], kind="stable")]
        found["removal, best first"] = curve(case, worst[::-1], remove=True)
        found["removal, worst first"] = curve(case, worst, remove=True)
        found["addition, best first"] = curve(case, worst[::-1], remove=False)
    return found


class Results(NamedTuple):
    """Scores of methods, seeds × data sets × points of a curve, by task; and what they cost."""

    scores: dict[str, dict[Method, Any]]
    fits: dict[Method, float]
    seconds: dict[Method, float]
    seeds: int
    sets: list[str]
    unfinished: list[tuple[str, Method]]  # of which a case is missing

    @property
    def enough(self) -> bool:
        """Whether there are seeds enough for intervals."""
        return self.seeds >= LEAST_SEEDS

    def areas(self, task: str) -> dict[Method, Any]:
        """Seeds × data sets: the mean over the points of a curve."""
        return {method: found.mean(axis=2) for method, found in self.scores[task].items()}

    def mean(self, task: str, method: Method) -> tuple[float, float]:
        """The mean over data sets and seeds, and the half-width of its 95 % interval over seeds."""
        return interval(self.areas(task)[method].mean(axis=1))

    def ahead(self, task: str, first: Method, second: Method) -> tuple[float, float]:
        """How much better the first is than the second, and the half-width of its 95 % interval."""
        areas, sign = self.areas(task), 1 if TASKS[task][1] else -1
        return interval(sign * (areas[first] - areas[second]).mean(axis=1))

    def ranks(self, task: str) -> dict[Method, float]:
        """The mean place among all methods, 1 the best, over data sets and seeds."""
        areas, sign = self.areas(task), 1 if TASKS[task][1] else -1
        places = rankdata([-sign * found for found in areas.values()], axis=0)
        return dict(zip(areas, places.mean(axis=(1, 2)).tolist(), strict=True))


def interval(by_seed: Any) -> tuple[float, float]:
    count = len(by_seed)
    width = student.ppf(0.975, count - 1) * np.std(by_seed, ddof=1) / np.sqrt(count)
    return float(np.mean(by_seed)), float(width)


def collect(store: Path, jobs: Iterable[Job]) -> Results:
    """Scores of what the store has of these jobs; methods with a case missing are left out."""
    have, kept = read(store), Memory(store.parent / "scores", verbose=0).cache(score)
    scores: dict[str, dict[Method, Any]] = {task: {} for task in TASKS}
    cost: dict[Method, list[tuple[float, float]]] = defaultdict(list)
    cells: dict[tuple[str, Method], dict[tuple[int, str], Any]] = defaultdict(dict)
    for job, case in cases_of(jobs):
        line = have.get(key_of(job, case))
        cells[job.kind, job[3:]][job.seed, job.data] = line
        if line is not None:
            cost[job[3:]].append((line["fits"], line["seconds"]))
    seeds = sorted({seed for found in cells.values() for seed, _ in found})
    sets = list(dict.fromkeys(data for found in cells.values() for _, data in found))
    unfinished = [cell for cell, found in cells.items() if None in found.values()]
    for (kind, method), found in cells.items():
        if (kind, method) in unfinished:
            continue
        points = {
            cell: kept(cell[1], kind, cell[0], line["values"]) for cell, line in found.items()
        }
        for task in points[seeds[0], sets[0]]:
            rows = [[points[seed, data][task] for data in sets] for seed in seeds]
            scores[task][method] = np.array(rows)
    mean = {method: np.mean(each, axis=0) for method, each in cost.items()}
    return Results(
        scores,
        {method: float(each[0]) for method, each in mean.items()},
        {method: float(each[1]) for method, each in mean.items()},
        len(seeds),
        sets,
        unfinished,
    )
