"""The paper's data valuation of one split: errors, removal curves, steps of the iteration."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fairfield as ff
from fairfield.core.arrays import FloatArray
from fairfield.core.coalitions import enumerate_coalitions, rows_of, sizes
from fairfield.evaluation.evaluator import evaluate_all
from fairfield.games.data.game import PAPERS_WORTH
from paper.kept import kept
from paper.run import CRITERIA, Run
from paper.splits import (
    QUICK_SPLITS,
    SPLITS,
    Problem,
    Split,
    own_split,
    papers_split,
)

STEPS = 11
# Worths of a table, published or ours, that liblinear fits again one by one.
REFITTED = 32


@dataclass(frozen=True)
class Valued:
    """What one split says.

    ``curves`` and ``mirrored`` hold the true accuracies (n + 1) left as the most valuable are
    removed, in the right order and with the players in mirrored order; ``chance`` in random
    order. ``drawn`` are right and mirrored curves with the authors' rule that any missing class
    makes an accuracy of .5. ``moved`` are ‖x^k - x^(k-1)‖²/n. ``changed`` counts by how many test
    samples some worths that liblinear fits differ from the table's: from the published one's
    where one is ``stored``, else from ours, which is fitted to rounding.
    """

    problem: Problem
    split: str
    group_sizes: NDArray[np.int64]
    comparison: ff.Comparison
    curves: dict[str, FloatArray]
    mirrored: dict[str, FloatArray]
    drawn: dict[str, tuple[FloatArray, FloatArray]]
    chance: FloatArray
    moved: FloatArray
    changed: NDArray[np.int64]
    stored: bool
    table: FloatArray

    @property
    def is_papers(self) -> bool:
        """Whether the split is the authors' own."""
        return self.split == "paper"

    @property
    def errors(self) -> dict[str, float]:
        """The decoupling error of each criterion."""
        return {name: float(np.asarray(v.decoupling_error)) for name, v in self.comparison.items()}


def plotted(curve: FloatArray) -> float:
    """The mean accuracy over the points the paper plots: the first 75 % of removals."""
    return float(curve[: (len(curve) - 1) * 3 // 4].mean())


@cache
def all_splits(problem: Problem, run: Run) -> tuple[Valued, ...]:
    """The authors' split, where it is at hand, then our own; once for all experiments of a run."""
    held = run.published(problem.name)
    theirs = () if held is None else (papers_own(problem, held, run),)
    return (*theirs, *own_splits(problem, run))


def own_splits(problem: Problem, run: Run) -> Iterator[Valued]:
    """Our own splits, seeded one after the other."""
    players = problem.few if run.quick else problem.players
    count = run.splits or (QUICK_SPLITS if run.quick else SPLITS)
    for seed in range(run.seed, run.seed + count):
        split = own_split(problem, players, seed)
        yield value(problem, split, *fitted(problem, split, str(seed), seed, run), str(seed))


def papers_own(problem: Problem, held: dict[str, NDArray[Any]], run: Run) -> Valued:
    """The authors' split: by their table, where it is stored, else by ours."""
    split, published = papers_split(held), held.get("worths")
    if published is None:
        return value(problem, split, *fitted(problem, split, "paper", run.seed, run), "paper")
    changed = _changed(split, published, run.seed)
    return value(problem, split, published, changed, "paper", stored=True)


def value(
    problem: Problem,
    split: Split,
    table: FloatArray,
    changed: NDArray[np.int64],
    name: str,
    *,
    stored: bool = False,
) -> Valued:
    """All that is read off the table of a split's worths."""
    players = np.unique(split.groups).tolist()
    played, left = ff.TableGame(table, players), ff.TableGame(_one_class(split, table), players)
    temperature = problem.temperature
    found = ff.compare(played, criteria=CRITERIA, temperature=temperature)
    steps = ff.variational_values(played, STEPS, temperature=temperature, decoupling=False)
    return Valued(
        problem=problem,
        split=name,
        group_sizes=np.unique(split.groups, return_counts=True)[1],
        comparison=found,
        curves={k: ff.removal_curve(left, v).worths for k, v in found.items()},
        mirrored={k: ff.removal_curve(left, v.values[::-1]).worths for k, v in found.items()},
        drawn={
            k: (_ruled(split, table, v.values), _ruled(split, table, v.values[::-1]))
            for k, v in found.items()
        },
        chance=_by_size(left.worth_table, len(players))[::-1],
        moved=steps.step_differences(),
        changed=changed,
        stored=stored,
        table=table,
    )


def _one_class(split: Split, table: FloatArray) -> FloatArray:
    """The table with the accuracy of what can be told from one class alone, not the rule's .5."""
    groups, owner = np.unique(split.groups, return_inverse=True)
    labels, rows = np.unique(split.y), np.arange(len(table))
    bits = [rows_of(np.isin(np.arange(len(groups)), owner[split.y == label])) for label in labels]
    held = np.stack([rows & bit > 0 for bit in bits])
    shares = np.array([np.mean(split.y_test == label) for label in labels])
    return np.where(held.sum(axis=0) == 1, shares @ held, table)


def _ruled(split: Split, table: FloatArray, values: FloatArray) -> FloatArray:
    """Accuracies as the most valuable go, .5 as soon as one class is missing."""
    groups, owner = np.unique(split.groups, return_inverse=True)
    place = np.argsort(np.argsort(-values, kind="stable"))
    left: NDArray[np.bool_] = place >= np.arange(len(groups) + 1)[:, None]
    classes = [
        np.bincount(owner[split.y == label], minlength=len(groups)) for label in np.unique(split.y)
    ]
    whole = (left @ np.array(classes).T > 0).all(axis=1)
    return np.where(whole, table[rows_of(left)], PAPERS_WORTH)


def singles_fitted(split: Split, table: FloatArray) -> FloatArray:
    """The table with every single group fitted and the best constant for nobody.

    That is, without the paper's .5 for them.
    """
    game = split.game("constant")
    count = len(game.players)
    alone = np.vstack([np.zeros(count, dtype=bool), np.eye(count, dtype=bool)])
    changed = np.array(table)
    changed[rows_of(alone)] = game.worths(alone)
    return changed


def fitted(
    problem: Problem, split: Split, name: str, seed: int, run: Run
) -> tuple[FloatArray, NDArray[np.int64]]:
    """All 2^n worths of a split, fitted once and kept, and how liblinear's differ from some."""
    game = split.fast_game()

    def compute() -> dict[str, NDArray[Any]]:
        worths = evaluate_all(game, ff.Options(**run.options()))[0].worths
        return {"worths": worths, "changed": _changed(split, worths, seed)}

    data = f"to rounding: {game.describe()['data']}"
    held = kept(run, f"{problem.name}-{len(game.players)}-{name}", data, compute)
    return held["worths"], held["changed"]


def _changed(split: Split, table: FloatArray, seed: int) -> NDArray[np.int64]:
    """By how many test samples liblinear's worths of some coalitions differ from a table's."""
    game = split.game()
    count = min(REFITTED, len(table))
    rows = np.random.default_rng(seed).choice(len(table), count, replace=False)
    found = game.worths(enumerate_coalitions(len(game.players))[rows])
    samples: FloatArray = np.abs(found - table[rows]) * len(split.y_test)
    return np.asarray(np.rint(samples), dtype=np.int64)


def _by_size(table: FloatArray, players: int) -> FloatArray:
    """The mean worth of coalitions of each size."""
    counts = sizes(players)
    totals = np.bincount(counts, weights=table, minlength=players + 1)
    return np.asarray(totals / np.bincount(counts, minlength=players + 1))
