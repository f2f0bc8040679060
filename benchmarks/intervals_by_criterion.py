"""How often 95 % intervals hold the exact value, of every criterion, by evaluations per player.

    python benchmarks/intervals_by_criterion.py [SECONDS [CRITERION …]] > benchmarks/intervals_by_criterion.md

measures what is missing for at most SECONDS (3600; 0: nothing), keeps every run in benchmarks/runs, and prints
all there are.

A run is one game and one seed; shares are over the intervals of all players, or pairs. Ordinary games are tables of
estimates.py and a FLID game; heavy-tailed ones, in which one worth or a few decide (up to 2.6e39 times the
others, a jump between ∅ and all others, a vote), stand apart; noisy are ordinary ones whose every evaluation has an
error of a tenth of the standard deviation of all worths, declared as random.
"""

import sys
from collections import defaultdict
from collections.abc import Callable
from functools import cache, partial

import numpy as np
from estimate_games import RUNS, load
from interaction_games import closed
from measure import append_missing, machine, read_runs, show

import fairfield as ff
from fairfield.results.valuation import NORMAL

ORDINARY = (
    "flid20",
    "soum_n15",
    "local_xai_bike_n12",
    "ensemble_cali_r2_n10",
    "data_valuation_adult_dt_n15",
    "global_xai_bike_n12",
    "paper_adult_row1",
    "dataset_valuation_cali_n10",
)
HEAVY = ("cluster_bike_n12", "paper_breast_cancer2", "voting20")
KINDS = {"ordinary": ORDINARY, "heavy-tailed": HEAVY, "noisy": ORDINARY[::2]}
# Seeds of each game, if all is measured: 200 runs of the ordinary ones.
SEEDS, NOISE = {"ordinary": 25, "heavy-tailed": 10, "noisy": 10}, 0.1
# As in estimates.py, smaller errors are rounding, in units of the largest value.
ROUNDING = 1e-10
BUDGETS: dict[str, Callable[[int], int]] = {
    "2n+2": lambda n: 2 * n + 2,
    **{f"{k}n": partial(int.__mul__, k) for k in (3, 5, 10, 20)},
}


def owen(game: ff.Game, **options: object) -> ff.Valuation:
    """Owen's values where every second player is in a union with the next."""
    return ff.owen(game, [i // 2 for i in range(len(game.players))], **options)


def pairs(game: ff.Game, criterion: str, **options: object) -> ff.Interactions:
    return ff.interactions(game, criterion, **options).of_size(2)


CRITERIA: dict[str, Callable[..., ff.Valuation | ff.Interactions]] = {
    "shapley": ff.shapley,
    "banzhaf": ff.banzhaf,
    "beta(4, 1)": partial(ff.semivalue, weights=ff.beta(4, 1)),
    "owen": owen,
    "variational_index": ff.variational_index,
    "three steps": partial(ff.variational_values, steps=3),
    "shapley pairs": partial(pairs, criterion="shapley"),
    "stii pairs": partial(pairs, criterion="stii"),
}
# These are read at a temperature, that of Banzhaf's scale.
WARM = ("variational_index", "three steps")


@cache
def known(name: str, criterion: str) -> tuple[ff.Game, np.ndarray, dict[str, float]]:
    """A game, its exact values, and the temperature these have."""
    game = closed(name)
    warm = {"temperature": ff.banzhaf(game, temperature=ff.relative(1)).temperature}
    given = warm if criterion in WARM else {}
    return game, CRITERIA[criterion](game, **given).values, given


@cache
def deviation(name: str) -> float:
    """The standard deviation of all worths."""
    players, worths, *_ = load(name)
    return float(worths(np.arange(2**players)[:, None] >> np.arange(players) & 1).std())


def measure(kind: str, name: str, criterion: str, budget: str, seed: int) -> dict[str, object]:
    game, exact, given = known(name, criterion)
    players, noise = len(game.players), np.random.default_rng(seed)

    def noisy(S: np.ndarray) -> np.ndarray:
        return game.worths(S) + NOISE * deviation(name) * noise.normal(size=len(S))

    sampled = ff.FunctionGame(
        noisy if kind == "noisy" else game.worths, players, random=kind == "noisy"
    )
    run = {"kind": kind, "game": name, "criterion": criterion, "budget": budget, "seed": seed}
    found = CRITERIA[criterion](sampled, budget=BUDGETS[budget](players), seed=seed, **given)
    rounding = ROUNDING * np.abs(exact).max()
    inside = np.abs(found.values - exact) <= NORMAL * found.stderr + rounding
    warned = "not to be trusted" in str(found.stop)
    return run | {"covered": float(inside.mean()), "warned": int(warned)}


def rows(runs: list[dict]) -> list[tuple[object, ...]]:
    found: dict[tuple[str, str, str], dict[str, list[float]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for run in runs:
        cell = run["kind"], run["criterion"], run["budget"]
        found[cell][run["game"]].append(run["covered"])
    table: list[tuple[object, ...]] = []
    for kind in KINDS:
        for criterion in CRITERIA:
            for budget in BUDGETS:
                by_game = found[kind, criterion, budget]
                if not by_game:
                    continue
                every = [share for shares in by_game.values() for share in shares]
                worst = min(by_game, key=lambda name: np.mean(by_game[name]))
                table.append(
                    (kind, criterion, budget, len(every), f"{np.mean(every):.3f}",
                     f"{np.mean(by_game[worst]):.3f}", worst)
                )  # fmt: skip
    return table


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 3600
    tasks = [
        (kind, name, criterion, budget, seed)
        for seed in range(max(SEEDS.values()))
        for kind, names in KINDS.items()
        if seed < SEEDS[kind]
        for name in names
        for criterion in sys.argv[2:] or CRITERIA
        for budget in BUDGETS
    ]
    path = RUNS / "intervals_by_criterion.csv"
    if seconds:
        # By its name: what a script keeps in memory cannot be sent to workers.
        from intervals_by_criterion import measure as found

        append_missing(path, seconds, ("kind", "game", "criterion", "budget", "seed"), tasks, found)
    runs = read_runs(path)
    print("# Coverage of 95 % intervals\n")
    print(__doc__.split("\n\n", 3)[3].strip(), f"\n\n{machine()}.")
    show(
        "Intervals that hold the exact value (bar .92 to .98 at 5n and more, .90 below)",
        ("games", "criterion", "evaluations", "runs", "held", "of the worst game", "which"),
        rows(runs),
    )


if __name__ == "__main__":
    main()
