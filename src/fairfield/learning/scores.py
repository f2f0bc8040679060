"""How well games predict coalitions that they were not learned from.

Held-out log-likelihood: the mean of F(S) - log Z. Fill-in: one member i of S is hidden, and
all players outside S-i are ranked by their gains Δ_jF(S-i), the most likely first.

    percentile rank   100 · (candidates that i is not ranked below) / (candidates)
    top-1             whether i comes first

Ties count as if broken at random, by their mean over all orders. Every member of a coalition
of two or more is hidden in turn; a coalition counts once, however many members it has.

Source: Gartrell, Paquet, Koenigstein, Low-rank factorization of determinantal point
processes, AAAI 2017.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray, IntArray
from fairfield.core.copies import measured
from fairfield.core.game import Game
from fairfield.learning.law import Mean, log_partition, mean_of
from fairfield.learning.learn import learn
from fairfield.learning.observed import Observed, observe
from fairfield.results.display import html_table, text_table

if TYPE_CHECKING:
    import pandas as pd

# Numbers worked on at once.
BLOCK = 2**20
# Gains that differ by less, relative to the largest, are equal.
TIED = 1e-9
INDEPENDENT = "independent players"


@dataclass(frozen=True)
class Scores:
    """How well a game predicts held-out coalitions, with the standard errors of these means.

    ``log_likelihood`` is in nats per coalition, None where log Z is out of reach;
    ``percentile_rank`` and ``top_1`` are in percent, None where no coalition has two members.
    One coalition alone has no standard error: None.
    """

    log_likelihood: float | None
    log_likelihood_error: float | None
    percentile_rank: float | None
    percentile_rank_error: float | None
    top_1: float | None
    top_1_error: float | None


@dataclass(frozen=True, repr=False, eq=False)
class ScoreTable(Mapping[str, Scores]):
    """The scores of several games on the same held-out coalitions."""

    scores: Mapping[str, Scores]
    held_out: str

    def __getitem__(self, game: str) -> Scores:
        return self.scores[game]

    def __iter__(self) -> Iterator[str]:
        return iter(self.scores)

    def __len__(self) -> int:
        return len(self.scores)

    def to_frame(self) -> pd.DataFrame:
        """One line per game."""
        import pandas as pd

        rows = {name: vars(scores) for name, scores in self.items()}
        return pd.DataFrame.from_dict(rows, orient="index")

    def _shown(self) -> tuple[dict[str, list[object]], list[str]]:
        heads = ("log-likelihood", "±", "percentile rank", "± ", "top-1", "±  ")
        columns: dict[str, list[object]] = {"game": list(self)}
        for head, field in zip(heads, Scores.__dataclass_fields__, strict=True):
            columns[head] = [getattr(scores, field) for scores in self.values()]
        return columns, [self.held_out, "± is one standard error"]

    def __repr__(self) -> str:
        return text_table(*self._shown())

    def _repr_html_(self) -> str:
        return html_table(*self._shown())


def score(game: Game, held_out: Any, *, log_z: float | None = None, seed: int = 0) -> Scores:
    """How well a game predicts held-out coalitions, in any form that ``learn`` takes.

    ``log_z`` is that of the game at temperature 1; by default it is summed over a table
    within reach, or estimated by annealed importance sampling of a closed form, with its
    standard error. Fill-in costs one gradient of the extension for each member of each
    distinct coalition.

    >>> import fairfield as ff
    >>> game = ff.PairwiseGame([-1, -1, -1], [[0, 2, 0], [2, 0, 0], [0, 0, 0]])
    >>> score(game, [[0, 1], [0, 1]]).top_1
    100.0
    """
    if game.batch:
        raise ValueError(f"{game!r}: scores are of one game; pass one game of the batch")
    seen = observe(held_out, game.players)
    several = seen.coalitions.sum(axis=1) > 1
    ranks, firsts = fill_in(game, seen.coalitions[several])
    return Scores(
        *_log_likelihood(game, seen, log_partition(game, seed) if log_z is None else (log_z, 0)),
        *mean_of(100 * ranks, seen.counts[several]),
        *mean_of(100 * firsts, seen.counts[several]),
    )


def score_table(
    games: Mapping[str, Game], held_out: Any, *, learned_from: Any = None, seed: int = 0
) -> ScoreTable:
    """The scores of several games, beside independent players ``learned_from`` other data.

    >>> import fairfield as ff
    >>> seen = [["tea", "milk"], ["tea", "milk"], ["coffee"], ["tea"], []] * 50
    >>> table = score_table({"pairs": ff.learn(seen, strength=1.0)}, seen[:8], learned_from=seen)
    >>> list(table)
    ['pairs', 'independent players']
    """
    every = dict(games)
    if not every and learned_from is None:
        raise ValueError("no games were given; there is nothing to compare")
    players = next(iter(every.values())).players if every else None
    if learned_from is not None:
        every[INDEPENDENT] = learn(learned_from, "linear", players=players)
        players = every[INDEPENDENT].players
    seen = observe(held_out, players)
    scores = {name: score(game, seen, seed=seed) for name, game in every.items()}
    return ScoreTable(scores, f"on {seen!r}")


def _log_likelihood(game: Game, seen: Observed, log_z: tuple[float, float] | None) -> Mean:
    """The mean of F(S) - log Z over observed coalitions, and its standard error."""
    if log_z is None:
        return None, None
    mean, error = mean_of(measured(game, seen.coalitions).worths, seen.counts)
    assert mean is not None  # no coalitions are refused
    return mean - log_z[0], None if error is None else float(np.hypot(error, log_z[1]))


def fill_in(game: Game, coalitions: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Percentile rank and probability to come first, in [0, 1], of hidden members.

    The mean over the members of each of the coalitions (m, n), which are not empty.
    """
    row, hidden = np.nonzero(coalitions)
    ranks, firsts = np.zeros(len(row)), np.zeros(len(row))
    count = len(game.players)
    # Without a closed form, each row takes a worth per player.
    step = max(1, BLOCK // (count * (1 if game.extension() is not None else count)))
    for start in range(0, len(row), step):
        some = slice(start, start + step)
        ranks[some], firsts[some] = _places(game, coalitions[row[some]], hidden[some])
    sizes = coalitions.sum(axis=1)
    means = [np.bincount(row, each, minlength=len(sizes)) / sizes for each in (ranks, firsts)]
    return means[0], means[1]


def _places(game: Game, whole: BoolArray, hidden: IntArray) -> tuple[FloatArray, FloatArray]:
    """Percentile rank and probability to come first of one hidden member per row."""
    each = np.arange(len(whole))
    rest = whole.copy()
    rest[each, hidden] = False
    gains = _gains(game, rest)
    beyond = np.where(rest, -np.inf, gains - gains[each, hidden, None])
    slack = TIED * np.abs(gains).max()
    above = np.sum(beyond > slack, axis=1)
    ties = np.sum(np.abs(beyond) <= slack, axis=1) - 1
    candidates = np.sum(~rest, axis=1)
    return (candidates - above - ties / 2) / candidates, (above == 0) / (1.0 + ties)


def _gains(game: Game, rest: BoolArray) -> FloatArray:
    """The gain of each player outside, up to a constant of the row: (m, n)."""
    closed = game.extension()
    if closed is not None:
        return closed.gradient(rest.astype(float))
    joined = rest[:, None, :] | np.eye(rest.shape[1], dtype=bool)
    return game.worths(joined.reshape(-1, rest.shape[1])).reshape(rest.shape)
