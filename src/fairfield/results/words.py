"""What players, games and worths are called where results are shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fairfield.core.coalitions import spell
from fairfield.core.game import GameInfo


@dataclass(frozen=True)
class Words:
    """The nouns of a result: players of games, or features behind the predictions of rows.

    ``unit`` is that of the worths ("log-odds"), empty where they have none.

    >>> Words("feature", "row", "log-odds of class 1", "log-odds").players(2)
    '2 features'
    """

    noun: str = "player"
    row_noun: str = "game"
    worth_name: str = "worth"
    unit: str = ""

    @classmethod
    def of(cls, info: GameInfo) -> Words:
        """The words of a game."""
        return cls(info.noun, info.row_noun, info.worth_name or "worth", info.unit)

    @property
    def nouns(self) -> str:
        """Several players."""
        return f"{self.noun}s"

    @property
    def row_nouns(self) -> str:
        """Several games."""
        return f"{self.row_noun}s"

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

    def players(self, count: int) -> str:
        """So many players."""
        return _counted(count, self.noun)

    def games(self, count: int) -> str:
        """So many games."""
        return _counted(count, self.row_noun)

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


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
