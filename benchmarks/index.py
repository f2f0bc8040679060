"""The variational index under a budget: its errors, and what it costs beside the game.

``python benchmarks/index.py errors [--seeds 20] [--games flid20 …] [--budgets 500 …]`` prints the
mean squared error of the marginals x* on the games of estimates.py, ``surrogate`` the same with
and without surrogates; ``python benchmarks/index.py bookkeeping`` prints the time per
evaluation that a run of 10 000 of them takes beside the worths. Coverage of the intervals:
``python benchmarks/intervals.py --criteria variational_index``.
"""

import argparse
import sys
import time
import warnings

import numpy as np
from estimate_games import CACHE, load
from measure import machine, show

import fairfield as ff

# Mean squared errors of x* to be met, times 1.5 for noise: FLID, 20 players, T = .1.
WANTED = {500: 1.4e-5, 2000: 3.5e-6, 10_000: 6.2e-7}
NOISE = 1.5
BUDGETS = (500, 2000, 10_000)
COLD = 0.1
GAMES = (
    "flid20",
    "flid30",
    "voting30",
    "ridge20",
    "mlp20",
    "trees20",
    "coverage100",
    "pairwise100",
)
MAKERS = {
    "table": ff.TableGame,
    "flid": ff.FLIDGame,
    "voting": lambda weights, quota: ff.VotingGame(weights.tolist(), int(quota)),
    "pairwise": ff.PairwiseGame,
    "coverage": ff.CoverageGame,
}
PLAYERS, ASKED = 100, 10_000


def exact_game(name: str) -> ff.Game:
    """The game with its table or closed form."""
    load(name)  # builds it where it is not kept
    with np.load(CACHE / f"{name}.npz", allow_pickle=False) as file:
        held = {key: file[key] for key in file.files if key not in ("shapley", "banzhaf")}
    return MAKERS[str(held.pop("kind"))](**held)


def temperatures(name: str, game: ff.Game) -> list[tuple[str, float]]:
    """Banzhaf's own scale, and for FLID the temperature of the figures to be met."""
    own = float(ff.banzhaf(game, temperature=ff.relative(1)).temperature)
    cold = [("0.1", COLD)] if name.startswith("flid") else []
    return [*cold, ("own", own)]


def error(
    game: str, temperature: float, budget: int, seeds: int, sampler: str = "auto"
) -> tuple[float, float, int]:
    """The mean over seeds of mean (x - x*)² over players; the same in standard errors; warnings."""
    players, worths, _, _ = load(game)
    exact = ff.variational_index(exact_game(game), temperature=temperature)
    squares, ratios, doubted = [], [], 0
    for seed in range(seeds):
        found = ff.variational_index(
            worths,
            players=players,
            temperature=temperature,
            budget=budget,
            seed=seed,
            sampler=sampler,
        )
        squares.append(np.mean((found.marginals - exact.marginals) ** 2))
        off = np.sum((found.values - exact.values) ** 2) / np.sum(found.stderr**2)
        ratios.append(np.sqrt(off))
        doubted += "not to be trusted" in found.stop
    return float(np.mean(squares)), float(np.median(ratios)), doubted


def errors(names: list[str], budgets: list[int], seeds: int) -> None:
    """The table of errors, beside the figures to be met."""
    lines = []
    for name in names:
        for label, temperature in temperatures(name, exact_game(name)):
            for budget in budgets:
                found, ratio, doubted = error(name, temperature, budget, seeds)
                bar = NOISE * WANTED[budget] if (name, label) == ("flid20", "0.1") else None
                lines.append(
                    (name, label, budget, f"{found:.1e}", "" if bar is None else f"{bar:.1e}",
                     f"{ratio:.2f}", f"{doubted} of {seeds}")
                )  # fmt: skip
                print(*lines[-1], file=sys.stderr, flush=True)
    show(
        "Mean squared error of x*",
        ("game", "T", "budget", "MSE", "bar", "error / bar of error", "runs that warn"),
        lines,
    )


def surrogate(names: list[str], budgets: list[int], seeds: int) -> None:
    """What surrogates add: errors with and without."""
    lines = []
    for name in names:
        temperature = temperatures(name, exact_game(name))[-1][1]
        for budget in budgets:
            plain, helped = (
                error(name, temperature, budget, seeds, s) for s in ("least-squares", "auto")
            )
            lines.append(
                (
                    name,
                    budget,
                    f"{plain[0]:.1e}",
                    f"{helped[0]:.1e}",
                    f"{plain[1]:.2f}",
                    f"{helped[1]:.2f}",
                )
            )
            print(*lines[-1], file=sys.stderr, flush=True)
    show(
        "Surrogates: mean squared error of x*, and error over reported error",
        ("game", "budget", "without", "with", "without, ratio", "with, ratio"),
        lines,
    )


def bookkeeping() -> None:
    """Microseconds per evaluation beside the game: the run less the worths alone."""
    lines = []
    for name in ("coverage100", "pairwise100"):
        players, worths, _, _ = load(name)
        assert players == PLAYERS
        asked: list[float] = []

        def timed(coalitions, worths=worths, asked=asked):
            start = time.perf_counter()
            found = worths(coalitions)
            asked.append(time.perf_counter() - start)
            return found

        best = np.inf
        for _ in range(4):  # the first warms up
            asked.clear()
            start = time.perf_counter()
            ff.variational_index(timed, players=players, budget=ASKED, n_jobs=1)
            best = min(best, time.perf_counter() - start - sum(asked))
        lines.append((name, f"{1e6 * best / ASKED:.0f}", "50"))
    show(
        f"Bookkeeping, {PLAYERS} players, {ASKED:,} evaluations", ("game", "µs each", "bar"), lines
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=["errors", "surrogate", "bookkeeping"])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--games", nargs="+", default=list(GAMES))
    parser.add_argument("--budgets", type=int, nargs="+", default=list(BUDGETS))
    options = parser.parse_args()
    warnings.simplefilter("error", RuntimeWarning)
    print(f"# The variational index under a budget\n\n{machine()}")
    if options.part == "bookkeeping":
        bookkeeping()
    else:
        part = errors if options.part == "errors" else surrogate
        part(options.games, options.budgets, options.seeds)


if __name__ == "__main__":
    main()
