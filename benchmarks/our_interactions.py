"""Errors and coverage of our interactions: run by interactions.py, in pieces like the peers.

python our_interactions.py FILE SECONDS SEEDS [GAME …]
"""

import sys
from pathlib import Path

import numpy as np
from estimate_games import load
from interaction_games import budgets, exact
from measure import append_missing

import fairfield as ff

INDICES = ("shapley", "banzhaf", "stii", "fsii")


def measure(game: str, budget: int, index: str, seed: int) -> dict[str, object]:
    players, worths, *_ = load(game)
    truth = exact(game, index)
    pairs = [(i, j) for i in range(players) for j in range(i + 1, players)]
    among = pairs if players > 100 else None
    found = ff.interactions(worths, index, players=players, budget=budget, seed=seed, among=among)
    found = found.of_size(2)
    rounding = 1e-9 * np.abs(truth).max()
    inside = np.abs(found.values - truth) <= 1.959964 * found.stderr + rounding
    return {
        "game": game,
        "budget": budget,
        "index": index,
        "method": "auto",
        "seed": seed,
        "error": float(((found.values - truth) ** 2).sum() / (truth**2).sum()),
        "covered": float(inside.mean()),
    }


def main() -> None:
    path, seconds, seeds = Path(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
    tasks = [
        (game, budget, index, seed)
        for seed in range(seeds)
        for index in INDICES
        for game in sys.argv[4:]
        for budget in budgets(load(game)[0])
    ]
    # The cheapest first.
    tasks.sort(key=lambda task: (task[3], task[1] * load(task[0])[0] ** 2))
    append_missing(path, seconds, ("game", "budget", "index", "seed"), tasks, measure)


if __name__ == "__main__":
    main()
