"""Errors and coverage of our samplers from few coalitions, without peers.

    python benchmarks/small_budgets.py [SEEDS [VALUE …]]

prints the tables of docs/estimates.md, or those of some values: games of up to 30 players that samplers were chosen on, relative squared
errors in the geometric mean (1e-12 at least), and the share of 95 % intervals that hold the exact value.
"""

import sys
import warnings
from functools import lru_cache, partial

import numpy as np
from estimate_games import CHOSEN_ON, budgets, every, load
from index import exact_game
from measure import machine, show
from our_estimates import METHODS, measure

import fairfield as ff

VARIATIONAL = {
    "index": ff.variational_index,
    "three steps": partial(ff.variational_values, steps=3),
}


@lru_cache
def truth(value: str, game: str) -> tuple[float, np.ndarray]:
    """Banzhaf's own temperature, and the exact values there."""
    players, worths, *_ = load(game)
    try:
        exact = exact_game(game)
    except KeyError:  # a formula of these benchmarks alone
        exact = ff.TableGame(worths(every(0, 2**players, players)))
    temperature = float(ff.banzhaf(exact, temperature=ff.relative(1)).temperature)
    return temperature, VARIATIONAL[value](exact, temperature=temperature).values


def at_points(game: str, budget: int, value: str, method: str, seed: int) -> dict[str, float]:
    players, worths, *_ = load(game)
    temperature, exact = truth(value, game)
    found = VARIATIONAL[value](
        worths, players=players, temperature=temperature, budget=budget, seed=seed, sampler=method
    )
    off = np.abs(found.values - exact)
    inside = off <= 1.959964 * found.stderr + 1e-12 * np.abs(exact).max()
    return {"error": float(off @ off / (exact @ exact)), "covered": float(inside.mean())}


def cell(value: str, name: str, method: str, seeds: int) -> str:
    measured = at_points if value in VARIATIONAL else measure
    errors, held = [], []
    for game in CHOSEN_ON:
        players = load(game)[0]
        budget = budgets(players).get(name)
        if players > 30 or budget is None:
            continue
        runs = [measured(game, budget, value, method, seed) for seed in range(seeds)]
        if any(run["error"] is None for run in runs):
            return ""
        errors.append(max(np.mean([run["error"] for run in runs]), 1e-12))
        held.append(np.mean([run["covered"] for run in runs]))
    return f"{np.exp(np.mean(np.log(errors))):.1e} ({np.mean(held):.2f})"


def table(title: str, values: list[str], methods: tuple[str, ...], seeds: int) -> None:
    rows = [
        (value, name, *(cell(value, name, method, seeds) for method in methods))
        for value in values
        for name in ("3n", "5n", "10n", "20n")
    ]
    show(title, ("value", "coalitions", *methods), rows)


def main() -> None:
    warnings.simplefilter("ignore")
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    about = f"{machine()}; {seeds} seeds"
    chosen = sys.argv[2:] or [*VARIATIONAL, "shapley", "banzhaf"]
    at_x = [value for value in chosen if value in VARIATIONAL]
    along = [value for value in chosen if value not in VARIATIONAL]
    if at_x:
        table(f"At points, {about}", at_x, ("auto", "least-squares"), seeds)
    if along:
        table(f"Along the diagonal, {about}", along, METHODS, seeds)


if __name__ == "__main__":
    main()
