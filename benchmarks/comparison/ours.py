"""Our values in the public comparison, and baselines: out-of-fold margins, chance, and two by others.

AME is written after its paper (Lin and others, ICML 2022): pyDVL 0.10 does not have it. Data Banzhaf by
sample reuse (Wang and Jia, AISTATS 2023) is in pyDVL, whose bookkeeping takes some 30 ms a fit at 200
rows; the same estimate in NumPy takes none, so 2000 fits of it are compared as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.linear_model import LassoCV
from sklearn.model_selection import StratifiedKFold

import fairfield as ff
from benchmarks.comparison.cases import SCORES, Case, Logistic, constant_score
from benchmarks.comparison.store import Found, Job

FOLDS = 10
# Chances to be in a coalition of AME.
CHANCES = (0.2, 0.4, 0.6, 0.8)


def neighbors(criterion: Callable[..., ff.Valuation]) -> Callable[[Case, Job], Found]:
    def value(case: Case, job: Job) -> Found:
        game = ff.NeighborGame(case.X, case.y, case.X_val, case.y_val)
        return Found(criterion(game).values, 0)

    return value


def game_of(case: Case, score: str, groups: Any = None) -> ff.DataGame:
    return ff.DataGame(
        Logistic(case.classes), case.X, case.y, case.X_val, case.y_val,
        scoring=SCORES[score], groups=groups, fallback=constant_score(case, score),
    )  # fmt: skip


def refits(
    criterion: Callable[..., ff.Valuation], score: str = "log-loss"
) -> Callable[[Case, Job], Found]:
    def value(case: Case, job: Job) -> Found:
        found = criterion(
            game_of(case, score), budget=job.fits, seed=job.seed, n_jobs=1, progress=False
        )
        return Found(found.values, found.evaluations)

    return value


def leave_one_out(score: str = "log-loss") -> Callable[[Case, Job], Found]:
    def value(case: Case, job: Job) -> Found:
        found = ff.leave_one_out(game_of(case, score), n_jobs=1, progress=False)
        return Found(found.values, found.evaluations)

    return value


def clusters(criterion: Callable[..., ff.Valuation]) -> Callable[[Case, Job], Found]:
    """Exact values of groups of near rows of one label; a row has the value of its group."""

    def value(case: Case, job: Job) -> Found:
        count = int(np.log2(job.fits))
        labels = 3.0 * (case.y[:, None] == np.arange(case.classes))
        groups = ff.cluster(np.column_stack([case.X, labels]), count, seed=job.seed)
        found = criterion(game_of(case, "log-loss", groups), n_jobs=1, progress=False)
        return Found(found.values[groups], found.evaluations)

    return value


def out_of_fold(case: Case, job: Job) -> Found:
    """p(label) - p(another) by models that have not seen the row; the valuation rows are not used."""
    found, rounds = np.zeros(len(case.y)), job.fits // FOLDS
    for turn in range(rounds):
        split = StratifiedKFold(FOLDS, shuffle=True, random_state=1000 * job.seed + turn)
        for train, left in split.split(case.X, case.y):
            shares = Logistic(case.classes).fit(case.X[train], case.y[train])
            p = shares.predict_proba(case.X[left])
            own = p[np.arange(len(left)), case.y[left]]
            p[np.arange(len(left)), case.y[left]] = -1
            found[left] += (own - p.max(axis=1)) / rounds
    return Found(found, rounds * FOLDS)


def ame(case: Case, job: Job) -> Found:
    """Slopes of a LASSO of worths on who was in, each row with a chance drawn for its coalition."""
    rng = np.random.default_rng(job.seed)
    chances = rng.choice(CHANCES, job.fits)[:, None]
    inside = rng.random((job.fits, len(case.y))) < chances
    worths = game_of(case, "log-loss").worths(inside)
    known = np.where(inside, 1 / chances, -1 / (1 - chances))
    lasso = LassoCV(alphas=20, cv=3, max_iter=500, tol=1e-3).fit(known, worths)
    return Found(lasso.coef_, job.fits)


def sample_reuse(case: Case, job: Job) -> Found:
    """The mean worth with a row less that without it, over coalitions of every row by a coin."""
    inside = np.random.default_rng(job.seed).random((job.fits, len(case.y))) < 0.5
    worths = game_of(case, "log-loss").worths(inside)
    found = (worths @ inside) / inside.sum(axis=0) - (worths @ ~inside) / (~inside).sum(axis=0)
    return Found(found, job.fits)


def random_order(case: Case, job: Job) -> Found:
    return Found(np.random.default_rng([job.seed, 7]).normal(size=len(case.y)), 0)


METHODS: dict[str, dict[str, Callable[[Case, Job], Found]]] = {
    "fairfield": {
        "neighbours, Shapley": neighbors(ff.shapley),
        "neighbours, Banzhaf": neighbors(ff.banzhaf),
        "neighbours, index": neighbors(ff.variational_index),
        "leave-one-out": leave_one_out(),
        "leave-one-out, accuracy": leave_one_out("accuracy"),
        "Shapley": refits(ff.shapley),
        "Banzhaf": refits(ff.banzhaf),
        "Banzhaf, accuracy": refits(ff.banzhaf, "accuracy"),
        "index of clusters": clusters(ff.variational_index),
        "Shapley of clusters": clusters(ff.shapley),
        "Banzhaf of clusters": clusters(ff.banzhaf),
    },
    "baseline": {
        "out-of-fold margins": out_of_fold,
        "AME": ame,
        "Data Banzhaf, sample reuse": sample_reuse,
        "random order": random_order,
    },
}


def values(case: Case, job: Job) -> Found:
    return METHODS[job.library][job.method](case, job)
