"""Interactions along the diagonal from a budget of coalitions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import comb
from typing import NamedTuple

import numpy as np

from fairfield.core.arrays import FloatArray
from fairfield.criteria.interactions.criterion import Place, Read
from fairfield.criteria.interactions.diagonal import Diagonal
from fairfield.estimation.along import Along, Sets
from fairfield.estimation.interactions import Interacting, Interactions, Question, least_of
from fairfield.estimation.loop import Standing, check_run, run
from fairfield.problem import Problem
from fairfield.results.display import joined


class Estimated(NamedTuple):
    """Coalitions, their interactions, how they were found, F(∅) and how many worths it took."""

    sets: list[Place]
    read: Read
    method: str
    empty: float | FloatArray
    evaluations: int


def estimated(
    kind: Diagonal, problem: Problem, sizes: Sequence[int], sets: Sequence[Place] | None, order: int
) -> Iterator[Estimated]:
    """The interactions of these coalitions after each round; None: of those that matter, and of all players alone."""
    n = len(problem.game.players)
    # Before anything is listed: that takes minutes for thousands of players.
    check_run(problem.game, least_of(n), problem.options)
    question = Question(
        n,
        {size: Along(n, size, *kind.rule(size, order, n - size)) for size in sizes},
        {size: _of_size(sets, size, n) for size in sizes},
        kind.adds_up and sets is not None and _is_every(sets, n, sizes),
    )
    noisy = problem.game.traits.noisy
    estimator = Interactions(question, problem.options.seed, noisy=noisy)
    return (_read(each, sets) for each in run(problem.game, estimator, problem.options))


def _read(standing: Standing, sets: Sequence[Place] | None) -> Estimated:
    found = standing.estimate
    assert isinstance(found, Interacting)
    sentences = [*found.remarks, *found.warnings, *standing.failures.sentences()]
    if not found.exact:
        under_way = f"under way after {standing.coalitions:,} coalitions"
        sentences.insert(0, standing.stop or under_way)
    values, errors = found.values, found.stderr
    if sets is not None:
        # They come by size, as they were asked for within each.
        place = {each: k for k, each in enumerate(found.sets)}
        order_of = [place[tuple(sorted(each))] for each in sets]
        values, errors = values[..., order_of], errors[..., order_of]
    return Estimated(
        list(found.sets if sets is None else sets),
        Read(values, errors, joined(sentences)),
        found.method,
        found.more["empty"],
        standing.evaluations,
    )


def _of_size(sets: Sequence[Place] | None, size: int, players: int) -> Sets | None:
    if sets is None:
        return np.arange(players)[:, None] if size == 1 else None
    own = dict.fromkeys(tuple(sorted(each)) for each in sets if len(each) == size)
    return np.array(list(own), dtype=np.int64).reshape(-1, size)


def _is_every(sets: Sequence[Place], players: int, sizes: Sequence[int]) -> bool:
    different = {tuple(sorted(each)) for each in sets}
    return len(different) == sum(comb(players, size) for size in sizes)
