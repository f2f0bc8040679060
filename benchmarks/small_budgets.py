"""Errors and coverage of our samplers from few coalitions, without peers.

    python benchmarks/small_budgets.py [SEEDS]

prints the table of docs/estimates.md: games of up to 30 players that samplers were chosen on, relative squared
errors in the geometric mean (1e-12 at least), and the share of 95 % intervals that hold the exact value.
"""

import sys

import numpy as np
from estimate_games import CHOSEN_ON, budgets, load
from measure import machine, show
from our_estimates import METHODS, measure


def cell(value: str, name: str, method: str, seeds: int) -> str:
    errors, held = [], []
    for game in CHOSEN_ON:
        players = load(game)[0]
        budget = budgets(players).get(name)
        if players > 30 or budget is None:
            continue
        runs = [measure(game, budget, value, method, seed) for seed in range(seeds)]
        if any(run["error"] is None for run in runs):
            return ""
        errors.append(max(np.mean([run["error"] for run in runs]), 1e-12))
        held.append(np.mean([run["covered"] for run in runs]))
    return f"{np.exp(np.mean(np.log(errors))):.1e} ({np.mean(held):.2f})"


def main() -> None:
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    rows = [
        (value, name, *(cell(value, name, method, seeds) for method in METHODS))
        for value in ("shapley", "banzhaf")
        for name in ("3n", "5n", "10n", "20n")
    ]
    show(f"{machine()}; {seeds} seeds", ("value", "coalitions", *METHODS), rows)


if __name__ == "__main__":
    main()
