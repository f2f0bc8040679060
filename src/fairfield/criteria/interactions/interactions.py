"""What players are worth together, beyond what they are worth apart."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import chain, combinations
from math import comb
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from fairfield.assemble import missed, stops_of
from fairfield.boltzmann.temperature import OWN_SCALE, Temperature
from fairfield.core.arrays import FloatArray
from fairfield.core.checks import whole
from fairfield.core.coalitions import spell
from fairfield.core.game import Player, Players
from fairfield.criteria.interactions.criterion import (
    InteractionCriterion,
    Place,
    Read,
    registry,
)
from fairfield.criteria.interactions.diagonal import MOST_COALITIONS, Diagonal
from fairfield.criteria.interactions.estimated import estimated
from fairfield.criteria.interactions.strongest import strongest_pairs
from fairfield.criteria.variational_values import start_of
from fairfield.estimation.samplers.registry import check_sampler
from fairfield.evaluation.memory import out_of_reach
from fairfield.evaluation.options import Keywords, Separation
from fairfield.evaluation.outcomes import WorthError
from fairfield.problem import Problem, resolve
from fairfield.results.interactions import Interactions
from fairfield.results.valuation import as_number
from fairfield.results.words import Words

# Pairs of so many players are listed; beyond, the strongest are looked for.
FEW = 100


def interactions(
    game: Any,
    criterion: str | Callable[..., Any] = "shapley",
    *,
    order: int = 2,
    among: Iterable[Any] | None = None,
    top: int | None = None,
    players: Players | None = None,
    temperature: Temperature = OWN_SCALE,
    start: ArrayLike | None = None,
    **options: Unpack[Keywords],
) -> Interactions:
    """What coalitions of up to ``order`` players are worth together, beyond their parts.

    ``criterion`` "shapley", "banzhaf" or "variational_index" reads the derivative ∂_A f of
    coalitions of ``order`` players where that criterion reads ∇f.
    Of all coalitions of 1 … ``order`` players, "k_sii" (Shapley's interactions, aggregated), "stii"
    (Shapley–Taylor) and "fsii" (faithful Shapley) add up to F(N) - F(∅), "fbii" (faithful
    Banzhaf) fits all worths best, and "moebius" are Harsanyi's dividends. "log_odds" is
    T·log(p₁₁p₀₀/p₁₀p₀₁) of the law p(S) ∝ exp(F(S)/T); "block_gain" is by how much the
    decoupling error falls when A is kept together. Only the last two and "variational_index"
    depend on the ``temperature``.

    With ``budget=``, ``tolerance=`` or ``seconds=`` those that do not depend on the temperature are
    estimated where exact ones are out of reach. ``stderr`` is 0, and ``stop`` says "exact", where a
    game of few interactions was recovered; beyond 100 players only coalitions that matter are kept.

    Cost: of a table one pass for all pairs, two to four times that for all triples; of a closed
    form about n/2 Hessians for pairs, n² for triples, each of 2n gradients at most; "log_odds"
    and "block_gain" one pass and 2^|A| indices for each coalition.

    ``among``: the players to combine, or the coalitions themselves; all players by
    default. ``top=k`` keeps the k strongest coalitions of each size, all players alone, and
    finds pairs of more than 100 players without listing all. ``start``: where the index is
    looked for, by "variational_index" and "block_gain".

    ``options``: the keywords of :class:`fairfield.Options`, as budget, store and n_jobs.

    >>> import fairfield as ff
    >>> ff.interactions([0, 1, 1, 5], "banzhaf").top()
    [((0, 1), 3.0)]
    >>> ff.interactions([0, 1, 1, 5], "stii").top()
    [((0, 1), 3.0), ((0,), 1.0), ((1,), 1.0)]
    >>> def worth(S):
    ...     return 3.0 * (S[:, 7] & S[:, 150]) + S[:, 3] - 0.5 * S[:, 9]
    >>> few = ff.interactions(worth, players=200, budget=500)
    >>> few.coalitions, few.values.round(9).tolist(), few.stop.split(":")[0]
    ([(7, 150)], [3.0], 'exact')
    """
    name = criterion if isinstance(criterion, str) else getattr(criterion, "__name__", criterion)
    known = registry()
    if name not in known:
        raise ValueError(f"interactions by {name!r} are not known; choose from {', '.join(known)}")
    kind = known[name](start)
    problem = resolve(game, players, temperature, options)
    check_sampler(problem.options.sampler)
    if isinstance(problem.options.tolerance, Separation):
        raise ValueError(
            "tolerance= separates players, and interactions are of coalitions; give a number, the "
            "half-width of the widest interval"
        )
    if not kind.thermal:
        problem = problem.at(None)
    names = problem.game.players
    start_of(start, problem.game)
    order = whole("order", order)
    if order > len(names):
        raise ValueError(
            f"order={order} was given; it must be a whole number between 1 and {len(names)}"
        )
    top = None if top is None else whole("top", top)
    sizes = range(1 if kind.every_size else order, order + 1)
    if problem.estimated and isinstance(kind, Diagonal):
        every = sum(comb(len(names), size) for size in sizes)
        some = among is None and (len(names) > FEW or every > MOST_COALITIONS)
        asked = None if some else _places(kind, names, order, among, top)
        return _last(_estimates(kind, problem, sizes, asked, order), kind, top)
    many = len(names) > FEW and not problem.game.batch
    search = top is not None and kind.searchable and order == 2 and among is None and many
    sets = [] if search else _places(kind, names, order, among, top)
    if problem.estimated:
        few = ", ".join(each for each, found in registry().items() if issubclass(found, Diagonal))
        raise out_of_reach(problem.game, problem.options, f"interactions by {few}")
    problem.check_exact()
    if search and top is not None:
        sets, found = _searched(kind, problem, top)
    else:
        found = kind.exact(problem, sets, order)
    extension = problem.extension
    written = _written(
        kind, problem, sets, found, extension.method, kind.baseline(extension, order),
        problem.source.spent.evaluations,
    )  # fmt: skip
    return written if search else _kept(written, kind, top)


def _estimates(
    kind: Diagonal, problem: Problem, sizes: range, sets: list[Place] | None, order: int
) -> Iterator[Interactions]:
    """Interactions from a budget, after each round; the constant of a fit that is not F(∅) is not known."""
    problem.source.check()
    plain = type(kind).baseline is InteractionCriterion.baseline
    for found in estimated(kind, problem, sizes, sets, order):
        yield _written(
            kind, problem, found.sets, found.read, found.method, found.empty if plain else None,
            found.evaluations,
        )  # fmt: skip


def _last(
    rounds: Iterator[Interactions], kind: InteractionCriterion, top: int | None
) -> Interactions:
    """What the last round found; an error of a worth, or an interrupt, carries that as its ``partial``."""
    last = None
    try:
        for found in rounds:
            last = found
    except (WorthError, KeyboardInterrupt) as error:
        partial = None if last is None else _kept(last, kind, top)
        error.partial = partial  # type: ignore[union-attr]  # an interrupt takes any attribute
        raise
    assert last is not None
    return _kept(last, kind, top)


def _written(
    kind: InteractionCriterion,
    problem: Problem,
    sets: list[Place],
    found: Read,
    method: str,
    baseline: float | FloatArray | None,
    evaluations: int,
) -> Interactions:
    info, names, errors = problem.game.info, problem.game.players, np.asarray(found.stderr)
    stop = found.stop or "; ".join(
        [*stops_of(problem, errors), *missed(problem, found.values, errors)]
    )
    return Interactions(
        kind.name, names, [tuple(map(names.__getitem__, each)) for each in sets], found.values,
        method, repr(problem.game), time.perf_counter() - problem.started,
        errors, Words.of(info), info.labels, info.outputs,
        None if baseline is None else as_number(np.asarray(baseline)),
        stop, evaluations,
    )  # fmt: skip


def _searched(kind: InteractionCriterion, problem: Problem, top: int) -> tuple[list[Place], Read]:
    """The strongest pairs of many players, after all players alone where these count too."""
    extension = problem.extension
    sets, values = strongest_pairs(extension, *kind.points(problem, 2), top)
    # No table has so many players: there are no errors to pass on.
    if not kind.every_size:
        return sets, Read(values)
    alone: list[Place] = [(i,) for i in range(extension.players)]
    return alone + sets, Read(np.append(kind.exact(problem, alone, 2).values, values))


def _kept(found: Interactions, kind: InteractionCriterion, top: int | None) -> Interactions:
    """The strongest coalitions of each size, and all players alone beside larger coalitions."""
    if top is None:
        return found
    order = np.argsort(-found.magnitude, kind="stable").tolist()
    kept: list[int] = []
    for size in sorted({len(each) for each in found.coalitions}):
        some = [k for k in order if len(found.coalitions[k]) == size]
        kept += sorted(some) if size == 1 and kind.every_size else some[:top]
    return found.take(kept)


def _places(
    kind: InteractionCriterion,
    names: tuple[Player, ...],
    order: int,
    among: Iterable[Any] | None,
    top: int | None,
) -> list[Place]:
    """The coalitions asked for, by the places of their players."""
    if isinstance(among, str) or not isinstance(among, Iterable | None):
        raise ValueError(
            f"among= is {among!r}; give a list of players, or of coalitions of the given order"
        )
    place = {player: i for i, player in enumerate(names)}
    chosen = list(names if among is None else among)
    sizes = range(1 if kind.every_size else order, order + 1)
    wanted = str(order) if len(sizes) == 1 else f"1 to {order}"
    if among is None or all(isinstance(item, Hashable) and item in place for item in chosen):
        chosen = list(dict.fromkeys(chosen))
        count = sum(comb(len(chosen), size) for size in sizes)
        if count > MOST_COALITIONS and top is not None:
            pairs = ", ".join(each for each, found in registry().items() if found.searchable)
            raise ValueError(
                f"top={top} looks for pairs of all players of one game by {pairs}; leave out order= "
                f"and among=, or name at most {MOST_COALITIONS:,} coalitions with among="
            )
        if not 0 < count <= MOST_COALITIONS:
            raise ValueError(
                f"{count:,} coalitions of {wanted} can be made of {len(chosen)} players; name "
                f"between 1 and {MOST_COALITIONS:,} of them with among=, or keep some with top="
            )
        members = [place[each] for each in chosen]
        return list(chain.from_iterable(combinations(members, size) for size in sizes))
    # An unknown name is the one to blame, where players are given.
    for item in sorted(chosen, key=lambda each: isinstance(each, Hashable) and each in place):
        if isinstance(item, str) or not isinstance(item, Iterable):
            raise ValueError(
                f"among= names {item!r}, who is neither a player nor a coalition; give players, or "
                "coalitions of the given order, not both"
            )
    sets = [tuple(item) for item in chosen]
    for coalition in sets:
        known = place.keys() & set(coalition)
        if len(coalition) != len(known) or len(coalition) not in sizes:
            raise ValueError(
                f"{spell(coalition)} is not a coalition of {wanted} of the players {spell(names)}; "
                "among= takes players, or coalitions of the given order"
            )
    return [tuple(place[each] for each in coalition) for coalition in sets]
