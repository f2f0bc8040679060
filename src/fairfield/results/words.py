"""What players, games and worths are called where results are shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from fairfield.core.coalitions import spell
from fairfield.core.game import GameInfo, counted, plural


@dataclass(frozen=True)
class Words:
    """The nouns of a result: players of games, or features behind the predictions of rows.

    ``unit`` is that of the worths ("log-odds"), empty where they have none; ``note`` says what
    else a reader must know of them.

    >>> Words("feature", "row", "log-odds of class 1", "log-odds").players(2)
    '2 features'
    """

    noun: str = "player"
    row_noun: str = "game"
    worth_name: str = "worth"
    unit: str = ""
    output_noun: str = "output"
    note: str = ""

    @classmethod
    def of(cls, info: GameInfo) -> Words:
        """The words of a game."""
        worth = info.worth_name or "worth"
        return cls(info.noun, info.row_noun, worth, info.unit, info.output_noun, info.note)

    @property
    def nouns(self) -> str:
        """Several players."""
        return plural(self.noun)

    @property
    def row_nouns(self) -> str:
        """Several games."""
        return plural(self.row_noun)

    @property
    def empty(self) -> str:
        """The worth of the empty coalition."""
        return "F(∅)" if self.noun == "player" else f"no {self.nouns}"

    @property
    def grand(self) -> str:
        """The worth of the grand coalition."""
        return "F(N)" if self.noun == "player" else f"all {self.nouns}"

    def game(self, label: object) -> str:
        """The name of a game of a batch: its label, or the noun with the number that labels it.

        >>> Words("feature", "row").game(3), Words().game("accuracy")
        ('row 3', 'accuracy')
        """
        return label if isinstance(label, str) else f"{self.row_noun} {label}"

    def output(self, label: object) -> str:
        """The name of an output: its label, or the noun with the number that labels it.

        >>> Words(output_noun="class").output(0), Words().output("setosa")
        ('class 0', 'setosa')
        """
        return label if isinstance(label, str) else f"{self.output_noun} {label}"

    def of_output(self, label: object) -> Words:
        """The words of one output.

        >>> Words("feature", "row", "margin", output_noun="class").of_output("setosa").worth_name
        'margin of class setosa'
        """
        name = f"{self.worth_name} of {self.output_noun} {label}"
        return replace(self, worth_name=name, output_noun=Words.output_noun)

    def name_games(
        self,
        batch: tuple[int, ...],
        labels: Sequence[object] | None = None,
        outputs: Sequence[object] | None = None,
        chosen: Iterable[int] | None = None,
    ) -> list[str]:
        """The names of the games of a batch, or of those ``chosen`` by number.

        >>> Words("feature", "row").name_games((2, 2), None, ["a", "b"], [1, 2])
        ['row 0, b', 'row 1, a']
        """
        lead = batch if outputs is None else batch[:-1]
        each = 1 if outputs is None else len(outputs)
        names = []
        for number in range(prod(batch)) if chosen is None else chosen:
            row, output = divmod(int(number), each)
            parts = []
            if lead and labels is None:
                place = ", ".join(map(str, np.unravel_index(row, lead)))
                parts.append(f"{self.row_noun} {place}")
            elif lead and labels is not None:
                parts.append(self.game(labels[row]))
            if outputs is not None:
                parts.append(self.output(outputs[output]))
            names.append(", ".join(parts))
        return names

    def players(self, count: int) -> str:
        """So many players."""
        return counted(count, self.noun)

    def games(self, count: int) -> str:
        """So many games."""
        return counted(count, self.row_noun)

    def spoken(self, sentence: str) -> str:
        """A sentence about players and worths in these words.

        >>> Words("feature", "row", "price").spoken("A player adds to the worths.")
        'A feature adds to the price.'
        """
        if self.noun == "player":
            return sentence
        worth = f"the {self.worth_name}"
        spoken = sentence.replace("F(N) − F(∅)", f"{worth} with all {self.nouns} minus with none")
        if self.worth_name != "worth":
            spoken = spoken.replace("the worths", worth).replace("the game", worth)
        return spoken.replace("player", self.noun)

    def with_unit(self, quantity: str) -> str:
        """A quantity in the unit of the worths, as the label of an axis.

        >>> Words(unit="log-odds").with_unit("shapley")
        'shapley (log-odds)'
        """
        return f"{quantity} ({self.unit})" if self.unit else quantity


# The nouns of any game.
PLAYERS = Words()


def no_player(name: object, players: Sequence[object], words: Words) -> str:
    """The message where a name is not that of a player."""
    return f"there is no {words.noun} {name!r}; the {words.nouns} are {spell(players)}"
