"""Means of values over many games."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairfield.core.arrays import FloatArray
from fairfield.core.coalitions import spell
from fairfield.core.game import Player
from fairfield.core.runtime.imports import needed_for
from fairfield.results.display import Columns, Shown, not_shown, rows_to_show
from fairfield.results.words import PLAYERS, Words, no_player

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False, eq=False)
class Means(Shown):
    """Mean value and mean |value| of the players, or of coalitions, over groups of games.

    ``mean`` and ``magnitude`` are shaped (labels, n); without groups the one label is "all".
    Of several outputs the labels are their names, or pairs (label, name).
    ``means["age"]`` is the mean value of a player, or a dict of them by label.

    >>> import fairfield as ff
    >>> ff.shapley([[0, 1, 2, 3], [0, 3, -2, 1]]).mean()
    player  mean value  mean |value|
    0                2             2
    1                0             2
    """

    players: tuple[Player, ...]
    labels: tuple[Any, ...]
    mean: FloatArray
    magnitude: FloatArray
    words: Words = PLAYERS
    # What has means: the value of a player, or the interaction of a coalition.
    what: str = "value"

    def __getitem__(self, player: Player) -> Any:
        """The mean value of a player, or a dict of them by label."""
        if player not in self.players:
            raise KeyError(no_player(player, self.players, self.words))
        found = self.mean[:, self.players.index(player)].tolist()
        return found[0] if self.labels == ("all",) else dict(zip(self.labels, found, strict=True))

    def to_frame(self) -> pd.DataFrame:
        """One line per label and player."""
        with needed_for("to_frame"):
            import pandas as pd
        names = ["label", self.words.noun]
        index = pd.MultiIndex.from_product([self.labels, self.players], names=names)
        columns = {"mean": self.mean.ravel(), f"mean |{self.what}|": self.magnitude.ravel()}
        return pd.DataFrame(columns, index=index)

    def _shown(self) -> tuple[Columns, list[str]]:
        """The players of the largest mean |value|, and a note on others."""
        order = rows_to_show(self.magnitude.max(axis=0))
        names: list[Any] = [self.players[i] for i in order]
        table: Columns = {
            self.words.noun: names if self.what == "value" else [spell(each) for each in names]
        }
        if len(self.labels) == 1:
            table[f"mean {self.what}"] = list(self.mean[0][order])
            table[f"mean |{self.what}|"] = list(self.magnitude[0][order])
        else:
            for label, row in zip(self.labels, self.mean, strict=True):
                name = ", ".join(map(str, label)) if isinstance(label, tuple) else label
                table[f"mean, {name}"] = list(row[order])
        return table, not_shown(len(self.players), self.words.nouns)
