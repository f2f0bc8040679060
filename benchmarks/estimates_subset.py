"""Values and pairs from few coalitions beside every approximator of shapiq and shap, in minutes.

    python benchmarks/estimates_subset.py values [SEEDS]
    python benchmarks/estimates_subset.py pairs [SEEDS]

A fixed part of estimates.py and interactions.py: eight games that need no file, half of them held out
while anything was chosen, the same SEEDS for all (3, of pairs 2). Nothing is kept, and what is measured does
not depend on the machine's speed.

Errors are Σ(value - exact)²/Σ exact², means over seeds, at equal numbers of evaluations; below 1e-20 they
count as 1e-20, below 1e-12 as exact. The trivial answer is an equal share of F(N) - F(∅) for Shapley's
values, else 0. The best peer of a cell is the luckiest of ten to twenty, which flatters peers. What takes a
peer minutes, and what it refuses, is left out; so are the pairs of voting20, which are 0 by symmetry.
"""

import os
import sys
import warnings
from collections.abc import Callable, Iterable
from contextlib import redirect_stdout
from itertools import product

# Before NumPy and the peers' boosted trees are loaded: on busy cores their threads wait for each other.
os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

import numpy as np
import our_estimates
import our_interactions
from estimate_games import HELD_OUT, load, trivial
from estimates import FLOOR, geometric, mean
from measure import machine, show

GAMES = ("flid20", "ridge20", "trees20", "tree14", "voting20", "mlp20", "unanimity30", "forest60")
CRITERIA = ("shapley", "banzhaf")
Cell = tuple[str, str, int]
Measure = Callable[..., dict]


def error(measure: Measure, *task: object, seeds: int) -> tuple[float, float]:
    """The mean error over seeds, nan where there is none, and the share of intervals that hold."""
    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere):  # LightGBM inside peers prints
        runs = [measure(*task, seed) for seed in range(seeds)]
    errors = [run["error"] for run in runs if run["error"] is not None]
    found = max(mean(errors), FLOOR) if errors else np.nan
    return found, mean([run.get("covered", np.nan) for run in runs])


def cell(ours: Measure, peers: Measure, methods: Iterable[str], at: Cell, seeds: int) -> tuple:
    """A row of the table: our error and coverage, the best peer and its error, the ratio."""
    criterion, game, factor = at
    task = (game, factor * load(game)[0], criterion)
    own, covered = error(ours, *task, seeds=seeds)
    found = {name: error(peers, *task, name, seeds=seeds)[0] for name in methods}
    found = {name: each for name, each in found.items() if np.isfinite(each)}
    best = min(found, key=found.__getitem__)
    half = "held out" if game in HELD_OUT else "chosen on"
    print(*at, file=sys.stderr, flush=True)
    return (
        criterion, game, half, f"{factor}n", f"{own:.1e}", f"{covered:.2f}", len(found),
        f"{found[best]:.1e}", best, own / found[best],
    )  # fmt: skip


def by_budget(rows: list[tuple], nothing: Callable[[str, str], float]) -> list[tuple]:
    """Of each criterion and budget: ours over the best peer of a cell, and over the trivial answer."""
    groups: dict[tuple[str, str], list[tuple]] = {}
    for row in rows:
        groups.setdefault((row[0], row[3]), []).append(row)
    return [
        (
            *group,
            len(found),
            geometric([row[-1] for row in found]),
            geometric([row[-1] for row in found if min(float(row[4]), float(row[7])) > 1e-12]),
            f"{mean([row[-1] <= 1.2 for row in found]):.0%}",
            max(row[-1] for row in found),
            max(float(row[4]) / nothing(row[1], row[0]) for row in found),
            f"{mean([float(row[5]) for row in found]):.2f}",
        )
        for group, found in groups.items()
    ]


def tables(what: str, rows: list[tuple], nothing: Callable[[str, str], float]) -> None:
    show(
        f"{what}: ours over the best peer of each cell",
        ("criterion", "budget", "cells", "geometric mean", "where neither is exact", "within 1.2 ×",
         "worst", "worst over trivial", "coverage"),
        by_budget(rows, nothing),
    )  # fmt: skip
    show(
        f"{what}: every cell",
        ("criterion", "game", "half", "budget", "ours", "coverage", "peers", "best of them",
         "which", "ratio"),
        rows,
    )  # fmt: skip


def values(seeds: int) -> None:
    import shapiq_estimates as peers

    def auto(game: str, budget: int, value: str, seed: int) -> dict:
        return our_estimates.measure(game, budget, value, "auto", seed)

    cells = product(CRITERIA, GAMES, (3, 5, 10, 20))
    tables(
        "Values",
        [cell(auto, peers.measure, peers.VALUES[at[0]], at, seeds) for at in cells],
        trivial,
    )


def pairs(seeds: int) -> None:
    import shapiq_interactions as peers

    ours, games = our_interactions.measure, [game for game in GAMES if game != "voting20"]
    cells = product(CRITERIA, games, (5, 10, 20))
    tables(
        "Pairs",
        [cell(ours, peers.measure, peers.methods(at[0]), at, seeds) for at in cells],
        lambda game, index: 1.0,
    )


PARTS = {"values": (values, 3), "pairs": (pairs, 2)}


def main() -> None:
    warnings.simplefilter("ignore")
    part = sys.argv[1]
    measure, usual = PARTS[part]
    seeds = int(sys.argv[2]) if len(sys.argv) > 2 else usual
    print(f"# Estimates of {part} from few coalitions\n")
    print(__doc__.split("\n\n", 3)[3].strip(), f"\n\n{machine()}; seeds: {seeds}.")
    try:
        measure(seeds)
    except ImportError as missing:
        print(f"\nNot measured: {missing}.")


if __name__ == "__main__":
    main()
