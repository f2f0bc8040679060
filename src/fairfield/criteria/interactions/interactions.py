"""What players are worth together, beyond what they are worth apart.

The interaction of a coalition A is its derivative ∂_A f, read where the criterion reads
the gradient: averaged on the diagonal (Shapley), at ½ (Banzhaf), at x* (variational); or
what the law of coalitions says of A, in :mod:`fairfield.criteria.interactions.law`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable
from itertools import combinations
from math import comb
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from fairfield.boltzmann.temperature import OWN_SCALE, Temperature
from fairfield.core.arrays import FloatArray
from fairfield.core.checks import whole
from fairfield.core.coalitions import spell
from fairfield.core.extension import legendre
from fairfield.core.game import Player, Players
from fairfield.criteria.interactions.law import Place, block_gains, index_of, log_odds_interactions
from fairfield.criteria.interactions.strongest import strongest_pairs
from fairfield.criteria.variational_values import start_of
from fairfield.estimation.samplers.registry import check_sampler
from fairfield.evaluation.options import Keywords
from fairfield.multilinear import size_weights
from fairfield.multilinear.table import TableExtension
from fairfield.problem import Problem, resolve
from fairfield.results.interactions import Interactions
from fairfield.results.words import Words

# Lists of coalitions longer than this are refused unless they are named.
MOST_COALITIONS = 100_000

# What reads ∂_A f, and where: the diagonal, ½ or the index; and what reads the law of coalitions.
POINTS = ("shapley", "banzhaf", "variational_index")
INTERACTIONS = (*POINTS, "log_odds", "block_gain")


def interactions(
    game: Any,
    criterion: str | Callable[..., Any] = "shapley",
    *,
    order: int = 2,
    among: Iterable[Any] | None = None,
    top: int | None = None,
    players: Players | None = None,
    temperature: Temperature = OWN_SCALE,
    start: ArrayLike = 0.5,
    **options: Unpack[Keywords],
) -> Interactions:
    """What coalitions of ``order`` players are worth together, beyond their parts.

    ``criterion`` "shapley", "banzhaf" or "variational_index" reads ∂_A f where that criterion
    reads ∇f; all pairs of a table cost a few passes, other coalitions one pass each
    (Shapley: n/2). "log_odds" is T·log(p₁₁p₀₀/p₁₀p₀₁) of the law p(S) ∝ exp(F(S)/T);
    "block_gain" is by how much the decoupling error falls when A is kept together.

    ``among``: the players to combine, or the coalitions themselves; all players by
    default. ``top=k`` finds the k strongest pairs of many players by ∂_A f, without
    listing all pairs. ``start``: where the index is looked for, by "variational_index" and
    "block_gain".

    ``options``: the keywords of :class:`fairfield.Options`, as budget, store and n_jobs.

    >>> import fairfield as ff
    >>> ff.interactions([0, 1, 1, 5], "banzhaf").top()
    [((0, 1), 3.0)]
    """
    name = criterion if isinstance(criterion, str) else getattr(criterion, "__name__", criterion)
    if name not in INTERACTIONS:
        known = ", ".join(INTERACTIONS)
        raise ValueError(f"interactions by {name!r} are not known; choose from {known}")
    problem = resolve(game, players, temperature, options)
    check_sampler(problem.options.sampler)
    if name in ("shapley", "banzhaf"):
        problem = problem.at(None)
    names, stderr = problem.game.players, None
    start_of(start, problem.game)
    if top is None:
        sets = _places(names, order, among)
    else:
        top = _check_top(problem, name, order, among, top)
    problem.check_exact()
    if top is not None:
        sets, values = strongest_pairs(problem.extension, *_points(problem, name, 2, start), top)
    elif name == "log_odds":
        values, stderr = log_odds_interactions(problem, sets)
    elif name == "block_gain":
        values = block_gains(problem, sets, start)
    else:
        values = _derivatives(problem, name, sets, start)
    coalitions = [tuple(names[i] for i in each) for each in sets]
    return Interactions(
        name, names, coalitions, values, problem.extension.method, repr(problem.game),
        time.perf_counter() - problem.started, stderr, Words.of(problem.game.info),
    )  # fmt: skip


def _check_top(
    problem: Problem, name: str, order: int, among: Iterable[Any] | None, top: int
) -> int:
    """How many pairs to look for; a search that cannot be made is refused."""
    if name not in POINTS or order != 2 or among is not None:
        raise ValueError(
            f"top={top!r} looks for pairs of all players by {', '.join(POINTS)}; leave out "
            "order= and among=, or take the top() of the interactions of some"
        )
    if problem.game.batch:
        raise ValueError("top= is of one game; pass one game of the batch")
    return whole("top", top)


def _places(names: tuple[Player, ...], order: int, among: Iterable[Any] | None) -> list[Place]:
    """The coalitions asked for, by the places of their players."""
    order = whole("order", order)
    if order > len(names):
        raise ValueError(
            f"order={order} was given; it must be a whole number between 1 and {len(names)}"
        )
    place = {player: i for i, player in enumerate(names)}
    chosen = list(names if among is None else among)
    if all(isinstance(item, Hashable) and item in place for item in chosen):
        chosen = list(dict.fromkeys(chosen))
        count = comb(len(chosen), order)
        if not 0 < count <= MOST_COALITIONS:
            raise ValueError(
                f"{count:,} coalitions of {order} can be made of {len(chosen)} "
                f"players; name between 1 and {MOST_COALITIONS:,} of them with among="
            )
        return list(combinations([place[each] for each in chosen], order))
    for item in chosen:
        if isinstance(item, str) or not isinstance(item, Iterable):
            raise ValueError(
                f"among= names {item!r}, who is neither a player nor a coalition; give players, or "
                "coalitions of the given order, not both"
            )
    sets = [tuple(item) for item in chosen]
    for coalition in sets:
        known = place.keys() & set(coalition)
        if not len(coalition) == len(known) == order:
            raise ValueError(
                f"{spell(coalition)} is not a coalition of {order} of the players {spell(names)}; "
                "among= takes players, or coalitions of the given order"
            )
    return [tuple(place[each] for each in coalition) for coalition in sets]


def _derivatives(problem: Problem, name: str, sets: list[Place], start: ArrayLike) -> FloatArray:
    """∂_A f read as the criterion reads ∇f: (*batch, coalitions)."""
    extension, order = problem.extension, len(sets[0])
    every_pair = order == 2 and len(sets) == comb(extension.players, 2)
    if every_pair and name == "shapley" and isinstance(extension, TableExtension):
        weights = size_weights.shapley_weights(extension.players, 2)
        matrix = size_weights.pair_semivalue(extension, weights)
    else:
        points, shares = _points(problem, name, order, start)
        steps = list(zip(points, shares, strict=True))
        if not every_pair:
            found = [sum(w * extension.derivative(a, x) for x, w in steps) for a in sets]
            return np.stack(found, axis=-1)
        if name == "variational_index":
            matrix = extension.hessian(points[0])
        else:
            matrix = extension.hessian_along_diagonal(points[:, 0], shares)
    first, second = np.array(sets).T
    return np.asarray(matrix[..., first, second])


def _points(
    problem: Problem, name: str, order: int, start: ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Where a criterion reads ∂_A f, and with which weights."""
    extension = problem.extension
    if name == "shapley":
        # Gauss–Legendre nodes on the diagonal, where ∂_A f has degree - order.
        at, weights = legendre(extension.degree - order)
        return np.outer(at, np.ones(extension.players)), weights
    half = np.full(extension.players, 0.5)
    return (half if name == "banzhaf" else index_of(problem, start))[None], np.ones(1)
