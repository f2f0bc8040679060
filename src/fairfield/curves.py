"""What values are good for: curves of worth as players leave or join, and other trials.

Each takes values of the players, as a valuation or as an array, and judges them by what
they are used for: whom to remove, whom to keep, who is spoilt.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairfield.coalitions import BoolArray, coalition_of
from fairfield.criteria.compare import Criterion, criterion_of
from fairfield.display import number, text_table
from fairfield.evaluation.evaluate import Evaluator
from fairfield.evaluation.how import How, Keywords
from fairfield.extension.choose import table_of
from fairfield.game import Game, Player, Players, as_game
from fairfield.games.subgame import Subgame
from fairfield.multilinear import FloatArray
from fairfield.valuation import Valuation

Values: TypeAlias = Valuation | ArrayLike
# Below this many players a curve goes player by player, from there in steps of 5 %.
STEPS = 20


@dataclass(frozen=True, repr=False, eq=False)
class Curve:
    """The worth of what is left (or of what has joined) at each fraction of the players.

    ``worths`` are shaped (*batch, fractions), for a game that is a batch; ``order`` are the
    players as they leave (or join).
    """

    label: str
    fractions: FloatArray
    worths: FloatArray
    order: tuple[Player, ...] = ()

    def __repr__(self) -> str:
        rows = self.worths.reshape(-1, len(self.fractions))
        names = ["worth"] if self.worths.ndim == 1 else [f"worth {i}" for i in range(len(rows))]
        columns = {name: list(row) for name, row in zip(names, rows, strict=True)}
        shares = [f"{number(100 * share)} %" for share in self.fractions]
        return text_table({"players": shares, **columns}, [self.label])


def removal_curve(
    game: Any,
    valuation: Values,
    *,
    highest_first: bool = True,
    fractions: ArrayLike | None = None,
    **how: Unpack[Keywords],
) -> Curve:
    """F of those who stay, as the most valuable players (or the least) are removed.

    With the players in order of value, F(N), F(N - {1}), F(N - {1, 2}), …: good values make
    it fall early, and fall late with the lowest first. ``fractions`` of the players removed
    default to each player, or to steps of 5 %. The game may have another test set than the
    one that was valued; a batch of games gives a curve for each. One worth per fraction.

    >>> removal_curve(lambda S: S @ [3, 2, 1], [3, 2, 1]).worths
    array([6., 3., 1., 0.])
    """
    what = f"{_name(valuation)}, {'highest' if highest_first else 'lowest'} removed first"
    return _curve(game, valuation, highest_first, fractions, how, what, staying=False)


def addition_curve(
    game: Any,
    valuation: Values,
    *,
    highest_first: bool = True,
    fractions: ArrayLike | None = None,
    **how: Unpack[Keywords],
) -> Curve:
    """F of those who have joined, as the most valuable players (or the least) come first.

    >>> addition_curve(lambda S: S @ [3, 2, 1], [3, 2, 1], highest_first=False).worths
    array([0., 1., 3., 6.])
    """
    what = f"{_name(valuation)}, {'highest' if highest_first else 'lowest'} added first"
    return _curve(game, valuation, highest_first, fractions, how, what, staying=True)


def _curve(
    game: Any,
    valuation: Values,
    highest_first: bool,
    fractions: ArrayLike | None,
    how: Keywords,
    what: str,
    *,
    staying: bool,
) -> Curve:
    values = _values(valuation)
    count = len(values)
    played = as_game(game, None if isinstance(game, Game) else _players(valuation, count))
    if len(played.players) != count or (
        isinstance(valuation, Valuation) and valuation.players != played.players
    ):
        raise ValueError(f"{played!r} and the {count} values are not of the same players")
    counts = _counts(fractions, count)
    order = np.argsort(-values if highest_first else values, kind="stable")
    place = np.empty(count, dtype=int)
    place[order] = np.arange(count)
    chosen: BoolArray = place < counts[:, None]
    with Evaluator(played, How().changed(how)) as evaluator:
        worths = evaluator.worths(chosen if staying else ~chosen)
    return Curve(what, counts / count, worths, tuple(played.players[i] for i in order))


def pruning_curve(
    game: Any,
    criterion: str | Criterion = "shapley",
    *,
    players: Players | None = None,
    **how: Unpack[Keywords],
) -> Curve:
    """F of those who stay, as the least valuable of them is removed and the rest valued anew.

    Greedy, in contrast to a removal curve, whose values stay what they were: of two players
    who do the same work one goes early, and the other is worth more from then on. All worths
    are evaluated once; then there is one valuation per player.

    >>> twins = pruning_curve(lambda S: 3.0 * S[:, 0] + 4.0 * S[:, 1:].any(axis=1), players=3)
    >>> twins.order, twins.worths
    ((2, 0, 1), array([7., 7., 4., 0.]))
    """
    played = as_game(game, players)
    if played.batch:
        raise ValueError(f"{played!r} is a batch; prune one game at a time")
    if played.extension() is None:
        played, _ = table_of(played, How().changed(how))
    value = criterion_of(criterion)
    count = len(played.players)
    staying = np.ones(count, dtype=bool)
    order, worths = [], []
    for _ in range(count):
        found = value(Subgame(played, staying))
        worths.append(found.grand)
        order.append(found.ranking()[-1])
        staying[played.players.index(order[-1])] = False
    label = f"{found.criterion}, lowest pruned first, the rest valued anew"
    return Curve(
        label, np.arange(count + 1) / count, np.array([*worths, found.empty]), tuple(order)
    )


def _counts(fractions: ArrayLike | None, players: int) -> NDArray[np.int64]:
    steps = min(players, STEPS)
    given = np.arange(steps + 1) / steps if fractions is None else np.asarray(fractions, float)
    if given.ndim != 1 or not len(given) or not ((given >= 0) & (given <= 1)).all():
        raise ValueError(f"fractions={fractions!r}; give a list of numbers from 0 to 1")
    return np.unique(np.rint(given * players).astype(np.int64))


def weighted_drop(curve: Curve) -> FloatArray:
    """WAD = Σ_j (1/j) Σ_{t≤j} (a_t - a_{t+1}) of a removal curve a_1, a_2, …

    The inner sum is the whole drop after j steps, a_1 - a_{j+1}: early drops weigh most.
    Only curves with the same steps compare. Schoch, Xu, Ji: *CS-Shapley*, NeurIPS 2022.

    >>> float(weighted_drop(Curve("", np.array([0, 0.5, 1]), np.array([1, 0.5, 0.0]))))
    1.0
    """
    drops = curve.worths[..., :1] - curve.worths[..., 1:]
    return np.asarray(drops @ (1 / np.arange(1, drops.shape[-1] + 1)))


def detection_rate(
    valuation: Values, bad: BoolArray | Iterable[Player], among: int | None = None
) -> float:
    """The share of the bad players who are among the lowest-valued ``among``.

    ``bad`` is a bool for each player, or names; ``among`` defaults to their number. Players
    of equal value at the edge count by the chance that a random order puts them below it.

    >>> detection_rate([0.5, -1.0, 0.5, 2.0], [False, True, True, False])
    0.75
    """
    values = _values(valuation)
    spoilt = _spoilt(valuation, bad, len(values))
    k = int(spoilt.sum()) if among is None else among
    if not 1 <= k <= len(values):
        raise ValueError(f"among={k} of {len(values)} players; give 1 to {len(values)}")
    edge = np.sort(values)[k - 1]
    below, tied = values < edge, values == edge
    chance = (k - below.sum()) / tied.sum()
    return float((spoilt[below].sum() + chance * spoilt[tied].sum()) / spoilt.sum())


def detection_f1(valuation: Values, bad: BoolArray | Iterable[Player]) -> float:
    """The F1 of calling those players bad whose values fall into the lower of two clusters.

    The clusters are the best two of k-means, which on a line are found exactly: the cut of
    the sorted values with the largest variance between its sides.
    Kwon, Zou: *Data-OOB*, ICML 2023.

    >>> detection_f1([0.1, 0.0, 0.9, 1.0], [True, False, False, False]) == 2 / 3
    True
    """
    values = _values(valuation)
    spoilt = _spoilt(valuation, bad, len(values))
    flagged = _lower_cluster(values)
    return float(2 * (flagged & spoilt).sum() / (flagged.sum() + spoilt.sum()))


def _lower_cluster(values: FloatArray) -> BoolArray:
    cuts = np.unique(values)[:-1]
    if not len(cuts):
        return np.zeros(len(values), dtype=bool)
    ordered = np.sort(values - values.mean())
    left = np.searchsorted(np.sort(values), cuts, side="right")
    # Between-cluster variance of centred values: both sides have opposite sums.
    between = np.cumsum(ordered)[left - 1] ** 2 * (1 / left + 1 / (len(values) - left))
    return np.asarray(values <= cuts[np.argmax(between)])


@dataclass(frozen=True)
class Stability:
    """How far runs agree: mean Spearman correlation, mean share of the top they have in common.

    Spearman is NaN where a run values all players alike.
    """

    spearman: float
    overlap: float
    runs: int


def rank_stability(runs: Sequence[Values], top: float = 0.1) -> Stability:
    """The agreement of valuations over seeds, as means over all pairs of runs.

    ``top`` is the fraction of players whose common share is counted, at least one player.

    >>> agreed = rank_stability([[1, 2, 3, 4], [1, 2, 4, 3]], top=0.5)
    >>> round(agreed.spearman, 4), agreed.overlap
    (0.8, 1.0)
    """
    from scipy.stats import rankdata

    rows = [_values(run) for run in runs]
    if len(rows) < 2 or len({len(row) for row in rows}) > 1 or not 0 < top <= 1:
        raise ValueError(
            f"{len(rows)} runs over {sorted({len(row) for row in rows})} players with top={top}; "
            "give two or more runs over the same players, and a top above 0 and up to 1"
        )
    values = np.array(rows)
    ranks = rankdata(values, axis=1)
    ranks -= ranks.mean(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        ranks /= np.linalg.norm(ranks, axis=1, keepdims=True)
    pairs = np.triu_indices(len(rows), 1)
    k = max(1, round(top * values.shape[1]))
    best = np.zeros(values.shape)
    np.put_along_axis(best, np.argsort(-values, axis=1, kind="stable")[:, :k], 1.0, axis=1)
    return Stability(
        float((ranks @ ranks.T)[pairs].mean()),
        float((best @ best.T)[pairs].mean() / k),
        len(rows),
    )


def _name(valuation: Values) -> str:
    return valuation.criterion if isinstance(valuation, Valuation) else "values"


def _players(valuation: Values, count: int) -> tuple[Player, ...]:
    return valuation.players if isinstance(valuation, Valuation) else tuple(range(count))


def _values(valuation: Values) -> FloatArray:
    values = valuation.values if isinstance(valuation, Valuation) else np.asarray(valuation, float)
    if values.ndim != 1:
        raise ValueError(f"values have shape {values.shape}; take one game of a batch, v[i]")
    return values


def _spoilt(valuation: Values, bad: BoolArray | Iterable[Player], count: int) -> BoolArray:
    """The bad players as booleans, at least one of them."""
    given = np.asarray(bad if isinstance(bad, np.ndarray) else list(bad), dtype=object)
    flags = given.shape == (count,) and all(isinstance(each, (bool, np.bool_)) for each in given)
    if flags:
        spoilt: BoolArray = given.astype(bool)
    else:
        spoilt = coalition_of(given.tolist(), _players(valuation, count))
    if not spoilt.any():
        raise ValueError("no player is called bad; name at least one")
    return spoilt
