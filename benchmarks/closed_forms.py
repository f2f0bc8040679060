"""Times of games with closed forms: one gradient, the variational index, and their growth.

Run with: python benchmarks/closed_forms.py
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from measure import best, machine
from scipy.sparse import random_array

import fairfield as ff
from fairfield.core.game import Game

rng = np.random.default_rng(0)


def voting(players: int, total: int) -> Game:
    return ff.VotingGame(rng.multinomial(total, np.full(players, 1 / players)), total // 2 + 1)


def real_voting(players: int) -> Game:
    weights = rng.random(players)
    return ff.VotingGame(weights, weights.sum() / 2)


def flid(players: int, columns: int) -> Game:
    return ff.FLIDGame(rng.normal(size=players), rng.random((players, columns)))


def pairwise(players: int) -> Game:
    half = np.triu(rng.normal(size=(players, players)), 1) / players
    return ff.PairwiseGame(rng.normal(size=players), half + half.T)


def coverage(players: int, elements: int, covered_by: int) -> Game:
    cover = random_array((elements, players), density=covered_by / players, rng=rng)
    return ff.CoverageGame(cover, rng.random(elements) / elements)


def ensemble(models: int, rows: int, vote: str) -> Game:
    truth = rng.integers(0, 2, rows)
    lean = rng.normal(0.7, 1.0, rows) + rng.normal(0.0, 1.0, (models, rows))
    right = 1 / (1 + np.exp(-lean))
    chances = np.where(truth == 1, right, 1 - right)
    votes = (chances > 0.5).astype(int) if vote == "hard" else chances
    return ff.EnsembleGame(votes, None, truth, vote=vote)


# Each game at a size, and at twice the size of one thing at a time.
CASES: list[tuple[str, Callable[[], Game]]] = [
    ("voting, 200 players, total 5 000", lambda: voting(200, 5_000)),
    ("  400 players", lambda: voting(400, 5_000)),
    ("  total 10 000", lambda: voting(200, 10_000)),
    ("voting, 200 players, real weights", lambda: real_voting(200)),
    ("FLID, 100 000 players, 8 columns", lambda: flid(100_000, 8)),
    ("  200 000 players", lambda: flid(200_000, 8)),
    ("  16 columns", lambda: flid(100_000, 16)),
    ("pairwise, 2 000 players, dense", lambda: pairwise(2_000)),
    ("  4 000 players", lambda: pairwise(4_000)),
    ("coverage, 2 000 players, 10 000 elements by 20", lambda: coverage(2_000, 10_000, 20)),
    ("  4 000 players", lambda: coverage(4_000, 10_000, 20)),
    ("  20 000 elements", lambda: coverage(2_000, 20_000, 20)),
    ("  by 40", lambda: coverage(2_000, 10_000, 40)),
    ("cardinality, 1 000 players", lambda: ff.CardinalityGame(np.sqrt(np.arange(1_001)))),
    ("  2 000 players", lambda: ff.CardinalityGame(np.sqrt(np.arange(2_001)))),
    ("gloves, 500 + 500 players", lambda: ff.GlovesGame(500, 500)),
    ("  1 000 + 1 000 players", lambda: ff.GlovesGame(1_000, 1_000)),
    ("bankruptcy, 200 players, estate 2 500", lambda: ff.BankruptcyGame([25] * 199 + [26], 2_500)),
    ("ensemble, 20 models, 2 000 rows, hard", lambda: ensemble(20, 2_000, "hard")),
    ("ensemble, 20 models, 2 000 rows, soft", lambda: ensemble(20, 2_000, "soft")),
    ("  40 models", lambda: ensemble(40, 2_000, "soft")),
    ("  4 000 rows", lambda: ensemble(20, 4_000, "soft")),
    ("ensemble, 20 models, 2 000 rows, rozemberczki", lambda: ensemble(20, 2_000, "rozemberczki")),
]


def main() -> None:
    print(f"# Closed forms\n\n{machine()}\n\n```")
    print(f"{'game':48}{'gradient':>12}{'Banzhaf':>12}{'index':>12}{'steps':>7}  stop")
    for name, build in CASES:
        game = build()
        extension = game.extension()
        assert extension is not None
        x = rng.random(len(game.players))
        extension.gradient(x)
        gradient = best(lambda: extension.gradient(x))  # noqa: B023  # used at once
        banzhaf = best(lambda: ff.banzhaf(game), 1)  # noqa: B023
        start = time.perf_counter()
        index = ff.variational_index(game)
        whole = time.perf_counter() - start
        print(
            f"{name:48}{1e3 * gradient:9.2f} ms{1e3 * banzhaf:9.2f} ms{whole:10.3f} s"
            f"{index.steps:7d}  {str(index.stop)[:60]}",
            flush=True,
        )
    print("```")


if __name__ == "__main__":
    main()
