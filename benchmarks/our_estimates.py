"""Errors and coverage of our estimates: run by estimates.py, in pieces like the peers.

python our_estimates.py FILE SECONDS [SEEDS]
"""

import sys
from pathlib import Path

import numpy as np
from estimate_games import cells, load
from measure import append_missing

import fairfield as ff

# How many seeds of each way, at most: what is plain is shown beside what is used.
METHODS = {"auto": 10, "regression": 3, "permutation": 3}
VALUES = {"shapley": ff.shapley, "banzhaf": ff.banzhaf}


def measure(game: str, budget: int, value: str, method: str, seed: int) -> dict[str, object]:
    players, worths, shapley, banzhaf = load(game)
    exact = shapley if value == "shapley" else banzhaf
    run = {"game": game, "budget": budget, "value": value, "method": method, "seed": seed}
    try:
        found = VALUES[value](worths, players=players, budget=budget, seed=seed, sampler=method)
    except ValueError:  # too few for a regression
        return run | {"error": None, "covered": None}
    rounding = 1e-12 * np.abs(exact).max()
    inside = np.abs(found.values - exact) <= 1.959964 * found.stderr + rounding
    error = float(((found.values - exact) ** 2).sum() / (exact**2).sum())
    return run | {"error": error, "covered": float(inside.mean())}


def main() -> None:
    path, seconds = Path(sys.argv[1]), float(sys.argv[2])
    seeds = int(sys.argv[3])
    tasks = [
        (game, budget, value, method, seed)
        for seed in range(seeds)
        for game, budget in cells()
        for value in VALUES
        for method, most in METHODS.items()
        if seed < most
    ]
    # The cheapest first, and of the dearest a few seeds.
    players = {game: load(game)[0] for game, _ in cells()}
    tasks.sort(key=lambda task: (task[4] + 1) * task[1] * players[task[0]])
    append_missing(path, seconds, ("game", "budget", "value", "method", "seed"), tasks, measure)


if __name__ == "__main__":
    main()
