"""How often 95 % intervals hold the truth: any criterion, games with exact answers.

``python benchmarks/intervals.py [--seeds 200] [--budget 1000 …] [--criteria variational_index …]
[--games flid …] [--temperature 0.1 …]`` values each game once exactly and once for every seed under the budget,
and prints the share of intervals that hold the exact value: over all players of the runs without a warning, of
the worst player, and of the runs that warn. A temperature is a number, or "own" for Banzhaf's scale.

``--criteria steps2 steps3 steps5 --games half high higher step`` are K-step values and votes of high quotas;
``--games smooth cube logarithm`` smooth functions of the weight of a coalition; ``--games largest`` the largest of some
numbers; ``--games noisy`` a random function, which ``--undeclared`` hides.
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
    **{f"steps{k}": partial(ff.variational_values, steps=k) for k in (1, 2, 3, 5)},
}


def flid(rng: np.random.Generator) -> ff.Game:
    weights = 2 * rng.random((20, 4))
    return ff.FLIDGame(np.full(20, (weights.sum() - weights.max(axis=0).sum()) / 20), weights)


def voting(rng: np.random.Generator) -> ff.Game:
    weights = rng.integers(1, 20, 16)
    return ff.VotingGame(weights, int(weights.sum() * 0.6))


def half(rng: np.random.Generator, share: float = 0.5) -> ff.Game:
    weights = rng.integers(1, 10, 14)
    return ff.VotingGame(weights, int(np.ceil(weights.sum() * share)))


def high(rng: np.random.Generator) -> ff.Game:
    return half(rng, 0.65)


def higher(rng: np.random.Generator) -> ff.Game:
    return half(rng, 0.8)


def step(rng: np.random.Generator) -> ff.Game:
    """A step: 15 of 20 equal players win."""
    return ff.VotingGame([1] * 20, 15)


def pairwise(rng: np.random.Generator) -> ff.Game:
    quadratic = np.triu(rng.normal(size=(30, 30)), 1) * 0.2
    return ff.PairwiseGame(rng.normal(size=30), quadratic + quadratic.T)


def coverage(rng: np.random.Generator) -> ff.Game:
    return ff.CoverageGame(rng.random((40, 20)) * (rng.random((40, 20)) < 0.3), rng.random(40))


def unlike(rng: np.random.Generator) -> ff.Game:
    """Worths without any pattern: 2^12 independent numbers beside an additive part."""
    rows = np.arange(2**12)[:, None] >> np.arange(12) & 1
    return ff.TableGame(rows @ rng.normal(size=12) + rng.normal(size=2**12))


def smooth(rng: np.random.Generator, of: Callable[[np.ndarray], np.ndarray] = np.sqrt) -> ff.Game:
    """A smooth function of the weight of a coalition, by default its root."""
    rows = np.arange(2**10)[:, None] >> np.arange(10) & 1
    return ff.TableGame(of(rows @ (rng.random(10) + 0.1)))


def cube(rng: np.random.Generator) -> ff.Game:
    return smooth(rng, lambda weight: weight**3)


def logarithm(rng: np.random.Generator) -> ff.Game:
    return smooth(rng, lambda weight: np.log1p(5 * weight))


def largest(rng: np.random.Generator) -> ff.Game:
    """The largest of the numbers of a coalition: those without the largest few decide on all others."""
    rows = np.arange(2**10)[:, None] >> np.arange(10) & 1
    return ff.TableGame((rows * np.abs(rng.normal(size=10))).max(axis=1))


class Noisy(ff.TableGame):
    """A game whose worths are drawn with noise; its table has none."""

    def draw(self, seed: int) -> Callable[[np.ndarray], np.ndarray]:
        rng = np.random.default_rng(seed)
        return lambda S: self.worths(S) + 0.3 * rng.normal(size=len(S))


def noisy(rng: np.random.Generator) -> ff.Game:
    """Twelve players, the root of their weight, noise of .3."""
    rows = np.arange(2**12)[:, None] >> np.arange(12) & 1
    return Noisy(np.sqrt(rows @ (rng.random(12) + 0.1)))


SMOOTH = (smooth, cube, logarithm)
VOTES = (half, high, higher, step)
OTHERS = (largest, noisy)
GAMES = {
    g.__name__: g for g in (flid, voting, pairwise, coverage, unlike, *VOTES, *SMOOTH, *OTHERS)
}
USUAL = ["flid", "voting", "pairwise", "coverage", "unlike"]


def measure(
    game: ff.Game, criterion: str, temperature: str, budget: int, seeds: int, declared: bool
) -> tuple[object, ...]:
    """The share of intervals that hold without a warning, the worst player's, with one, error / bar."""
    value = CRITERIA[criterion]
    given = ff.relative(1) if temperature == "own" else float(temperature)
    scale = ff.banzhaf(game, temperature=given).temperature
    exact = value(game, temperature=scale)
    sampled = ff.FunctionGame(game.worths, len(game.players))
    held, ratio, warned = [], [], []
    for seed in range(seeds):
        if isinstance(game, Noisy):
            sampled = ff.FunctionGame(game.draw(seed), len(game.players), random=declared)
        found = value(sampled, temperature=scale, budget=budget, seed=seed)
        error = np.abs(found.values - exact.values)
        stderr = np.zeros_like(error) if found.stderr is None else found.stderr
        rounding = 1e-12 * np.abs(exact.values).max()
        held.append(error <= NORMAL * stderr + rounding)
        ratio.append(np.sqrt(np.mean(error**2) / max(np.mean(stderr**2), rounding**2)))
        warned.append("not to be trusted" in found.stop)
    every, doubtful = np.array(held), np.array(warned)
    quiet = every[~doubtful]
    return (
        f"{quiet.mean():.3f}" if len(quiet) else "",
        f"{quiet.mean(axis=0).min():.3f}" if len(quiet) else "",
        f"{every[doubtful].mean():.3f}" if doubtful.any() else "",
        int(doubtful.sum()),
        f"{np.median(ratio):.2f}",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--budget", type=int, nargs="+", default=[1000])
    parser.add_argument(
        "--criteria", nargs="+", default=["shapley", "banzhaf", "variational_index"]
    )
    parser.add_argument("--games", nargs="+", choices=GAMES, default=USUAL)
    parser.add_argument("--temperature", nargs="+", default=["own"])
    parser.add_argument("--undeclared", action="store_true")
    options = parser.parse_args()
    declared = not options.undeclared
    warnings.simplefilter("error", RuntimeWarning)
    # One by one, so that each is printed as it is found.
    lines = (
        (
            name,
            criterion,
            at,
            budget,
            *measure(game, criterion, at, budget, options.seeds, declared),
        )
        for name in options.games
        for game in [GAMES[name](np.random.default_rng(7))]
        for criterion in options.criteria
        for at in options.temperature
        for budget in options.budget
    )
    print(f"# Coverage of 95 % intervals\n\n{machine()}; {options.seeds} seeds")
    show(
        "Intervals that hold the exact value (bar: .92 to .98)",
        (
            "game", "criterion", "temperature", "budget", "share without a warning", "of its worst player",
            "share with one", "runs that warn", "error / bar",
        ),
        lines,
    )  # fmt: skip


if __name__ == "__main__":
    main()
