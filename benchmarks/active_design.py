"""Does it pay to choose coalitions by what they would tell of the values?

    python benchmarks/active_design.py [SEEDS] [GAME …] > benchmarks/active_design.md

Beginning with the first 2n + 2 coalitions of the default design, each next batch (a quarter of what there is)
is chosen one by one among 400 random candidates: the one that, by the prior over games with the shares
of now, takes most from the sum of the variances of the values, given those chosen before it. Both designs are
read the same way, by the mean game of the prior, and the default one also as it is by default.
"""

import sys
from math import exp, log

import numpy as np
from estimate_games import CHOSEN_ON, budgets, load, trivial
from measure import machine, show

import fairfield as ff
from fairfield.estimation.along import Along, overlaps
from fairfield.estimation.designs.design import Design, Plan, Sampled
from fairfield.estimation.designs.strata import Distinct
from fairfield.estimation.prior.kernels import Alike
from fairfield.estimation.prior.mean_game import MeanGame
from fairfield.estimation.prior.posterior import COMMON
from fairfield.estimation.received import ends

CANDIDATES = 400
# What is known up to this, in units of the variance of the worths, tells nothing more.
NOISE = 1e-6
SIZES = ("3n", "5n", "10n")
PLANS = {"shapley": Plan(first=True), "banzhaf": Plan(apart=True)}


def first(along, plan, seed, count):
    """The first coalitions of the default design."""
    design = Design(along.players, [along], seed, plan)
    found = np.empty((0, along.players), dtype=bool)
    while len(found) < count:
        asked = design.ask(count - len(found))
        design.tell(asked, np.zeros(len(asked)))
        found = np.concatenate([found, asked])
    return found, design


def read(rows, worths, along, design, efficient):
    """The values of the mean game, as few coalitions are read."""
    every = np.ones(along.players + 1)
    for each in design.strata:
        every[[each.size, along.players - each.size]] = each.pairs * (2 if each.halved else 1)
    sampled = Sampled(rows, worths[None], None, 1, every, design.reach, noisy=False)
    mean = MeanGame.given(sampled, sampled.worths)
    single = np.arange(along.players)[:, None]
    answer = mean.read(along, single, along.players, whole=True)
    if efficient:
        answer = answer.sharing(worths[1:2] - worths[:1], None)
    return mean.posterior, answer.values[0]


def candidates(along, rng, known):
    """Random coalitions, half of them by how much of the values is read from their size."""
    count = along.players
    law = along.reach[1:-1] / along.reach[1:-1].sum()
    sizes = rng.choice(np.arange(1, count), CANDIDATES, p=(law + 1 / len(law)) / 2)
    drawn = [Distinct(count, size, rng, paired=False).draw(1, rng)[0] for size in sizes]
    seen = {row.tobytes() for row in known}
    return np.array(
        [row for row in {r.tobytes(): r for r in drawn}.values() if row.tobytes() not in seen]
    )


def chosen(posterior, along, some, count, efficient):
    """The candidates that tell most of the values, each given those before it."""

    def total(one, other):
        alike = Alike.of(one, other)
        parts = zip(posterior.shares, posterior.kernels, strict=True)
        return COMMON + sum(share * kernel.gram(alike) for share, kernel in parts)

    table = along.sections(posterior.kernels, posterior.shares)
    single = np.arange(along.players)[:, None]

    def sections(rows):
        return table[overlaps(rows, single), rows.sum(axis=1)[:, None]]

    rows, inverse = posterior.coalitions, posterior.inverse
    across = total(rows, some)
    covariance = total(some, some) - across.T @ inverse @ across
    told = sections(some) - across.T @ inverse @ sections(rows)
    if efficient:
        told = told - told.mean(axis=1, keepdims=True)
    taken = []
    for _ in range(min(count, len(some))):
        variance = np.diagonal(covariance)
        gain = np.sum(told**2, axis=1) / np.maximum(variance, NOISE)
        gain[variance < NOISE] = -1
        gain[taken] = -1
        best = int(np.argmax(gain))
        taken.append(best)
        if gain[best] < 0:  # nothing tells more: any others
            return some[[*dict.fromkeys([*taken[:-1], *range(len(some))])][:count]]
        step = covariance[:, best] / variance[best]
        told = told - step[:, None] * told[best]
        covariance = covariance - step[:, None] * covariance[best]
    return some[taken]


def errors(game, value, seed):
    """Relative squared errors by budget: chosen actively, by the default design, and by default."""
    players, worths, shapley, banzhaf = load(game)
    exact = shapley if value == "shapley" else banzhaf
    along, efficient = getattr(Along, value)(players), value == "shapley"
    rng = np.random.default_rng([seed, 7])
    rows, design = first(along, PLANS[value], seed, 2 * players + 2)
    assert np.array_equal(rows[:2], ends(players))
    found = {}
    for name in SIZES:
        budget = budgets(players).get(name)
        if budget is None:
            continue
        while len(rows) < budget:
            posterior, _ = read(rows, worths(rows), along, design, efficient)
            more = min(max(5, len(rows) // 4), budget - len(rows))
            some = candidates(along, rng, rows)
            rows = np.concatenate([rows, chosen(posterior, along, some, more, efficient)])
        fixed, _ = first(along, PLANS[value], seed, budget)
        usual = getattr(ff, value)(worths, players=players, budget=budget, seed=seed)
        answers = [
            read(rows, worths(rows), along, design, efficient)[1],
            read(fixed, worths(fixed), along, design, efficient)[1],
            usual.values,
        ]
        found[name] = [float(np.sum((each - exact) ** 2) / np.sum(exact**2)) for each in answers]
    return found


def main() -> None:
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 4
    games = sys.argv[2:] or [g for g in CHOSEN_ON if load(g)[0] <= 30]
    print(__doc__.split("\n\n", 2)[2])
    print(machine())
    for value in PLANS:
        rows, ratios = [], {name: [] for name in SIZES}
        for game in games:
            runs = [errors(game, value, seed) for seed in range(seeds)]
            for name in runs[0]:
                active, fixed, usual = np.mean([run[name] for run in runs], axis=0)
                ratios[name].append(max(active, 1e-12) / max(fixed, 1e-12))
                numbers = (f"{each:.2e}" for each in (active, fixed, usual, trivial(game, value)))
                rows.append((game, name, *numbers, f"{active / fixed:.2f}"))
        head = (
            "game",
            "budget",
            "active",
            "default design",
            "by default",
            "trivial",
            "active / design",
        )
        show(f"{value}, {seeds} seeds", head, rows)
        for name, each in ratios.items():
            print(f"{value}, {name}: geometric mean of active / default design "
                  f"{exp(sum(map(log, each)) / len(each)):.2f}, {sum(r < 1 for r in each)} of {len(each)} better\n")  # fmt: skip


if __name__ == "__main__":
    main()
