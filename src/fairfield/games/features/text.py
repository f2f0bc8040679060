"""The words behind the output of a model of texts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.fingerprint import text_of
from fairfield.core.game import Game, GameInfo, Traits
from fairfield.games.features.model_output import output_of

# Pieces with the space behind them, so that together they are the text.
SPLITS = {
    "words": re.compile(r"(?:^\s+)?\S+\s*"),
    "sentences": re.compile(r"(?:^[.!?\s]+)?[^.!?]+(?:[.!?]+[\"')\]]*\s*|$)"),
}


class TextGame(Game):
    """A model's output for a text of which some pieces are left out; the players are the pieces.

    - ``predict``: a function of a list of texts that returns a number for each, or a column per class,
      or a fitted classifier of texts; ``output`` names the class, as in :class:`fairfield.FeatureGame`.
    - ``split``: "words", "sentences", or a function from the text to the list of its pieces (joined
      by spaces where they leave something out). A piece that occurs again is named with its place.
    - ``mask``: what stands in place of a piece that is left out; None deletes it.

    ``unions`` are the words of each sentence: ``ff.owen(game, game.unions)`` is exact for texts that are
    too long for all coalitions of their words.

    >>> game = TextGame(lambda texts: [len(text) for text in texts], "to be or not to be")
    >>> game.players
    ('to [1]', 'be [2]', 'or', 'not', 'to [5]', 'be [6]')
    >>> game.text_of(np.array([True, True, False, True, False, False]))
    'to be not '
    """

    def __init__(
        self,
        predict: Any,
        text: str,
        *,
        split: str | Callable[[str], Sequence[str]] = "words",
        mask: str | None = None,
        output: Any = None,
    ) -> None:
        if not isinstance(text, str) or not text.strip():
            raise ValueError(f"the text is {text!r}; give a string that holds at least one word")
        if isinstance(split, str) and split not in SPLITS:
            raise ValueError(
                f"split={split!r} was given; choose from 'words' and 'sentences', or give a function"
            )
        self.text, self.split, self.mask = text, split, mask
        self.pieces = [str(each) for each in _pieces(text, split) if str(each).strip()]
        self.players = tuple(_named([piece.strip() for piece in self.pieces]))
        self.output = output_of(predict, output, None, [text])
        what = self.output.what
        self.batch = () if what.outputs is None else (len(what.outputs),)
        noun = split.removesuffix("s") if isinstance(split, str) else "piece"
        self.info = GameInfo(
            worth_name=what.name,
            unit=what.unit,
            noun=noun,
            row_noun="text",
            advice="split it into sentences, or value words in these by ff.owen(game, game.unions)",
            outputs=what.outputs,
            output_noun=what.noun,
        )
        self.traits = Traits()

    @property
    def unions(self) -> dict[str, list[Any]]:
        """The players of each sentence."""
        found: dict[str, list[Any]] = {}
        sentence = ""
        for player, piece in zip(self.players, self.pieces, strict=True):
            sentence = sentence or f"sentence {len(found) + 1}"
            found.setdefault(sentence, []).append(player)
            if piece.strip().rstrip("\"')]").endswith((".", "!", "?")):
                sentence = ""
        return found

    def text_of(self, coalition: BoolArray) -> str:
        """The text in which only these pieces are left."""
        return "".join(
            piece
            if inside
            else ""
            if self.mask is None
            else piece.replace(piece.strip(), self.mask)
            for piece, inside in zip(self.pieces, coalition, strict=True)
        )

    def worths(self, coalitions: BoolArray) -> FloatArray:
        found = self.output([self.text_of(each) for each in coalitions])
        return np.asarray(found[:, self.output.column[0]].T.reshape((*self.batch, -1)))

    def describe(self) -> dict[str, Any]:
        # A model is identified by its outputs for the text and for nothing.
        ends = np.repeat([[False], [True]], len(self.players), axis=1)
        return {
            **super().describe(),
            "pieces": self.pieces,
            "mask": self.mask,
            "model": self.output.name,
            "outputs": text_of(self.worths(ends).astype(np.float32)),
        }


def _pieces(text: str, split: str | Callable[[str], Sequence[str]]) -> Sequence[str]:
    """The pieces of a text, each with the space behind it."""
    if isinstance(split, str):
        return [each.group() for each in SPLITS[split].finditer(text)]
    pieces = list(split(text))
    return pieces if "".join(pieces) == text else [f"{piece} " for piece in pieces]


def _named(words: list[str]) -> list[str]:
    """Words as names; those that occur again with their places, counted from 1."""
    count = Counter(words)
    return [f"{word} [{place}]" if count[word] > 1 else word for place, word in enumerate(words, 1)]
