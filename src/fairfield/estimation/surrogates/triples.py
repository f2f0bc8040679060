"""A sparse surrogate: players, and the few triples of them that matter.

With c = ±1 for players in and out, c_i c_j c_k is the first odd interaction. Its Shapley
value is 2/3 for each of the three, its Banzhaf value 0. Triples are taken up while their
correlation with what is left stands out from chance, √(2 log C(n, 3)) standard errors.
OddSHAP (2026) likewise regresses on chosen odd interactions.
"""

from __future__ import annotations

from math import comb

import numpy as np

from fairfield.core.arrays import FloatArray, IntArray
from fairfield.estimation.surrogates.registry import enough, surrogate
from fairfield.estimation.surrogates.sample import Diagonal, Fit, Sample, cross_fitted

# Triples taken up in one pass, and passes; pairs per triple.
STEP, PASSES, PAIRS = 24, 12, 4
# Triples of more players are too many to search.
MOST_PLAYERS = 128
# At most so many pairs serve to choose triples.
CHOOSING = 2000


@surrogate(
    "triples",
    lambda sample: enough(sample) and sample.coalitions.shape[1] <= MOST_PLAYERS,
    seconds=0.1,
)
def triple_surrogate(
    sample: Sample, diagonal: Diagonal, seed: int, rival: FloatArray
) -> Fit | None:
    """Linear in the players and in the triples that stand out, fold by fold."""
    c = 2 * sample.signs

    def fit(game: int, kept: IntArray) -> tuple[FloatArray, FloatArray]:
        triples, slopes = _select(c[kept], sample.odd[game, kept])
        values = 2 * slopes[: c.shape[1]]
        if diagonal.name == "shapley":
            np.add.at(values, triples, 2 / 3 * slopes[c.shape[1] :, None])
        return _columns(c, triples) @ slopes, values

    return cross_fitted("triples", sample, fit, seed, rival)


def _select(c: FloatArray, odd: FloatArray) -> tuple[IntArray, FloatArray]:
    """Triples (q, 3) and the slopes of players and triples."""
    pairs, players = c.shape
    triples: IntArray = np.empty((0, 3), dtype=np.int64)
    most = min(STEP * PASSES, pairs // PAIRS)
    noise = np.sqrt(2 * np.log(max(comb(players, 3), 2)))
    few = slice(0, CHOOSING)
    while True:
        columns = _columns(c, triples)
        moments = columns.T @ odd
        slopes: FloatArray = np.linalg.pinv(columns.T @ columns, hermitian=True) @ moments
        left = odd - columns @ slopes
        size = np.sqrt(np.mean(left**2))
        if len(triples) >= most or size <= 1e-13 * np.sqrt(np.mean(odd**2)):
            return triples, slopes
        together = _together(c[few], left[few])
        together[tuple(triples.T)] = 0.0
        bar = noise * size * np.sqrt(len(left[few]))
        best = np.argsort(-together, axis=None, kind="stable")[: min(STEP, most - len(triples))]
        best = best[together.ravel()[best] > bar]
        if not len(best):
            return triples, slopes
        more = np.stack(np.unravel_index(best, together.shape), axis=1)
        triples = np.concatenate([triples, more])


def _together(c: FloatArray, left: FloatArray) -> FloatArray:
    """|Σ left c_i c_j c_k| for i < j < k, else 0: (n, n, n)."""
    players = c.shape[1]
    sums = np.zeros((players, players, players))
    for i in range(players - 2):
        later = c[:, i + 1 :]
        among = (later * (left * c[:, i])[:, None]).T @ later
        sums[i, i + 1 :, i + 1 :] = np.triu(np.abs(among), 1)
    return sums


def _columns(c: FloatArray, triples: IntArray) -> FloatArray:
    return np.concatenate([c, c[:, triples].prod(axis=2)], axis=1)
