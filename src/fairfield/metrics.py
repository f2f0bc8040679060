"""Metrics of values: how well they find bad players, and how far repeated runs agree.

Each takes the values of the players, as a valuation or as an array.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.coalitions import coalition_of
from fairfield.core.game import Player
from fairfield.curves import Values, players_of, values_of


def detection_rate(
    valuation: Values, bad: BoolArray | Iterable[Player], among: int | None = None
) -> float:
    """The share of the bad players that are among the lowest-valued ``among``.

    ``bad`` is a bool for each player, or names; ``among`` defaults to their number. Players
    of equal value at the edge count by the probability that a random order puts them below it.

    >>> detection_rate([0.5, -1.0, 0.5, 2.0], [False, True, True, False])
    0.75
    """
    values = values_of(valuation)
    wanted = _bad_players(valuation, bad, len(values))
    k = int(wanted.sum()) if among is None else among
    if not 1 <= k <= len(values):
        raise ValueError(f"among={k} of {len(values)} players; give 1 to {len(values)}")
    return float(_probabilities_of_top(-values, k) @ wanted / wanted.sum())


def detection_f1(valuation: Values, bad: BoolArray | Iterable[Player]) -> float:
    """The F1 score of flagging the players whose values are in the lower of two clusters.

    The clusters are those of k-means, which on a line are found exactly: the cut of the sorted
    values with the largest variance between its sides. Kwon, Zou: *Data-OOB*, ICML 2023.

    >>> detection_f1([0.1, 0.0, 0.9, 1.0], [True, False, False, False]) == 2 / 3
    True
    """
    values = values_of(valuation)
    wanted = _bad_players(valuation, bad, len(values))
    flagged = _lower_cluster(values)
    return float(2 * (flagged & wanted).sum() / (flagged.sum() + wanted.sum()))


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
    """The agreement of runs: mean Spearman correlation, and mean share of the top in common.

    Spearman's correlation is NaN where a run gives all players the same value.
    """

    spearman: float
    overlap: float
    runs: int


def rank_stability(runs: Sequence[Values], top: float = 0.1) -> Stability:
    """The agreement of valuations over seeds, as means over all pairs of runs.

    ``top`` is the fraction of players whose common share is counted, at least one player.
    Players of equal value at its edge count by the probability that each run, in a random
    order of its own, puts them above it.

    >>> agreed = rank_stability([[1, 2, 3, 4], [1, 2, 4, 3]], top=0.5)
    >>> round(agreed.spearman, 4), agreed.overlap
    (0.8, 1.0)
    """
    from scipy.stats import rankdata

    rows = [values_of(run) for run in runs]
    if len(rows) < 2 or len({len(row) for row in rows}) > 1 or not 0 < top <= 1:
        raise ValueError(
            f"{len(rows)} runs over {sorted({len(row) for row in rows})} players with top={top}; "
            "give two or more runs over the same players, and a top above 0 and up to 1"
        )
    pairs = np.triu_indices(len(rows), 1)
    ranks = rankdata(rows, axis=1)
    ranks -= ranks.mean(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        ranks /= np.linalg.norm(ranks, axis=1, keepdims=True)
    k = max(1, round(top * len(rows[0])))
    best = np.array([_probabilities_of_top(row, k) for row in rows])
    spearman, shared = ((each @ each.T)[pairs].mean() for each in (ranks, best))
    return Stability(float(spearman), float(shared / k), len(rows))


def _probabilities_of_top(values: FloatArray, k: int) -> FloatArray:
    """The probability of each player to be among the highest k, equal values in random order."""
    edge = np.sort(values)[-k]
    above, tied = values > edge, values == edge
    return np.asarray(above + tied * (k - above.sum()) / tied.sum())


def _bad_players(valuation: Values, bad: BoolArray | Iterable[Player], count: int) -> BoolArray:
    """The bad players as booleans, at least one of them."""
    given = bad.tolist() if isinstance(bad, np.ndarray) else list(bad)
    if given and all(isinstance(each, (bool, np.bool_)) for each in given):
        if len(given) != count:
            raise ValueError(
                f"bad has {len(given)} times True or False, and there are {count} players; give one for each"
            )
        wanted: BoolArray = np.array(given)
    elif len(set(given)) < len(given):
        raise ValueError(
            "bad names a player twice; name each once, or give one True or False for each of the "
            f"{count} players (zeros and ones are names: use .astype(bool))"
        )
    else:
        wanted = coalition_of(given, players_of(valuation, count))
    if not wanted.any():
        raise ValueError("no player is called bad; name at least one")
    return wanted
