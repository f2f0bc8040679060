"""What nearest-neighbour games cost: search and valuation, and how they grow.

    python benchmarks/neighbors.py [--quick]

Times are the best of several, or medians of processor time; neighbor_peers.py has other libraries.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from measure import best, machine
from neighbor_peers import FEATURES, data, processor

import fairfield as ff
from fairfield.games.neighbors.extension import NeighborExtension


def least(calls: list[Callable[[], object]], times: int = 60) -> list[float]:
    """The least processor time of each, in seconds; by turns, so that all meet the same load."""
    taken = [[processor(call)[0] for call in calls] for _ in range(times)]
    return np.min(taken, axis=0).tolist()


def searched(rows: int, tests: int, k: int) -> tuple[ff.NeighborGame, float]:
    """A game whose neighbours have been found, and the seconds that took."""
    given = data(rows, tests)
    started = time.perf_counter()
    game = ff.NeighborGame(**given, k=k)
    game.extension().gradient(np.full(rows, 0.5))
    return game, time.perf_counter() - started


def flat_pass(reach: int, k: int, tests: int) -> Callable[[], object]:
    """Multiplies two arrays of M × K × n_test numbers into a third."""
    first, second, product = np.random.default_rng(0).random((3, reach, k, tests))
    return lambda: np.multiply(first, second, out=product)


def recursive_pass(reach: int, k: int, tests: int) -> Callable[[], object]:
    """Fills one such array along the list, each neighbour from the one before."""
    chances = np.random.default_rng(0).random((reach, tests))
    laws = np.zeros((reach + 1, k + 1, tests))
    laws[0, 1:] = 1.0

    def fill() -> None:
        for before, after, x in zip(laws[:-1], laws[1:], chances, strict=True):
            change = np.subtract(before[:-1], before[1:], out=after[1:])
            change *= x
            change += before[1:]

    return fill


@contextmanager
def counted() -> Iterator[list[int]]:
    """How many gradients are computed meanwhile, of all players or of those within reach."""
    calls, plain = [0], NeighborExtension.centred

    def count(self: NeighborExtension, x: Any) -> Any:
        calls[0] += 1
        return plain(self, x)

    NeighborExtension.centred = count  # type: ignore[method-assign]
    try:
        yield calls
    finally:
        NeighborExtension.centred = plain  # type: ignore[method-assign]


def valuation(rows: int, tests: int, k: int = 5) -> None:
    """Search, one gradient, Banzhaf and the variational index at one size, in processor time."""
    started = time.process_time()
    game, _ = searched(rows, tests, k)
    search = time.process_time() - started
    closed: Any = game.extension()
    half = np.full(rows, 0.5)
    gradients, indices = [], []
    for _ in range(3):  # by turns, so that both meet the same load
        gradients += [processor(lambda: closed.gradient(half))[0] for _ in range(10)]
        with counted() as calls:
            indices.append(processor(lambda: ff.variational_index(game))[0])
    gradient, seconds = float(np.median(gradients)), float(np.median(indices))
    index = ff.variational_index(game)
    banzhaf = best(lambda: ff.banzhaf(game), 3)
    closed.gradient(half)
    reach = closed.reach  # of the last answer
    passes = [each(reach, k, tests) for each in (recursive_pass, flat_pass)]
    fastest, recursive, flat = least([lambda: closed.gradient(half), *passes])
    print(f"\n{rows:,} rows × {tests:,} test points, K = {k}, {FEATURES} features")
    print(f"  search                        {search:9.3f} s")
    print(f"  one gradient at ½             {gradient * 1e3:9.3f} ms, M = {reach}")
    print(
        f"    its best ÷ one recursion    {fastest / recursive:9.1f}   ({recursive * 1e3:.3f} ms)"
    )
    print(f"    ÷ one flat multiplication   {fastest / flat:9.1f}   ({flat * 1e3:.3f} ms)")
    print(f"  Banzhaf, search known         {banzhaf * 1e3:9.3f} ms")
    print(f"  variational index             {seconds:9.3f} s, {index.stop}")
    print(f"    steps, gradients in all     {index.steps:9d}, {calls[0]}")
    print(f"    ÷ gradients × one gradient  {seconds / (gradient * calls[0]):9.2f}")
    print(f"    ÷ search                    {seconds / search:9.2f}")
    print(f"  truncation error at most      {closed.truncation:9.1e}")


def growth(sizes: list[tuple[int, int, int]]) -> None:
    """How search and one gradient grow with rows, test points and K."""
    print(
        "\n       rows   tests    K   M at ½   search s   gradient ms   µs per test, neighbour, K"
    )
    for rows, tests, k in sizes:
        game, search = searched(rows, tests, k)
        closed = game.extension()
        gradient = best(partial(closed.gradient, np.full(rows, 0.5)))
        each = gradient * 1e6 / (tests * closed.reach * k)
        print(
            f"{rows:11,} {tests:7,} {k:4d} {closed.reach:8d} {search:10.3f} {gradient * 1e3:13.3f}"
            f" {each:12.5f}"
        )


def nearness_to_zero(rows: int, tests: int) -> None:
    """How M and one gradient grow as fewer rows come in."""
    game, _ = searched(rows, tests, 5)
    closed = game.extension()
    print(
        f"\n      x        M   first gradient s   next gradient ms   ({rows:,} × {tests:,}, K = 5)"
    )
    for x in (0.9, 0.5, 0.2, 0.1, 0.05, 0.02):
        point = np.full(rows, x)
        first = best(partial(closed.gradient, point), 1)
        again = best(partial(closed.gradient, point), 3)
        print(f"{x:7} {closed.reach:8d} {first:18.3f} {again * 1e3:18.3f}")


def weighted(rows: int, tests: int, k: int = 5) -> None:
    """One gradient at ½ of each worth of weighted neighbours, and Shapley of fewer rows."""
    print(f"\nweights='distance', {rows:,} × {tests:,}, K = {k}; Shapley of 1,000 × 20")
    print("                          gradient ms   Shapley s")
    for name, task, vote in (
        ("soft", "classification", "soft"),
        ("hard, 3 bits", "classification", "hard"),
        ("squared error", "regression", "hard"),
    ):
        how: dict[str, Any] = {"k": k, "task": task, "vote": vote, "weights": "distance"}
        closed = ff.NeighborGame(**data(rows, tests), **how).extension()
        call = partial(closed.gradient, np.full(rows, 0.5))
        gradient = min(processor(call)[0] for _ in range(4))
        few = ff.NeighborGame(**data(1000, 20), **how).extension()
        print(f"  {name:20} {gradient * 1e3:14.1f} {processor(few.shapley)[0]:11.2f}")


def main() -> None:
    quick = "--quick" in sys.argv
    print(f"# Nearest neighbours\n\n{machine()}\n\n```")
    ff.variational_index(searched(1000, 10, 5)[0])  # what is imported at first use
    shrink = 10 if quick else 1
    valuation(100_000 // shrink, 1000 // shrink)
    valuation(1_000_000 // shrink, 200)
    weighted(100_000 // shrink, 200)
    base = 100_000 // shrink
    growth(
        [(base // 10, 1000, 5), (base, 1000, 5), (base * 10, 1000, 5)]
        + [(base, tests, 5) for tests in (100, 10_000 // shrink)]
        + [(base, 1000, k) for k in (1, 10, 20, 50)]
    )
    nearness_to_zero(base, 200)
    print("```")


if __name__ == "__main__":
    main()
