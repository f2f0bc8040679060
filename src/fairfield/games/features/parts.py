"""Feature games of any number of features as sums of tables over the few that matter.

The mean over background rows is a sum over patterns D, the players in which some of them
differ from the explained row: each a table of 2^|D| numbers, whatever the number of all
players. Where these are more than all coalitions of the players that matter to the row, or
where a link follows the mean, one table over those players takes their place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from fairfield.core.arrays import FloatArray
from fairfield.core.parts import Division, Part
from fairfield.games.features.model_output import Function, linked
from fairfield.games.features.subcubes import Cubes, Sums, of_output, spread

# Asks the model, showing progress or not: each explained row with its sums.
Summed = Callable[[bool | None], Iterable[tuple[int, Sums]]]


def divide(cubes: Cubes, outputs: int, link: Function | None, summed: Summed) -> Division:
    """The division of a feature game with these cubes, for so many outputs of each row."""
    count, total, kept = len(cubes.row_codes), 0, 0
    joint = np.zeros(count, dtype=bool)
    for x in range(count):
        corners, every = cubes.corners(x), 1 << len(cubes.mattering(x))
        joint[x] = link is not None or every <= corners
        total, kept = total + corners, kept + (every if joint[x] else corners)

    def parts(progress: bool | None) -> list[Part]:
        weight, terms = cubes.weights.sum(), Collected()
        for x, of_all in summed(progress):
            for output in range(outputs):
                game, sums = x * outputs + output, of_output(of_all, output)
                if joint[x]:
                    own = cubes.mattering(x).tolist()
                    terms.add(game, own, linked(_joined(sums, own) / weight, link))
                    continue
                for pattern, worths in sums.items():
                    terms.add(game, _players(pattern), worths / weight)
        return terms.parts()

    return Division(-(-total // (count * len(cubes.weights))), outputs * kept, parts)


class Collected:
    """Tables of the games of a batch, gathered by their number of players."""

    def __init__(self) -> None:
        self._held: dict[int, list[tuple[int, list[int], FloatArray]]] = {}

    def add(self, game: int, players: list[int], worths: FloatArray) -> None:
        if not players:  # a constant: a table of one player, who adds nothing
            players, worths = [0], np.repeat(worths, 2)
        self._held.setdefault(len(players), []).append((game, players, worths))

    def parts(self) -> list[Part]:
        """One part for each number of players."""
        columns = (zip(*terms, strict=True) for terms in self._held.values())
        return [
            Part(np.array(games), np.array(players), np.stack(worths))
            for games, players, worths in columns
        ]


def _joined(sums: Sums, own: list[int]) -> FloatArray:
    """The sum of all terms as one table over the players ``own``, in which all patterns lie."""
    place = {player: 1 << k for k, player in enumerate(own)}
    narrow = {sum(place[i] for i in _players(P)): worths for P, worths in sums.items()}
    return spread(narrow, len(own))


def _players(pattern: int) -> list[int]:
    """The players of a pattern, of any number of bits."""
    return [i for i in range(pattern.bit_length()) if pattern >> i & 1]
