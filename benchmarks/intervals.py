"""How often 95 % intervals hold the truth: any criterion, games with exact answers.

``python benchmarks/intervals.py [--seeds 200] [--budget 1000] [--criteria variational_index …]
[--games flid …]`` values each game once exactly and once for every seed under the budget, and
prints the share of intervals that hold the exact value: over all players, of the worst player, and of runs that warn.
"""

import argparse
import warnings
from collections.abc import Callable
from functools import partial

import numpy as np
from measure import machine, show

import fairfield as ff
from fairfield.results.valuation import NORMAL

CRITERIA: dict[str, Callable[..., ff.Valuation]] = {
    "shapley": ff.shapley,
    "banzhaf": ff.banzhaf,
    "variational_index": ff.variational_index,
    "variational_values": partial(ff.variational_values, steps=3),
}


def flid(rng: np.random.Generator) -> ff.Game:
    weights = 2 * rng.random((20, 4))
    return ff.FLIDGame(np.full(20, (weights.sum() - weights.max(axis=0).sum()) / 20), weights)


def voting(rng: np.random.Generator) -> ff.Game:
    weights = rng.integers(1, 20, 16)
    return ff.VotingGame(weights, int(weights.sum() * 0.6))


def pairwise(rng: np.random.Generator) -> ff.Game:
    quadratic = np.triu(rng.normal(size=(30, 30)), 1) * 0.2
    return ff.PairwiseGame(rng.normal(size=30), quadratic + quadratic.T)


def coverage(rng: np.random.Generator) -> ff.Game:
    return ff.CoverageGame(rng.random((40, 20)) * (rng.random((40, 20)) < 0.3), rng.random(40))


def unlike(rng: np.random.Generator) -> ff.Game:
    """Worths without any pattern: 2^12 independent numbers beside an additive part."""
    rows = np.arange(2**12)[:, None] >> np.arange(12) & 1
    return ff.TableGame(rows @ rng.normal(size=12) + rng.normal(size=2**12))


GAMES = {g.__name__: g for g in (flid, voting, pairwise, coverage, unlike)}


def measure(game: ff.Game, criterion: str, budget: int, seeds: int) -> tuple[object, ...]:
    """The share of intervals that hold, the worst player's, the mean error over its bar, warnings."""
    value, temperature = (
        CRITERIA[criterion],
        ff.banzhaf(game, temperature=ff.relative(1)).temperature,
    )
    exact = value(game, temperature=temperature)
    sampled = ff.FunctionGame(game.worths, len(game.players))
    held, ratio, doubted = [], [], 0
    for seed in range(seeds):
        found = value(sampled, temperature=temperature, budget=budget, seed=seed)
        error = np.abs(found.values - exact.values)
        rounding = 1e-12 * np.abs(exact.values).max()
        held.append(error <= NORMAL * found.stderr + rounding)
        ratio.append(np.sqrt(np.mean(error**2) / np.mean(found.stderr**2)))
        doubted += "not to be trusted" in found.stop
    by_player = np.mean(held, axis=0)
    return f"{np.mean(held):.3f}", f"{by_player.min():.3f}", f"{np.median(ratio):.2f}", doubted


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--budget", type=int, nargs="+", default=[1000])
    parser.add_argument(
        "--criteria", nargs="+", default=["shapley", "banzhaf", "variational_index"]
    )
    parser.add_argument("--games", nargs="+", default=list(GAMES))
    options = parser.parse_args()
    warnings.simplefilter("error", RuntimeWarning)
    lines = [
        (name, criterion, budget, *measure(game, criterion, budget, options.seeds))
        for name in options.games
        for game in [GAMES[name](np.random.default_rng(7))]
        for criterion in options.criteria
        for budget in options.budget
    ]
    print(f"# Coverage of 95 % intervals\n\n{machine()}; {options.seeds} seeds")
    show(
        "Intervals that hold the exact value (bar: .92 to .98)",
        ("game", "criterion", "budget", "share", "worst player", "error / bar", "runs that warn"),
        lines,
    )


if __name__ == "__main__":
    main()
