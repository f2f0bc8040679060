"""What the paper says of its two sampled experiments: 80 players, and the number of samples."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fairfield.paper import large, samples
from fairfield.paper.claims import DIFFERS, OPEN, REPRODUCED, WRONG, Claim, Finding, Table
from fairfield.paper.run import Run
from fairfield.paper.splits import PROBLEMS, own_split

# The printed table of the 15 best of 80 players.
PRINTED = {
    "variational_index": (9, 13, 11, 3, 54, 7, 18, 36, 32, 42, 46, 40, 6, 18, 23),
    "banzhaf": (9, 13, 11, 3, 54, 18, 7, 32, 46, 36, 2, 27, 40, 17, 10),
    "shapley": (52, 33, 27, 1, 4, 58, 32, 14, 42, 46, 40, 6, 18, 23, 47),
}


def find_large(run: Run) -> Finding:
    """80 training points by three criteria, estimated."""
    budget = large.QUICK if run.quick else large.BUDGET
    found = large.large(quick=run.quick, **run.options("large"))
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
        f"n = 80 single synthetic points, T = {large.TEMPERATURE}, {budget:,} worths per criterion; "
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
        {"large": large.draw(found)},
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


def _certain(found: large.Large) -> str:
    """How many of the best are told apart from the best player outside."""
    told = []
    for name, v in found.comparison.items():
        if v.stderr is None:
            continue
        best = v.ranking()
        outside = best[large.SHOWN]
        sure = sum(v.difference(p, outside).low > 0 for p in best[: large.SHOWN])
        told.append(f"{name} {sure}")
    return f"of the 15, so many lie above the 16th with their 95 % interval: {', '.join(told)}"


def find_samples(run: Run) -> Finding:
    """Steps of Alg. 1 by Monte Carlo with m = n, 5n, 10n samples."""
    points = PROBLEMS["synthetic_points"]
    game = own_split(points, samples.PLAYERS, run.seed).fast_game(points)
    found = samples.samples(None if run.quick else game, quick=run.quick, **run.options())
    settled = 1 if run.quick else 3
    last = {m: float(np.mean(curve[-settled:])) for m, curve in found.differences.items()}
    first = {m: float(curve[0]) for m, curve in found.differences.items()}
    falls = _falling(list(last.values()))
    few, *_, many = found.differences
    rows = [
        (m, step, value)
        for m, curve in found.differences.items()
        for step, value in enumerate(curve, 1)
    ]
    return Finding(
        "samples",
        "Number of samples",
        "a small FLID game and 3 steps (quick)"
        if run.quick
        else f"20 single synthetic points, T = {large.TEMPERATURE}, 10 steps; the game was not "
        "published",
        [
            Claim(
                "Fig. 11, number of samples",
                "with more samples Alg. 1 converges faster, in fewer epochs",
                "m = n, 5n, 10n: curves drawn",
                f"‖Δx‖²/n of the first step and of the last (mean of {settled}): "
                + "; ".join(f"m = {m}: {first[m]:.2g} and {last[m]:.2g}" for m in last),
                REPRODUCED if falls else DIFFERS,
                "with samples drawn anew the differences do not go to 0: they level off at the noise of "
                f"the gradient, {last[few] / last[many]:.2g} times lower with {many // few} times the "
                "samples; so more samples lower the floor rather than speed up the descent",
            )
        ],
        {"samples": Table(("m", "step", "difference"), rows)},
        {"samples": samples.draw(found)},
        {"samples": "‖x^k − x^(k−1)‖²/n over the steps, by the number of samples."},
    )


def _falling(values: ArrayLike) -> bool:
    return bool((np.diff(np.asarray(values)) < 0).all())
