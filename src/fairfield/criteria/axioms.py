"""The axioms of the paper as checks on any criterion and any game.

Each check builds games in which the axiom has something to say about every player,
values them, and reports the worst violation, so that no check passes for want of a
case. A criterion is a function of a game that returns a valuation: pass its keywords
with ``functools.partial``. The temperature should then be a number: a relative one
changes with the game.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from fairfield.core.arrays import FloatArray, IntArray, on_host
from fairfield.core.coalitions import enumerate_coalitions, rows_of
from fairfield.core.game import Game, Players
from fairfield.criteria.criterion import Given, call_of, valued
from fairfield.games.given.convert import as_game
from fairfield.games.given.table import TableGame
from fairfield.multilinear.choose import table_of
from fairfield.problem import resolve
from fairfield.results.display import number, text_table


@dataclass(frozen=True)
class Check:
    """The worst violation of an axiom, in units of the worths, and where it was seen."""

    axiom: str
    violation: float
    where: str
    scale: float

    @property
    def holds(self) -> bool:
        """Whether the violation is within rounding: 1e-9 of the worths' range."""
        return self.violation <= 1e-9 * self.scale


def null_player(criterion: Given, game: Any, *, players: Players | None = None) -> Check:
    """A player who adds nothing to any coalition is worth 0.

    Each player in turn is replaced by one who adds nothing.
    """
    table, names = _table(criterion, game, players)
    count = len(names)
    values = [_values(criterion, table[_without(i, count)], names)[i] for i in range(count)]
    return _worst("null player", _by_player(np.array(values), names), table)


def symmetry(criterion: Given, game: Any, *, players: Players | None = None) -> Check:
    """Players who add the same to every coalition are worth the same.

    Each pair in turn is made interchangeable, by averaging the game with its mirror image.
    """
    table, names = _table(criterion, game, players)
    seen = []
    for i, j in combinations(range(len(names)), 2):
        swapped = enumerate_coalitions(len(names))
        swapped[:, [i, j]] = swapped[:, [j, i]]
        values = _values(criterion, (table + table[rows_of(swapped)]) / 2, names)
        seen.append((abs(values[i] - values[j]), f"players {names[i]} and {names[j]}"))
    return _worst("symmetry", seen, table)


def marginalism(
    criterion: Given, game: Any, *, own: bool = False, players: Players | None = None
) -> Check:
    """Values depend on marginal contributions alone.

    The paper asks it of games in which *all* contributions are equal: they differ by a
    constant. Young's form (``own=True``) asks more: a player whose *own* contributions
    are equal in two games, whatever the others', is worth the same in both.
    """
    table, names = _table(criterion, game, players)
    scale = np.ptp(table) or 1.0
    before = _values(criterion, table, names)
    if not own:
        after = _values(criterion, table + scale, names)
        return _worst("marginalism", _by_player(after - before, names), table)
    noise = _noise(scale, (len(names), len(table)))
    changes = np.zeros(len(names))
    for i in range(len(names)):
        after = _values(criterion, table + noise[i][_without(i, len(names))], names)
        changes[i] = after[i] - before[i]
    return _worst("own marginalism", _by_player(changes, names), table)


def additivity(
    criterion: Given, game: Any, other: Any = None, *, players: Players | None = None
) -> Check:
    """The values of a sum of games are the sums of the values.

    ``other`` is the second game; by default three of random worths of the same range.
    """
    first = as_game(game, players)
    if other is not None:
        other = as_game(other, None if isinstance(other, Game) else first.players)
    table, names = _table(criterion, first)
    if other is None:
        seconds = _noise(np.ptp(table), (3, len(table)))
    else:
        seconds = _table(criterion, other)[0][None]
    seen = []
    for second in seconds:
        joint = _values(criterion, table + second, names)
        apart = _values(criterion, table, names) + _values(criterion, second, names)
        seen += _by_player(joint - apart, names)
    return _worst("additivity", seen, table)


def efficiency(criterion: Given, game: Any, *, players: Players | None = None) -> Check:
    """The values add up to F(N) - F(∅)."""
    table, names = _table(criterion, game, players)
    gap = abs(_values(criterion, table, names).sum() - (table[-1] - table[0]))
    return _worst("efficiency", [(gap, "the sum of all values")], table)


class Checks(dict[str, Check]):
    """Checks by axiom, shown as a table."""

    def __repr__(self) -> str:
        return text_table(
            {
                "axiom": list(self),
                "holds": ["yes" if each.holds else "no" for each in self.values()],
                "worst violation": [number(each.violation) for each in self.values()],
                "at": [each.where for each in self.values()],
            }
        )


def check(criterion: Given, game: Any, *, players: Players | None = None) -> Checks:
    """All five axioms on one criterion and game.

    >>> import fairfield as ff
    >>> found = ff.axioms.check("shapley", [0, 1, 1, 5])
    >>> [name for name, each in found.items() if not each.holds]
    []
    """
    axioms = (null_player, symmetry, marginalism, additivity, efficiency)
    table = TableGame(*_table(criterion, game, players))
    checks = [axiom(criterion, table) for axiom in axioms]
    return Checks({each.axiom: each for each in checks})


def _table(
    criterion: Given, game: Any, players: Players | None = None
) -> tuple[FloatArray, tuple[Any, ...]]:
    """All worths and the players; the criterion's arguments are checked before the first."""
    call, problem = call_of(criterion), resolve(game, players)
    if problem.game.batch:
        raise ValueError("axioms are checked on one game at a time")
    call.problem(replace(problem, source=problem.source.as_table()))
    table = table_of(problem.game, problem.options)[0]
    return np.array(on_host(table.worth_table)), table.players


def _noise(scale: float, shape: tuple[int, int]) -> FloatArray:
    """Random worths, unlike any that a user's own seed would give."""
    return np.asarray(scale * np.random.default_rng([0xFA1, 0xF1E1D]).standard_normal(shape))


def _without(player: int, players: int) -> IntArray:
    """For every coalition the row of the same without this player."""
    coalitions = enumerate_coalitions(players)
    coalitions[:, player] = False
    return rows_of(coalitions)


def _by_player(changes: FloatArray, names: tuple[Any, ...]) -> list[tuple[float, str]]:
    return [(abs(d), f"player {name}") for d, name in zip(changes, names, strict=True)]


def _values(criterion: Given, table: FloatArray, names: tuple[Any, ...]) -> FloatArray:
    return valued(criterion, TableGame(table, names)).values


def _worst(axiom: str, seen: list[tuple[float, str]], table: FloatArray) -> Check:
    if not seen:
        return Check(axiom, 0.0, "there is no pair of players", float(np.ptp(table)))
    violation, where = max(seen, key=lambda pair: pair[0])
    return Check(axiom, float(violation), where, float(np.ptp(table)))
