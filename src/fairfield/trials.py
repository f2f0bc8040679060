"""Values on trial: are the spoilt players found, and do runs agree?

Each takes values of the players, as a valuation or as an array.
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
    """The share of the bad players who are among the lowest-valued ``among``.

    ``bad`` is a bool for each player, or names; ``among`` defaults to their number. Players
    of equal value at the edge count by the chance that a random order puts them below it.

    >>> detection_rate([0.5, -1.0, 0.5, 2.0], [False, True, True, False])
    0.75
    """
    values = values_of(valuation)
    spoilt = _spoilt(valuation, bad, len(values))
    k = int(spoilt.sum()) if among is None else among
    if not 1 <= k <= len(values):
        raise ValueError(f"among={k} of {len(values)} players; give 1 to {len(values)}")
    return float(_chances_of_top(-values, k) @ spoilt / spoilt.sum())


def detection_f1(valuation: Values, bad: BoolArray | Iterable[Player]) -> float:
    """The F1 of calling those players bad whose values fall into the lower of two clusters.

    The clusters are the best two of k-means, which on a line are found exactly: the cut of
    the sorted values with the largest variance between its sides.
    Kwon, Zou: *Data-OOB*, ICML 2023.

    >>> detection_f1([0.1, 0.0, 0.9, 1.0], [True, False, False, False]) == 2 / 3
    True
    """
    values = values_of(valuation)
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
    Players of equal value at its edge count by the chance that each run, in a random order
    of its own, puts them above it.

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
    values = np.array(rows)
    ranks = rankdata(values, axis=1)
    ranks -= ranks.mean(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        ranks /= np.linalg.norm(ranks, axis=1, keepdims=True)
    pairs = np.triu_indices(len(rows), 1)
    k = max(1, round(top * values.shape[1]))
    best = np.array([_chances_of_top(row, k) for row in values])
    return Stability(
        float((ranks @ ranks.T)[pairs].mean()),
        float((best @ best.T)[pairs].mean() / k),
        len(rows),
    )


def _chances_of_top(values: FloatArray, k: int) -> FloatArray:
    """The chance of each player to be among the highest k, equal values in random order."""
    edge = np.sort(values)[-k]
    above, tied = values > edge, values == edge
    return np.asarray(above + tied * (k - above.sum()) / tied.sum())


def _spoilt(valuation: Values, bad: BoolArray | Iterable[Player], count: int) -> BoolArray:
    """The bad players as booleans, at least one of them."""
    given = bad.tolist() if isinstance(bad, np.ndarray) else list(bad)
    if len(given) == count and all(isinstance(each, (bool, np.bool_)) for each in given):
        spoilt: BoolArray = np.array(given)
    elif len(set(given)) < len(given):
        raise ValueError(
            "bad names players twice; name each once, or give one True or False for each of the "
            f"{count} players (zeros and ones are names: use .astype(bool))"
        )
    else:
        spoilt = coalition_of(given, players_of(valuation, count))
    if not spoilt.any():
        raise ValueError("no player is called bad; name at least one")
    return spoilt
