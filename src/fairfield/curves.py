"""Curves of worth: F as players leave or join in the order of their values.

Values are given as a valuation or as an array.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeAlias, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.game import Game, Player, Players
from fairfield.criteria.criterion import Given, call_of
from fairfield.evaluation.evaluator import Evaluator
from fairfield.evaluation.options import Keywords, Options
from fairfield.games.given.conditioned import ConditionedGame
from fairfield.games.given.convert import as_game
from fairfield.games.given.table import TableGame
from fairfield.multilinear.choose import table_of
from fairfield.problem import resolve
from fairfield.results.display import Columns, Shown
from fairfield.results.valuation import Valuation
from fairfield.results.words import PLAYERS, Words

Values: TypeAlias = Valuation | ArrayLike
# Up to this many players a curve has a point for each; with more, a point every 5 %.
STEPS = 20
# Worths for each player of which a valuation under a budget is estimated.
PER_ESTIMATE = 20


@dataclass(frozen=True, repr=False, eq=False)
class Curve(Shown):
    """The worth of the players that are left (or have joined) at each fraction of the players.

    ``worths`` are shaped (*batch, fractions); the games of a batch may have ``labels``,
    several ``outputs`` lie along its last axis.
    ``order`` are the players as they leave (or join).
    """

    label: str
    fractions: FloatArray
    worths: FloatArray
    order: tuple[Player, ...] = ()
    labels: tuple[Any, ...] | None = None
    words: Words = PLAYERS
    outputs: tuple[Any, ...] | None = None

    def apart(self) -> list[Curve]:
        """Mean curves over the games of a batch; classes and scores have one each."""
        names = self.outputs or (None,)
        means = self.worths.reshape(-1, len(names), len(self.fractions)).mean(axis=0)
        labels = [
            self.label if name is None else f"{self.label}, {self.words.output(name)}"
            for name in names
        ]
        return [
            replace(self, label=label, worths=mean, labels=None, outputs=None)
            for label, mean in zip(labels, means, strict=True)
        ]

    def _shown(self) -> tuple[Columns, list[str]]:
        rows = self.worths.reshape(-1, len(self.fractions))
        names = self.labels or range(len(rows))
        worth = self.words.worth_name
        heads = [worth] if self.worths.ndim == 1 else [f"{worth}, {name}" for name in names]
        table: Columns = {self.words.nouns: [f"{share:.4g} %" for share in 100 * self.fractions]}
        if len(self.order) + 1 == len(self.fractions):
            table[self.words.noun] = ["", *map(str, self.order)]
        table |= {head: list(row) for head, row in zip(heads, rows, strict=True)}
        return table, [self.label]


def removal_curve(
    game: Any,
    valuation: Values,
    *,
    highest_first: bool = True,
    fractions: ArrayLike | None = None,
    **options: Unpack[Keywords],
) -> Curve:
    """F of the remaining players, as the most valuable (or the least) are removed.

    With the players in order of value, F(N), F(N - {1}), F(N - {1, 2}), …: good values make
    it fall early, and fall late with the lowest first. ``fractions`` of the players removed
    default to each player, or to steps of 5 %. The game may have another test set than the
    one that was valued; a batch of games gives a curve for each. One worth per fraction;
    none is evaluated where the game is a table.

    ``options``: the keywords of :class:`fairfield.Options`, as budget, store and n_jobs.

    >>> removal_curve(lambda S: S @ [3, 2, 1], [3, 2, 1]).worths
    array([6., 3., 1., 0.])
    """
    return _curve(game, valuation, highest_first, fractions, options, "removed")


def addition_curve(
    game: Any,
    valuation: Values,
    *,
    highest_first: bool = True,
    fractions: ArrayLike | None = None,
    **options: Unpack[Keywords],
) -> Curve:
    """F of the players that have joined, as the most valuable (or the least) come first.

    ``fractions`` are those of :func:`removal_curve`.

    ``options``: the keywords of :class:`fairfield.Options`, as budget, store and n_jobs.

    >>> addition_curve(lambda S: S @ [3, 2, 1], [3, 2, 1], highest_first=False).worths
    array([0., 1., 3., 6.])
    """
    return _curve(game, valuation, highest_first, fractions, options, "added")


def _curve(
    game: Any,
    valuation: Values,
    highest_first: bool,
    fractions: ArrayLike | None,
    keywords: Keywords,
    verb: str,
) -> Curve:
    options, values = Options().changed(keywords), values_of(valuation)
    count = len(values)
    played = as_game(game, None if isinstance(game, Game) else players_of(valuation, count))
    if len(played.players) != count or (
        isinstance(valuation, Valuation) and valuation.players != played.players
    ):
        raise ValueError(f"{played!r} and the {count} values are not of the same players")
    counts = _counts(fractions, count)
    order = np.argsort(-values if highest_first else values, kind="stable")
    first = np.argsort(order) < counts[:, None]
    coalitions = first if verb == "added" else ~first
    worths = _worths(played, coalitions, options)
    criterion = valuation.criterion if isinstance(valuation, Valuation) else "values"
    label = f"{criterion}, {'highest' if highest_first else 'lowest'} {verb} first"
    names = tuple(played.players[i] for i in order)
    words = valuation.words if isinstance(valuation, Valuation) else Words.of(played.info)
    labels, outputs = played.info.labels, played.info.outputs
    if outputs is not None:
        words = Words.of(played.info)
        labels = tuple(words.name_games(played.batch, labels, outputs))
    return Curve(label, counts / count, worths, names, labels, words, outputs)


def _worths(played: Game, coalitions: BoolArray, options: Options) -> FloatArray:
    if isinstance(played, TableGame):  # its worths are read; table_of warns of an unused store
        return table_of(played, options)[0].worths(coalitions)
    with Evaluator(played, options) as evaluator:
        return evaluator.worths(coalitions)


def _counts(fractions: ArrayLike | None, players: int) -> NDArray[np.int64]:
    steps = min(players, STEPS)
    given = np.arange(steps + 1) / steps if fractions is None else np.asarray(fractions, float)
    if given.ndim != 1 or not len(given) or not ((given >= 0) & (given <= 1)).all():
        raise ValueError(f"fractions={fractions!r}; give a list of numbers from 0 to 1")
    return np.unique(np.rint(given * players).astype(np.int64))


def pruning_curve(
    game: Any,
    criterion: Given = "shapley",
    *,
    players: Players | None = None,
    **options: Unpack[Keywords],
) -> Curve:
    """F of the remaining players, as the least valuable is removed and the rest are revalued.

    Greedy, in contrast to a removal curve, whose values never change: of two players that
    do the same work one is removed early, and the other is worth more from then on. All
    worths are evaluated once, or read from a closed form, which shrinks as players leave; then
    there is one valuation per player. A ``budget`` below all worths is shared among as many
    estimates as it is good for (20 worths per player and estimate), and several players leave
    after each.

    ``options``: the keywords of :class:`fairfield.Options`, as budget, store and n_jobs.

    >>> twins = pruning_curve(lambda S: 3.0 * S[:, 0] + 4.0 * S[:, 1:].any(axis=1), players=3)
    >>> twins.order, twins.worths
    ((2, 0, 1), array([7., 7., 4., 0.]))
    """
    call, problem = call_of(criterion), resolve(game, players, None, options)
    if problem.game.batch:
        raise ValueError(f"{problem.game!r} is a batch; prune one game at a time")
    budget = problem.options.budget
    if budget is None:
        problem.check_exact()
    call.problem(problem)  # checks its arguments
    count, rounds = len(problem.game.players), len(problem.game.players)
    played = problem.game if problem.estimated else problem.played()
    if problem.estimated and budget is not None:
        rounds = int(np.clip((budget - count - 1) // (PER_ESTIMATE * count), 1, count))
        share = (budget - count - 1) // rounds
        call = replace(call, options={**options, **call.options, "budget": share})
    info, names = problem.game.info, list(played.players)
    order: list[int] = []
    while rounds:
        outside = np.isin(np.arange(count), order)
        found = call.value(ConditionedGame(played, outside=outside))
        leaving = found.ranking()[::-1][: -(-(count - len(order)) // rounds)]
        order, rounds = [*order, *map(names.index, leaving)], rounds - 1
    worths = _worths(played, np.argsort(order) >= np.arange(count + 1)[:, None], problem.options)
    label = f"{found.criterion}, lowest pruned first, the rest revalued"
    fractions = np.arange(count + 1) / count
    gone = tuple(names[i] for i in order)
    return Curve(label, fractions, worths, gone, info.labels, Words.of(info))


def weighted_drop(curve: Curve) -> FloatArray:
    """WAD = Σ_j (1/j) Σ_{t≤j} (a_t - a_{t+1}) of a removal curve a_1, a_2, …

    The inner sum is the whole drop after j steps, a_1 - a_{j+1}: early drops weigh most.
    Only curves with the same steps compare. Schoch, Xu, Ji: *CS-Shapley*, NeurIPS 2022.

    >>> float(weighted_drop(Curve("", np.array([0, 0.5, 1]), np.array([1, 0.5, 0.0]))))
    1.0
    """
    drops = curve.worths[..., :1] - curve.worths[..., 1:]
    return np.asarray(drops @ (1 / np.arange(1, drops.shape[-1] + 1)))


def players_of(valuation: Values, count: int) -> tuple[Player, ...]:
    """The players of a valuation, 0 … n-1 of an array."""
    return valuation.players if isinstance(valuation, Valuation) else tuple(range(count))


def values_of(valuation: Values) -> FloatArray:
    """The values of one game, refused where one of them is NaN."""
    values = valuation.values if isinstance(valuation, Valuation) else np.asarray(valuation, float)
    if values.ndim != 1:
        raise ValueError(f"values have shape {values.shape}; take one game of a batch, v[i]")
    if np.isnan(values).any():
        player = players_of(valuation, len(values))[np.isnan(values).argmax()]
        raise ValueError(
            f"the value of player {player!r} is NaN, which has no rank; value the players again "
            "or leave them out"
        )
    return values
