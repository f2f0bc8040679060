"""Pair interactions under a budget beside every approximator of shapiq that takes pairs.

    python benchmarks/interactions.py [SECONDS [SEEDS]] > benchmarks/interactions.md

Runs where shapiq 1.8 is installed, measures what is missing for at most SECONDS per library (1800; 0:
nothing) with so many SEEDS (3), keeps every run of ours in benchmarks/runs and of
peers in benchmarks/.cache, and prints all tables.

Errors are Σ(value - exact)²/Σ exact² over all pairs, means over seeds, at equal numbers of evaluations; below
1e-20 they are rounding and count as 1e-20. The trivial answer, 0, has error 1. Whatever is tuned was
tuned on the first half of the games; the second half was held out. Of voting30 Shapley's interactions
are 0 by symmetry, but for rounding, and are left out.
"""

import subprocess
import sys
import time
from collections import defaultdict
from math import exp, log
from pathlib import Path

import numpy as np
from estimate_games import CACHE, CHOSEN_ON, HELD_OUT, RUNS, load
from interaction_games import BUDGETS
from measure import machine, read_runs, show

import fairfield as ff

FLOOR = 1e-20
LEFT_OUT = {
    ("shapley", "voting30"),
    ("fsii", "voting30"),
    ("shapley", "voting20"),
    ("fsii", "voting20"),
}
Table = dict[tuple[str, str, int], dict[str, list[dict]]]


def measured(seconds: float, seeds: int) -> tuple[Table, Table]:
    """Ours and the peers' runs so far, after measuring some more."""
    here, found = Path(__file__).resolve().parent, []
    CACHE.mkdir(exist_ok=True)
    places = {
        "our_interactions.py": RUNS / "interactions.csv",
        "shapiq_interactions.py": CACHE / "interactions_peers.jsonl",
    }
    for script, path in places.items():
        if seconds > 0:
            games = [*CHOSEN_ON, *HELD_OUT]
            command = [sys.executable, script, str(path), str(seconds), str(seeds), *games]
            # LightGBM inside peers prints.
            subprocess.run(command, cwd=here, check=True, stdout=subprocess.DEVNULL)
        table: Table = defaultdict(lambda: defaultdict(list))
        for run in read_runs(path):
            known = run["error"] is not None and (run["index"], run["game"]) not in LEFT_OUT
            if known and np.isfinite(run["error"]):
                cell = (run["index"], run["game"], run["budget"])
                table[cell][run["method"]].append(run)
        found.append(table)
    return found[0], found[1]


def mean(runs: list[dict]) -> float:
    return max(sum(run["error"] for run in runs) / len(runs), FLOOR)


def geometric(numbers: list[float]) -> float:
    return exp(sum(map(log, numbers)) / len(numbers))


def cell_rows(ours: Table, peers: Table) -> list[tuple]:
    rows = []
    for cell in sorted(ours):
        own = ours[cell]["auto"]
        errors = {name: mean(runs) for name, runs in peers.get(cell, {}).items()}
        best = min(errors, key=errors.__getitem__, default="")
        covered = sum(run["covered"] for run in own) / len(own)
        half = "chosen on" if cell[1] in CHOSEN_ON else "held out"
        theirs = (f"{errors[best]:.1e}", best, mean(own) / errors[best]) if best else ("", "", "")
        rows.append((*cell, half, len(own), f"{mean(own):.1e}", f"{covered:.2f}", *theirs))
    return rows


def budget_rows(ours: Table, peers: Table) -> list[tuple]:
    """By half of the games and budget: ours over the best peer of each cell, and coverage."""
    rows = []
    for half, games in (("chosen on", CHOSEN_ON), ("held out", HELD_OUT)):
        for factor in BUDGETS:
            cells = [c for c in ours if c[1] in games and c[2] == factor * load(c[1])[0]]
            both = [c for c in cells if c in peers]
            if not both:
                continue
            ratios = [mean(ours[c]["auto"]) / min(map(mean, peers[c].values())) for c in both]
            near = sum(ratio <= 1.2 for ratio in ratios) / len(ratios)
            covered = [run["covered"] for c in cells for run in ours[c]["auto"]]
            worst = max(mean(ours[c]["auto"]) for c in cells)
            rows.append(
                (half, f"{factor}n", len(both), geometric(ratios), f"{near:.0%}", max(ratios), worst,
                 f"{sum(covered) / len(covered):.3f}")
            )  # fmt: skip
    return rows


def sparse_rows() -> list[tuple]:
    """1000 players, 30 of 499 500 pairs and 100 players alone."""
    rng = np.random.default_rng(0)
    alone = rng.standard_normal(1000) * (rng.random(1000) < 0.1)
    pairs = [rng.choice(1000, 2, replace=False) for _ in range(30)]
    weights = rng.standard_normal(30)

    def worth(S: np.ndarray) -> np.ndarray:
        return S @ alone + sum(
            w * (S[:, i] & S[:, j]) for w, (i, j) in zip(weights, pairs, strict=True)
        )

    rows = []
    for budget in (2000, 3000, 5000):
        start = time.process_time()
        found = ff.interactions(worth, "shapley", players=1000, budget=budget)
        rows.append((budget, len(found.coalitions), found.stop, time.process_time() - start))
    return rows


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 1800.0
    ours, peers = measured(seconds, int(sys.argv[2]) if len(sys.argv) > 2 else 3)
    print("# Pair interactions under a budget\n")
    print(__doc__.split("\n\n")[3].strip() + f"\n\n{machine()}")
    columns = ("games", "budget", "cells", "ours / best peer", "within 1.2 ×", "worst ratio",
               "worst error", "coverage")  # fmt: skip
    show("Ours beside the best peer of each cell", columns, budget_rows(ours, peers))
    show(
        "A sparse game of 1000 players", ("budget", "pairs kept", "stop", "seconds"), sparse_rows()
    )
    names = (
        "index",
        "game",
        "budget",
        "half",
        "seeds",
        "ours",
        "coverage",
        "best peer",
        "which",
        "ratio",
    )
    show("Every cell", names, cell_rows(ours, peers))


if __name__ == "__main__":
    main()
