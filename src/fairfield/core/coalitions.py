"""Coalitions as rows of booleans, and their place in a table of worths.

This is the one place that depends on the bit order: the coalition in row ``r`` of a
table holds player ``i`` exactly when bit ``i`` of ``r`` is set, so player 0 is the
lowest bit and the grand coalition is the last row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

import array_api_compat
import numpy as np

from fairfield.core.arrays import BoolArray, IntArray
from fairfield.core.writing.terminal import shown


def enumerate_coalitions(players: int, start: int = 0, stop: int | None = None) -> BoolArray:
    """Rows ``start`` to ``stop`` of the list of all 2^n coalitions, as booleans.

    >>> enumerate_coalitions(2).astype(int).tolist()
    [[0, 0], [1, 0], [0, 1], [1, 1]]
    """
    rows = np.arange(start, 2**players if stop is None else stop, dtype=np.int64)
    return coalitions_in(rows, players)


def coalitions_in(rows: IntArray, players: int) -> BoolArray:
    """The coalitions that stand in these rows of a table; one more axis, of players.

    Rows may be an array of any library, on any device; so are the coalitions.
    """
    xp, device = array_api_compat.array_namespace(rows), array_api_compat.device(rows)
    bits = xp.arange(players, dtype=xp.int64, device=device)
    return cast(BoolArray, xp.astype(rows[..., None] >> bits & 1, xp.bool))


def rows_of(coalitions: BoolArray) -> IntArray:
    """The table row of each coalition; the inverse of :func:`coalitions_in`.

    Numbers beyond 64 bits are integers of Python, in an array of objects.

    >>> rows_of(np.array([[True, False, True]])).tolist()
    [5]
    >>> rows_of(np.eye(100, dtype=bool))[99] == 2**99
    True
    """
    if coalitions.shape[-1] > 62:
        wide = np.array([1 << player for player in range(coalitions.shape[-1])], dtype=object)
        return np.asarray(coalitions.astype(object) @ wide, dtype=object)
    weights = np.int64(1) << np.arange(coalitions.shape[-1], dtype=np.int64)
    return np.asarray(coalitions @ weights, dtype=np.int64)


def sizes(players: int) -> IntArray:
    """The number of players in each of the 2^n coalitions, in table order.

    >>> sizes(2).tolist()
    [0, 1, 1, 2]
    """
    return np.bitwise_count(np.arange(2**players, dtype=np.int64)).astype(np.int64)


def coalition_of(members: Iterable[object], players: Sequence[object]) -> BoolArray:
    """The boolean row of a coalition given by the names of its members.

    >>> coalition_of({"b"}, ["a", "b"]).tolist()
    [False, True]
    """
    if isinstance(members, str):
        raise ValueError(f"{members!r} is one string; name the players in a list")
    chosen = set(members)
    unknown = chosen.difference(players)
    if unknown:
        raise ValueError(
            f"there is no player {min(unknown, key=str)!r}; the players are {spell(players)}; "
            "name coalitions by their players"
        )
    return np.array([name in chosen for name in players], dtype=bool)


def spell(members: Iterable[object], most: int = 12) -> str:
    """A coalition as text, shortened when it is long.

    >>> spell(["a", "b"])
    '{a, b}'
    >>> spell(range(100), most=3)
    '{0, 1, 2, … 97 more}'
    """
    names = [shown(name) for name in members]
    if len(names) > most:
        names = [*names[:most], f"… {len(names) - most} more"]
    return "{" + ", ".join(names) + "}"


def members(coalition: BoolArray, players: Sequence[object]) -> list[object]:
    """The names of the players in a coalition.

    >>> members(np.array([True, False]), ["a", "b"])
    ['a']
    """
    return [name for name, inside in zip(players, coalition, strict=True) if inside]
