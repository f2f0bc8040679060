"""Learning games from coalitions: recovery of a known truth, real baskets, time.

``python benchmarks/learning.py [recovery] [objectives] [baskets] [time] [large]`` prints the tables
of learning.md. The baskets are read from the folder that FAIRFIELD_BASKETS names: apparel.csv
(Amazon baby registry, items separated by blanks) and groceries.csv (the arules Groceries data,
items separated by commas); where they are not there, that table is left out.
"""

from __future__ import annotations

import os
import resource
import sys
import time
from pathlib import Path

import numpy as np
from measure import machine, show

import fairfield as ff
from fairfield.core.coalitions import enumerate_coalitions

PLAYERS = 12
TRUTHS = range(3)
SAMPLES = (300, 3000, 30_000)
SEEDS = range(3)
SHOWN = ("percentile_rank", "top_1", "log_likelihood")
ONE_FIT = {"strength": 1.0, "starts": 1, "redraws": 0, "noise": 5, "steps": 150}
BASKETS = [
    ("apparel", "linear", "pseudolikelihood", {}),
    ("apparel", "pairwise", "pseudolikelihood", {}),
    ("apparel", "pairwise", "ratio-matching", {}),
    ("apparel", "pairwise", "nce", {}),
    ("apparel", "flid", "nce", ONE_FIT),
    ("apparel", "fldc", "nce", ONE_FIT),
    ("groceries", "linear", "pseudolikelihood", {}),
    ("groceries", "pairwise", "pseudolikelihood", {}),
    ("groceries", "pairwise", "nce", {}),
]


def pairwise_truth(seed: int) -> ff.Game:
    rng = np.random.default_rng(seed)
    pairs = np.triu(rng.normal(0, 0.5, (PLAYERS, PLAYERS)), 1)
    return ff.PairwiseGame(rng.normal(-1, 0.5, PLAYERS), pairs + pairs.T)


def flid_truth(seed: int) -> ff.Game:
    rng = np.random.default_rng(seed)
    return ff.FLIDGame(rng.normal(1, 1, PLAYERS), 2 * rng.random((PLAYERS, 4)))


def kl(truth: ff.Game, learned: ff.Game) -> float:
    """KL of the learned law from the true one, over all coalitions."""
    every = enumerate_coalitions(PLAYERS)
    logs = [game.worths(every) for game in (truth, learned)]
    p, q = (log - np.logaddexp.reduce(log) for log in logs)
    return float(np.exp(p) @ (p - q))


def spread(values: list[float], digits: int = 2) -> str:
    return f"{np.mean(values):.{digits}f} ± {np.std(values, ddof=1):.{digits}f}"


def recovery() -> None:
    plans = [
        ("pairwise", pairwise_truth, "pairwise", "pseudolikelihood"),
        ("pairwise", pairwise_truth, "pairwise", "nce"),
        ("pairwise", pairwise_truth, "pairwise", "ratio-matching"),
        ("pairwise", pairwise_truth, "pairwise", "likelihood"),
        ("pairwise", pairwise_truth, "linear", "likelihood"),
        ("FLID", flid_truth, "flid", "nce"),
        ("FLID", flid_truth, "flid", "pseudolikelihood"),
        ("FLID", flid_truth, "pairwise", "pseudolikelihood"),
        ("FLID", flid_truth, "linear", "likelihood"),
    ]
    rows = []
    gaps = []
    for name, make, model, objective in plans:
        cells = []
        for count in SAMPLES:
            found = []
            for seed in TRUTHS:
                truth = make(seed)
                drawn = ff.Boltzmann(truth, 1.0).draw(count, seed=100 + seed)
                game = ff.learn(drawn, model, objective, dimensions=4, seed=seed)
                found.append(kl(truth, game))
                if game.constant is not None:
                    own = ff.Boltzmann(game, 1.0).log_z
                    true = ff.Boltzmann(truth, 1.0).log_z
                    away = [abs(game.constant + log_z) for log_z in (own, true)]
                    gaps.append([name, count, seed, game.constant, *away])
            cells.append(spread(found, 4))
        rows.append([name, model, objective, *cells])
        print(rows[-1], file=sys.stderr)
    show(
        "KL to the truth, 12 players, mean ± spread over three truths",
        ["truth", "model", "objective", *(f"N = {count}" for count in SAMPLES)],
        rows,
    )
    columns = ["truth", "N", "seed", "c", "from -log Z of the game", "from -log Z of the truth"]
    show("The constant c of NCE", columns, gaps)


def objectives(count: int = 1_000_000) -> None:
    truth = pairwise_truth(0)
    drawn = ff.learning.observe(ff.Boltzmann(truth, 1.0).draw(count, seed=7))
    games = {
        name: ff.learn(drawn, objective=name, strength=0.0, steps=2000)
        for name in ("likelihood", "pseudolikelihood", "ratio-matching", "nce")
    }
    best = games["likelihood"]
    rows = [
        [
            name,
            kl(truth, game),
            kl(best, game),
            float(np.abs(game.form.quadratic - best.form.quadratic).max()),
        ]
        for name, game in games.items()
    ]
    show(
        f"Objectives on {count:,} observations of a pairwise truth, 12 players",
        ["objective", "KL to the truth", "KL to the likelihood's", "largest difference of J"],
        rows,
    )


def baskets() -> None:
    folder = os.environ.get("FAIRFIELD_BASKETS")
    if folder is None:
        print("\nFAIRFIELD_BASKETS names no folder, so no baskets were learned.")
        return
    rows = []
    for data, model, objective, keywords in BASKETS:
        seen = ff.learning.read_baskets(Path(folder) / f"{data}.csv")
        scores, strengths, seconds = [], [], []
        for seed in SEEDS:
            train, test = seen.split(0.2, seed)
            start = time.process_time()
            game = ff.learn(train, model, objective, seed=seed, **keywords)
            seconds.append(time.process_time() - start)
            scores.append(ff.learning.score(game, test, seed=seed))
            strengths.append(f"{game.fit.strength:g}{'' if game.fit.held_out else ' (given)'}")
        rows.append(
            [data, model, objective, "/".join(strengths)]
            + [spread([vars(each)[what] for each in scores]) for what in SHOWN]
            + [f"{np.mean(seconds):.0f}"]
        )
        print(rows[-1], file=sys.stderr)
    show(
        "Held-out baskets: a fifth, three seeds, mean ± spread; ties by their mean",
        ["data", "model", "objective", "strengths", "rank", "top-1", "log-likelihood", "seconds"],
        rows,
    )


def timing() -> None:
    rows = []
    for count, players in (
        (15_000, 50),
        (15_000, 100),
        (60_000, 100),
        (15_000, 200),
        (15_000, 400),
    ):
        # About three items a basket, around shared tastes.
        rng = np.random.default_rng(0)
        taste = rng.normal(size=(count, 3)) @ rng.normal(size=(3, players))
        chances = np.exp(np.minimum(np.log(3 / players) + 0.7 * taste - 0.7, 0))
        seen = ff.learning.observe(rng.random((count, players)) < chances)
        # Processor time: what others do on the machine does not count.
        start = time.process_time()
        game = ff.learn(seen, strength=10.0)
        seconds = time.process_time() - start
        per_step = 1000 * seconds / game.fit.steps
        rows.append([count, players, len(seen.counts), seconds, game.fit.steps, per_step])
    show(
        "One pairwise fit by pseudo-likelihood at a given strength, processor time",
        ["baskets", "items", "distinct", "seconds", "steps", "ms per step"],
        rows,
    )


def large(count: int = 100_000, players: int = 1000) -> None:
    """Many baskets of many items, sparse, by noise contrast."""
    from scipy.sparse import csr_array

    rng = np.random.default_rng(0)
    popular, taste = rng.dirichlet(np.full(players, 0.3)), rng.integers(0, 20, players)
    row, column = [], []
    for group in range(20):
        chances = popular * np.where(taste == group, 8, 1)
        sizes = rng.poisson(5, count // 20)
        row.append(np.repeat(group * len(sizes) + np.arange(len(sizes)), sizes))
        column.append(rng.choice(players, sizes.sum(), p=chances / chances.sum()))
    places = np.concatenate(row), np.concatenate(column)
    seen = csr_array((np.ones(len(places[0])), places), shape=(count, players))
    rows = []
    for model, noise in (("pairwise", 10), ("fldc", 5)):
        start = time.process_time()
        game = ff.learn(
            seen > 0, model, "nce", strength=10.0, noise=noise, steps=20, starts=1, redraws=0
        )
        seconds = time.process_time() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        rows.append([model, noise, game.fit.steps, seconds, peak])
    show(
        f"{count:,} baskets of {players:,} items by noise contrast",
        ["model", "noise", "steps", "processor seconds", "peak GiB of the process"],
        rows,
    )


PARTS = {
    "recovery": recovery,
    "objectives": objectives,
    "baskets": baskets,
    "time": timing,
    "large": large,
}


def main() -> None:
    print(f"{machine()}")
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()


if __name__ == "__main__":
    main()
