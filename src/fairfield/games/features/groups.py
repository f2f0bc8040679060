"""Columns that count as one feature."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, Union

import numpy as np
from numpy.typing import NDArray

from fairfield.core.arrays import IntArray
from fairfield.core.checks import listed
from fairfield.core.coalitions import spell
from fairfield.core.game import Player, name_players

Groups: TypeAlias = Union[Mapping[Player, Sequence[Any]], Sequence[Hashable], "Encoded"]


@dataclass(frozen=True, eq=False)
class Encoded:
    """Groups of the columns of rows, of which a model sees others: the j-th from ``owners[j]``."""

    owners: IntArray
    groups: Groups | None


def joins(groups: Groups | None) -> bool:
    """Whether these groups may make one feature of several columns of the rows."""
    return groups is not None and not (isinstance(groups, Encoded) and groups.groups is None)


def group_columns(
    columns: tuple[Hashable, ...], groups: Groups | None
) -> tuple[tuple[Player, ...], IntArray]:
    """The features that are players, and the number of each column's feature.

    ``groups`` are {name: columns}, where columns in no group stay features of their own,
    or one label per column.

    >>> group_columns(("age", "red", "blue"), {"colour": ["red", "blue"]})
    (('colour', 'age'), array([1, 0, 0]))
    """
    if isinstance(groups, Encoded):
        features, feature_of = group_columns(columns, groups.groups)
        return features, feature_of[groups.owners]
    if groups is None:
        return name_players(columns), np.arange(len(columns), dtype=np.int64)
    if isinstance(groups, Mapping):
        owner: dict[Hashable, Player] = {}
        for player, names in groups.items():
            for name in listed(names):
                if name not in columns:
                    raise ValueError(
                        f"groups name a column {name!r}; the columns are {spell(columns)}"
                    )
                if name in owner:
                    raise ValueError(f"column {name!r} is in two groups; give it to one of them")
                owner[name] = player
        players = [*groups, *(name for name in columns if name not in owner)]
        labels = [owner.get(name, name) for name in columns]
    else:
        labels = list(groups)
        if len(labels) != len(columns):
            raise ValueError(
                f"groups have {len(labels)} labels for {len(columns)} columns; give one for each"
            )
        players = list(dict.fromkeys(labels))
    named = name_players(players)
    empty = [player for player in players if player not in labels]
    if empty:
        raise ValueError(f"groups give {empty[0]!r} no columns; a feature needs at least one")
    return named, np.array([players.index(label) for label in labels], dtype=np.int64)


def shown_values(given: Any, player_of: IntArray) -> NDArray[Any]:
    """The values of the features (N, n), those of several columns joined as text."""
    table = np.asarray(given)
    owned = [np.flatnonzero(player_of == i) for i in range(int(player_of.max()) + 1)]
    if all(len(own) == 1 for own in owned):
        return table[:, np.concatenate(owned)]
    shown = np.empty((len(table), len(owned)), dtype=object)
    for i, own in enumerate(owned):
        joined = [", ".join(map(str, row)) for row in table[:, own]]
        shown[:, i] = table[:, own[0]] if len(own) == 1 else joined
    return shown


def columns_of(player: Player, groups: Groups | None, columns: Sequence[Hashable]) -> list[Any]:
    """Those of the columns that a feature stands for.

    >>> columns_of("colour", {"colour": ["red", "blue"]}, ["age", "red", "blue"])
    ['red', 'blue']
    >>> columns_of("b", ["a", "b"], ["x", "y"])
    ['y']
    """
    if isinstance(groups, Mapping):
        return listed(groups.get(player, [player]))
    if groups is None or isinstance(groups, Encoded):
        return [player]
    return [name for name, label in zip(columns, groups, strict=True) if label == player]
