"""What players are worth together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from math import comb
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from fairfield.core.arrays import FloatArray
from fairfield.core.checks import whole
from fairfield.core.coalitions import spell
from fairfield.core.game import Player
from fairfield.results.batched import Batched
from fairfield.results.display import HALF_INTERVAL, MOST_ROWS, Columns, not_shown
from fairfield.results.exports import frame, interaction_values
from fairfield.results.means import Means
from fairfield.results.saved import read_plain, write_plain
from fairfield.results.valid import check_fields
from fairfield.results.valuation import NORMAL
from fairfield.results.words import PLAYERS, Words

if TYPE_CHECKING:
    import pandas as pd
    import shapiq

# What a saved file says it holds.
KIND = "list of interactions"


@dataclass(frozen=True, repr=False, eq=False)
class Interactions(Batched):
    """How much the players of a coalition are worth together beyond their parts.

    ``coalitions`` are tuples of players, ``values`` (*batch, coalitions), ``stderr`` their standard
    errors, 0 where they are exact and NaN where errors of the worths are not passed on.
    Of one game ``found["a", "b"]`` is the interaction of two players; of a batch ``found[i]`` is one
    of its games, ``found["name"]`` where they have names, ``found.output("name")`` one output.
    ``baseline`` is what the values add to: F(∅), or the constant of the fit of "fbii".

    >>> import fairfield as ff
    >>> found = ff.interactions([[0, 1, 1, 5], [0, 1, 2, 1]])
    >>> found[1][0, 1], found.mean()[0, 1]
    (-2.0, 0.5)
    """

    criterion: str
    players: tuple[Player, ...]
    coalitions: Sequence[tuple[Player, ...]]
    values: FloatArray
    method: str
    game: str
    seconds: float = 0.0
    stderr: FloatArray = field(default_factory=lambda: np.zeros(()))
    words: Words = PLAYERS
    labels: tuple[Any, ...] | None = None
    outputs: tuple[Any, ...] | None = None
    baseline: float | FloatArray | None = None
    stop: str = "exact"
    evaluations: int = 0
    per_game: ClassVar = {"values": 1, "stderr": 1, "baseline": 0}

    def __post_init__(self) -> None:
        known = 0.0 if self.stderr is None else self.stderr
        object.__setattr__(self, "stderr", np.zeros(self.values.shape) + known)

    @cached_property
    def _place(self) -> dict[frozenset[Player], int]:
        return {frozenset(each): k for k, each in enumerate(self.coalitions)}

    def __getitem__(self, index: Any) -> Any:
        """The interaction of a coalition; of a batch, the interactions of one game, or of some."""
        if self.batch:
            return self._taken(*self._places(index))
        # A name that is a tuple is that of a player before it is a coalition.
        alone = not isinstance(index, (tuple, list, set, frozenset)) or index in self.players
        try:
            wanted = frozenset([index] if alone else index)
        except TypeError:  # a slice, say
            wanted = frozenset([repr(index)])
        if wanted not in self._place:
            raise KeyError(
                f"there is no interaction of {spell(wanted)}; the coalitions are "
                f"{', '.join(map(spell, self.coalitions[:3]))}, … (found.coalitions)"
            )
        return float(self.values[self._place[wanted]])

    @property
    def names(self) -> Sequence[tuple[Player, ...]]:
        """Whose interactions these are: the coalitions."""
        return self.coalitions

    @property
    def magnitude(self) -> FloatArray:
        """|interaction| of each coalition, of a batch the mean over all its games and outputs."""
        return np.asarray(np.abs(self.values).reshape(-1, len(self.coalitions)).mean(axis=0))

    @property
    def square(self) -> bool:
        """Whether these make a matrix without gaps: all pairs of some players, perhaps alone too."""
        among = {player for coalition in self.coalitions for player in coalition}
        sizes = [len(coalition) for coalition in self.coalitions]
        return max(sizes) == 2 and sizes.count(2) == comb(len(among), 2)

    def of_size(self, size: int) -> Interactions:
        """The interactions of coalitions of this size alone."""
        which = [k for k, each in enumerate(self.coalitions) if len(each) == size]
        if not which:
            raise ValueError(f"there are no interactions of {self.words.players(size)} among these")
        return self.take(which)

    def strongest(self, count: int) -> Interactions:
        """So many coalitions of the largest |interaction|, of a batch of the largest mean."""
        return self.take(np.argsort(-self.magnitude, kind="stable")[:count].tolist())

    def take(self, which: Sequence[int]) -> Interactions:
        """The interactions of some coalitions, by their places in the list of all."""
        return replace(
            self,
            coalitions=[self.coalitions[k] for k in which],
            values=self.values[..., list(which)],
            stderr=self.stderr[..., list(which)],
        )

    def matrix(self) -> FloatArray:
        """Interactions of pairs as a symmetric (*batch, n, n) matrix, 0 where there are none.

        Players by themselves, where these are known too, stand on the diagonal.
        """
        if any(len(coalition) > 2 for coalition in self.coalitions):
            raise ValueError("only pairs make a matrix; take those of found.of_size(2)")
        place = {player: i for i, player in enumerate(self.players)}
        ends = [[place[each[0]], place[each[-1]]] for each in self.coalitions]
        first, second = np.array(ends).T
        table = np.zeros((*self.batch, len(self.players), len(self.players)))
        table[..., first, second] = table[..., second, first] = self.values
        return table

    def top(self, count: int = 10) -> list[tuple[tuple[Player, ...], float]]:
        """The strongest interactions; of a batch, those of the largest mean |interaction|, and that."""
        found = self.strongest(whole("count", count))
        shown = found.magnitude if self.batch else found.values
        return [*zip(found.coalitions, shown.tolist(), strict=True)]

    def mean(self, by: Sequence[Any] | None = None) -> Means:
        """Mean interaction and mean |interaction| over a batch, overall or per label in ``by``."""
        return self.means(replace(self.words, noun="coalition"), by, "interaction")

    def to_frame(self) -> pd.DataFrame:
        """A DataFrame with one line per coalition, and per game of a batch, by its name if it has one."""
        return frame(self, {"value": self.values, "stderr": self.stderr}, "coalition")

    def to_shapiq(self) -> shapiq.InteractionValues:
        """The interactions of one game as shapiq has them, for its plots."""
        self._one_game("to_shapiq")
        return interaction_values(self)

    def save(self, path: str | PathLike[str]) -> None:
        """Write everything to one .npz file of plain arrays and JSON."""
        place = {player: i for i, player in enumerate(self.players)}
        sizes = [len(each) for each in self.coalitions]
        members = [place[player] for each in self.coalitions for player in each]
        held = {each.name: getattr(self, each.name) for each in fields(self)}
        held |= {"coalitions": np.array(members), "sizes": np.array(sizes)}
        write_plain(path, KIND, {"": held})

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Interactions:
        """Read a file written by :meth:`save`; nothing in it is ever executed."""

        def made(parts: dict[str, dict[str, Any]]) -> Interactions:
            held = parts[""]
            sizes, places, names = held.pop("sizes"), held.pop("coalitions"), held["players"]
            if not ((sizes > 0).all() and sizes.sum() == len(places) and (places >= 0).all()):
                raise ValueError("its coalitions do not fit")
            check_fields(held, cls.per_game, len(sizes))
            split = np.split(places, np.cumsum(sizes)[:-1])
            return cls(**held, coalitions=[tuple(names[i] for i in part) for part in split])

        return read_plain(path, KIND, made)

    def _shown(self) -> tuple[Columns, list[str]]:
        found, notes = self.strongest(MOST_ROWS), not_shown(len(self.coalitions), "coalitions")
        note = f"{self.criterion} interactions of {self.game}, {self.method}"
        columns = {self.words.with_unit("interaction"): found.values}
        half = NORMAL * found.stderr.reshape(-1, len(found.coalitions)).mean(axis=0)
        if self.batch:
            mean = found.values.reshape(-1, len(found.coalitions)).mean(axis=0)
            # The interactions of different outputs have no mean, and often cancel.
            columns = {} if self.outputs else {self.words.with_unit("mean interaction"): mean}
            columns["mean |interaction|"] = found.magnitude
            notes.append(f"mean of {self.extent}")
        if half.any():
            columns["±"] = half
            notes.append(HALF_INTERVAL)
        table: Columns = {"coalition": [spell(each) for each in found.coalitions]}
        table |= {name: list(column) for name, column in columns.items()}
        return table, [*notes, note, *([] if self.stop == "exact" else [self.stop])]
