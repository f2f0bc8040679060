"""Errors and coverage of our estimates: run by estimates.py, in pieces like the peers.

python our_estimates.py FILE SECONDS [SEEDS]
"""

import sys
import time
from pathlib import Path

import numpy as np
from estimate_games import cells, load
from measure import append_missing

import fairfield as ff

METHODS = ("auto", "regression", "permutation")
VALUES = {"shapley": ff.shapley, "banzhaf": ff.banzhaf}


def measure(game: str, budget: int, value: str, method: str, seed: int) -> dict[str, object]:
    players, worths, shapley, banzhaf = load(game)
    exact = shapley if value == "shapley" else banzhaf
    start = time.perf_counter()
    try:
        found = VALUES[value](worths, players=players, budget=budget, seed=seed, sampler=method)
    except ValueError as reason:
        return cell(game, budget, value, method, seed) | {"error": None, "failure": str(reason)}
    seconds = time.perf_counter() - start
    rounding = 1e-12 * np.abs(exact).max()
    inside = np.abs(found.values - exact) <= 1.959964 * found.stderr + rounding
    return cell(game, budget, value, method, seed) | {
        "error": float(((found.values - exact) ** 2).sum() / (exact**2).sum()),
        "failure": None,
        "covered": float(inside.mean()),
        "asked": found.evaluations,
        "seconds": seconds,
        "by": found.method,
    }


def cell(game: str, budget: int, value: str, method: str, seed: int) -> dict[str, object]:
    return {"game": game, "budget": budget, "value": value, "method": method, "seed": seed}


def main() -> None:
    path, seconds = Path(sys.argv[1]), float(sys.argv[2])
    seeds = int(sys.argv[3])
    tasks = [
        (game, budget, value, method, seed)
        for seed in range(seeds)
        for game, budget in cells()
        for value in VALUES
        for method in METHODS
    ]
    # The cheapest first, and of the dearest a few seeds.
    players = {game: load(game)[0] for game, _ in cells()}
    tasks.sort(key=lambda task: (task[4] + 1) * task[1] * players[task[0]])
    append_missing(path, seconds, ("game", "budget", "value", "method", "seed"), tasks, measure)


if __name__ == "__main__":
    main()
