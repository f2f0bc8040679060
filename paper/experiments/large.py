"""The paper's experiment with more players: 80 training points of a synthetic problem.

No code and no temperature were published for it (and its printed table names player 18
twice in one row), so the settings are those of the paper's other synthetic experiment.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import fairfield as ff
from paper.claims import DIFFERS, OPEN, REPRODUCED, WRONG, Claim, Finding, Table
from paper.registry import experiment
from paper.run import Run
from paper.synthetic import TEMPERATURE, synthetic_game

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PLAYERS, BUDGET, SHOWN = 80, 4000, 15
QUICK = 240
CRITERIA = ("variational_index", "banzhaf", "shapley")
# The printed table of the 15 best of 80 players.
PRINTED = {
    "variational_index": (9, 13, 11, 3, 54, 7, 18, 36, 32, 42, 46, 40, 6, 18, 23),
    "banzhaf": (9, 13, 11, 3, 54, 18, 7, 32, 46, 36, 2, 27, 40, 17, 10),
    "shapley": (52, 33, 27, 1, 4, 58, 32, 14, 42, 46, 40, 6, 18, 23, 47),
}


@dataclass(frozen=True)
class Large:
    """The values of all players by the three criteria, estimated."""

    comparison: ff.Comparison

    def best(self, count: int = SHOWN) -> dict[str, list[Any]]:
        """The best players by each criterion, the most valuable first: the paper's table."""
        return {name: v.ranking()[:count] for name, v in self.comparison.items()}

    def shared(self, count: int = SHOWN) -> dict[tuple[str, str], int]:
        """How many of their best players any two criteria share."""
        best = {name: set(players) for name, players in self.best(count).items()}
        names = list(best)
        pairs = [(a, b) for k, a in enumerate(names) for b in names[k + 1 :]]
        return {(a, b): len(best[a] & best[b]) for a, b in pairs}

    def distances(self) -> dict[tuple[str, str], float]:
        """The mean distance between the ranks that any two criteria give a player.

        Over all players, so that it does not hang on who is the fifteenth.
        """
        places = {name: np.argsort(np.argsort(-v.values)) for name, v in self.comparison.items()}
        return {(a, b): float(np.abs(places[a] - places[b]).mean()) for a, b in self.shared()}


def large(*, quick: bool = False, **options: Any) -> Large:
    """The paper's table of the 15 best of 80 players, by three criteria.

    Cost: ``budget`` fits of a logistic regression for each criterion (4000; ``quick``: 240).
    """
    options.setdefault("budget", QUICK if quick else BUDGET)
    game = synthetic_game(PLAYERS)
    # Each criterion has a budget of its own, as in the paper; compare would share one out.
    found = {name: getattr(ff, name)(game, temperature=TEMPERATURE, **options) for name in CRITERIA}
    return Large(ff.Comparison(found))


def draw(found: Large) -> Figure:
    """The values of the best players."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 7), layout="constrained")
    ff.plots.criteria(found.comparison, figure.subplots(), most=SHOWN)
    return figure


@experiment("large", "80 players, estimated by three criteria.", place=7)
def find(run: Run) -> Finding:
    """80 training points by three criteria, estimated."""
    budget = QUICK if run.quick else BUDGET
    found = large(quick=run.quick, **run.options("large"))
    near, far = ("variational_index", "banzhaf"), ("variational_index", "shapley")
    apart, shared = found.distances(), found.shared()
    theirs = {pair: len(set(PRINTED[pair[0]]) & set(PRINTED[pair[1]])) for pair in (near, far)}
    twice = sorted({p for p in PRINTED[near[0]] if PRINTED[near[0]].count(p) > 1})
    certain = _certain(found)
    rows = [
        (name, rank, player) for name, best in found.best().items()
        for rank, player in enumerate(best, 1)
    ]  # fmt: skip
    return Finding(
        "large",
        "80 players",
        f"n = 80 single synthetic points, T = {TEMPERATURE}, {budget:,} worths per criterion; "
        "neither data nor temperature were published",
        [
            Claim(
                "Table 2, top 15 of 80",
                "the ranking of the index is more similar to Banzhaf's than to Shapley's",
                f"{theirs[near]} and {theirs[far]} players in common among the printed 15",
                f"{shared[near]} and {shared[far]} in common; mean distance of ranks over all "
                f"players {apart[near]:.2f} and {apart[far]:.2f}",
                REPRODUCED if apart[near] < apart[far] else OPEN if run.quick else DIFFERS,
                f"values are estimates; {certain}",
            ),
            Claim(
                "Table 2, top 15 of 80",
                "the table lists the indices of 15 players for each criterion",
                "15 players",
                f"the index's line names player {', '.join(map(str, twice))} twice, so "
                f"{len(set(PRINTED[near[0]]))} players",
                WRONG,
                f"its line repeats a run of Shapley's ({', '.join(map(str, _common_run()))}), so part of "
                "it may have been copied there; the players in common are then fewer",
            ),
        ],
        {"large": Table(("criterion", "rank", "player"), rows)},
        {"large": draw(found)},
        {"large": "The best 15 players by each criterion, with 95 % intervals."},
    )


def _common_run() -> tuple[int, ...]:
    """The longest run of players that the printed lines of the index and Shapley share."""
    ours, theirs = PRINTED["variational_index"], PRINTED["shapley"]
    runs = [
        ours[start:stop] for start in range(len(ours)) for stop in range(start + 1, len(ours) + 1)
    ]
    starts = range(len(theirs))
    shared = [run for run in runs if any(theirs[at : at + len(run)] == run for at in starts)]
    return max(shared, key=len)


def _certain(found: Large) -> str:
    """How many of the best lie above the best player outside with their interval."""
    parts = []
    for name, v in found.comparison.items():
        if v.stderr is None:
            continue
        best = v.ranking()
        outside = best[SHOWN]
        sure = sum(v.difference(p, outside).low > 0 for p in best[:SHOWN])
        parts.append(f"{name} {sure}")
    return f"of the 15, so many lie above the 16th with their 95 % interval: {', '.join(parts)}"
