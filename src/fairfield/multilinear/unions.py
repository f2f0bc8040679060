"""Players in nested unions, and the coalitions and points that values under them are read from.

Orders of joining are random, but the members of a union join one after the other, and so do the
members of every union inside it. So before player i joins, each union that does not hold i is
inside or outside as a whole: a level, the children of one node, is a coalition B of all children
but the one that leads to i, with weight |B|! (c - 1 - |B|)! / c! for c children.

Sources: Owen, Values of games with a priori unions, 1977; Winter, A value for cooperative games
with levels structure of cooperation, International Journal of Game Theory 18 (1989).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from math import ceil
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray, IntArray
from fairfield.core.checks import listed
from fairfield.core.coalitions import enumerate_coalitions, spell
from fairfield.core.extension import legendre
from fairfield.core.game import Player
from fairfield.core.special import log_beta
from fairfield.evaluation.kept import pack

# {union: members}, where members are players or unions in turn, or lists of members, or the union of each
# player, or a linkage of SciPy.
Unions: TypeAlias = Mapping[Any, Any] | Sequence[Any]


@dataclass(frozen=True)
class UnionTree:
    """A union by the numbers of its players alone and the unions inside it; the root holds all."""

    alone: tuple[int, ...]
    inner: tuple[UnionTree, ...] = ()

    @property
    def children(self) -> int:
        """How many players and unions it consists of."""
        return len(self.alone) + len(self.inner)

    @property
    def members(self) -> list[int]:
        """The numbers of all its players."""
        return [*self.alone, *(i for each in self.inner for i in each.members)]

    def without(self, child: UnionTree) -> UnionTree:
        """The same without one of its unions."""
        return UnionTree(self.alone, tuple(each for each in self.inner if each is not child))

    def families(self, above: tuple[UnionTree, ...] = ()) -> Iterator[Family]:
        """Every union that holds players of its own, with the siblings on each level above."""
        if self.alone:
            yield Family(above, self)
        for child in self.inner:
            yield from child.families((*above, self.without(child)))

    def draw(self, count: int, rng: np.random.Generator) -> IntArray:
        """So many random orders of its players that keep every union together: (count, players)."""
        parts = [np.full((count, 1), i) for i in self.alone]
        parts += [each.draw(count, rng) for each in self.inner]
        place = rng.permuted(np.tile(np.arange(len(parts)), (count, 1)), axis=1)
        # A stable sort keeps the order inside each part.
        of_each = np.concatenate(
            [np.repeat(place[:, k : k + 1], part.shape[1], axis=1) for k, part in enumerate(parts)],
            axis=1,
        )
        chosen = np.argsort(of_each, axis=1, kind="stable")
        return np.take_along_axis(np.concatenate(parts, axis=1), chosen, axis=1)


class Family(NamedTuple):
    """A union with players of its own, and who else may be inside on each of the levels above."""

    above: tuple[UnionTree, ...]
    union: UnionTree

    @property
    def worths(self) -> int:
        """How many coalitions the values of its players are read from."""
        return 1 << self.union.children + sum(level.children for level in self.above)

    def points(self, degree: int) -> int:
        """How many gradients of a polynomial of this degree they are read from."""
        levels = [*self.above, UnionTree(self.union.alone[1:], self.union.inner)]
        count = 1
        for level in levels:
            along = min(degree, len(level.alone)) + len(level.inner)
            count *= ceil((along + 1) / 2) << len(level.inner)
        return count

    def joined(self) -> tuple[list[list[int]], UnionTree]:
        """The players in parts, own ones first and each sibling as one, and the unions of the parts."""
        parts = [[i] for i in self.union.alone]

        def siblings(level: UnionTree) -> tuple[int, ...]:
            before = len(parts)
            parts.extend([i] for i in level.alone)
            parts.extend(each.members for each in level.inner)
            return tuple(range(before, len(parts)))

        own = tuple(range(len(parts)))
        nested = UnionTree((*own, *siblings(UnionTree((), self.union.inner))))
        for level in reversed(self.above):
            nested = UnionTree(siblings(level), (nested,))
        return parts, nested


def read_unions(unions: Unions | UnionTree, players: Sequence[Player]) -> UnionTree:
    """The root of the unions that were given by the names of players; the others are alone.

    >>> read_unions({"left": ["a", "b"], "right": {"old": ["c"], "new": ["d", "e"]}}, "abcdef")
    UnionTree(alone=(5,), inner=(UnionTree(alone=(0, 1), inner=()),
          UnionTree(alone=(2,), inner=(UnionTree(alone=(3, 4), inner=()),))))
    """
    if isinstance(unions, UnionTree):
        return unions
    if getattr(unions, "ndim", 1) == 2:
        return _linked(np.asarray(unions), len(players))
    if isinstance(unions, str) or not isinstance(unions, Iterable):
        raise ValueError(
            f"unions are {unions!r}; give the union of each player, lists of players, or {{union: members}}"
        )
    if not isinstance(unions, Mapping):
        unions = _by_name(listed(unions), players)
    place = {player: i for i, player in enumerate(players)}
    seen: set[Player] = set()

    def read(name: Any, held: Any) -> UnionTree:
        alone: list[int] = []
        inner: list[UnionTree] = []
        if isinstance(held, Mapping):
            children = [read(key, each) for key, each in held.items()]
            alone = [each.alone[0] for each in children if each.children == 1]
            inner = [each for each in children if each.children > 1]
        else:
            for player in listed(held):
                if isinstance(player, Mapping | list | set | frozenset):
                    raise ValueError(
                        f"union {name!r} holds {player!r} beside players; give unions inside a union names: "
                        f"{{{name!r}: {{'inner': [...], ...}}}}"
                    )
                if player not in place:
                    raise ValueError(
                        f"union {name!r} names a player {player!r}; the players are {spell(players)}"
                    )
                if player in seen:
                    raise ValueError(f"player {player!r} is in two unions; give it to one of them")
                seen.add(player)
                alone.append(place[player])
        if not alone and not inner:
            raise ValueError(f"union {name!r} has no players; leave it out")
        # A union of nothing but one union is that union.
        return inner[0] if len(inner) == 1 and not alone else UnionTree(tuple(alone), tuple(inner))

    every = [read(name, held) for name, held in unions.items()]
    single = [each.alone[0] for each in every if each.children == 1]
    others = [i for i, player in enumerate(players) if player not in seen]
    root = UnionTree((*single, *others), tuple(each for each in every if each.children > 1))
    return root.inner[0] if root.children == 1 and root.inner else root


def _by_name(given: list[Any], players: Sequence[Player]) -> Mapping[Any, list[Player]]:
    """Unions that were given as lists of players, or by the union of each player."""
    if any(isinstance(each, list | set | frozenset) for each in given):
        return dict(enumerate(map(listed, given)))
    if len(given) != len(players):
        raise ValueError(
            f"unions have {len(given)} labels for {len(players)} players; give one for each, lists of "
            "players, or {union: members}"
        )
    found: dict[Any, list[Player]] = {}
    for player, label in zip(players, given, strict=True):
        found.setdefault(label, []).append(player)
    return found


def _linked(linkage: Any, count: int) -> UnionTree:
    """The unions of two that a hierarchical clustering made, as rows of SciPy's linkage have them."""
    if linkage.shape != (count - 1, 4):
        raise ValueError(
            f"unions of shape {linkage.shape} were given; a linkage of {count} players has shape "
            f"{(count - 1, 4)}"
        )
    pairs = linkage[:, :2].astype(int)
    # Each player, and each pair but the last, is in one later pair.
    if (
        sorted(pairs.ravel().tolist()) != [*range(2 * count - 2)]
        or (pairs.max(axis=1) >= np.arange(count, 2 * count - 1)).any()
    ):
        raise ValueError(
            "unions= are no linkage of SciPy: each player, and each pair that was made, is joined "
            "once, and later than it was made"
        )
    nodes = [UnionTree((i,)) for i in range(count)]
    for pair in pairs.tolist():
        single = [nodes[k].alone[0] for k in pair if k < count]
        nodes.append(UnionTree(tuple(single), tuple(nodes[k] for k in pair if k >= count)))
    return nodes[-1]


def worths_read(family: Family, count: int) -> tuple[BoolArray, FloatArray]:
    """The coalitions (m, n) of a family, and what each weighs in its players' values (m, players)."""
    union, levels = family.union, [_sets(level, count) for level in family.above]
    every = reduce(_crossed, [rows for rows, _ in levels], np.zeros((1, count), dtype=bool))
    weights = [_weights(sets.sum(axis=1), sets.shape[1] + 1) for _, sets in levels]
    shares = np.ones(1)
    for each in weights:
        shares = np.outer(shares, each).ravel()
    rows, sets = _sets(union, count)
    sizes = sets.sum(axis=1)
    inside = sets[:, : len(union.alone)]
    # F(B) is added by members of B, as those who joined last, and taken off by the others.
    own = np.where(
        inside,
        _weights(sizes - 1, union.children)[:, None],
        -_weights(sizes, union.children)[:, None],
    )
    return _crossed(every, rows), (shares[:, None, None] * own).reshape(-1, own.shape[1])


def all_worths_read(families: list[Family], count: int) -> tuple[Any, Any]:
    """All coalitions of the families, each once, and their weights as a sparse matrix (m, n)."""
    from scipy import sparse

    rows, columns, weights, coalitions = [], [], [], []
    before = 0
    for family in families:
        own, shares = worths_read(family, count)
        coalitions.append(own)
        rows.append(np.repeat(before + np.arange(len(own)), shares.shape[1]))
        columns.append(np.tile(family.union.alone, len(own)))
        weights.append(shares.ravel())
        before += len(own)
    every = np.concatenate(coalitions)
    _, first, which = np.unique(pack(every), return_index=True, return_inverse=True)
    where = which.ravel()[np.concatenate(rows)], np.concatenate(columns)
    # Entries of one place are summed.
    shares = sparse.coo_array((np.concatenate(weights), where), shape=(len(first), count)).tocsr()
    return every[first], shares


def points_read(family: Family, count: int, degree: int) -> Iterator[tuple[FloatArray, float]]:
    """Points (n,) and weights whose sum of ∂_i f gives the values of a family's own players.

    On every level the time t of joining is uniform: players alone are inside with probability t,
    each by itself, and unions as a whole. f is of this degree.
    """
    union = family.union
    at = [(np.zeros(count), 1.0)]
    for level in (*family.above, union):
        along = min(degree, len(level.alone)) + len(level.inner) - (level is union)
        at = [
            (_with(point, level, inside, t), weight * share * _chance(inside, t))
            for point, weight in at
            for t, share in zip(*legendre(along), strict=True)
            for inside in enumerate_coalitions(len(level.inner))
        ]
    yield from at


def _with(point: FloatArray, level: UnionTree, inside: BoolArray, t: float) -> FloatArray:
    """The point with the players of a level in their places."""
    placed = point.copy()
    placed[list(level.alone)] = t
    for each, joins in zip(level.inner, inside, strict=True):
        placed[each.members] = float(joins)
    return placed


def _chance(inside: BoolArray, t: float) -> float:
    return float(t ** inside.sum() * (1 - t) ** (~inside).sum())


def _sets(level: UnionTree, count: int) -> tuple[BoolArray, BoolArray]:
    """All sets of the players alone and unions of a level: as coalitions (m, n), and (m, children)."""
    sets = enumerate_coalitions(level.children)
    holds = np.zeros((level.children, count), dtype=bool)
    for k, held in enumerate([*([i] for i in level.alone), *(u.members for u in level.inner)]):
        holds[k, held] = True
    return np.asarray(sets.astype(np.int64) @ holds > 0), sets


def _weights(size: IntArray, children: int) -> FloatArray:
    """|B|! (c - 1 - |B|)! / c! of sets of these sizes, of all children but one."""
    known = np.clip(size, 0, children - 1)  # others are asked for, and not used
    return np.exp(log_beta(known + 1, children - known))


def _crossed(first: BoolArray, second: BoolArray) -> BoolArray:
    """Every row of the first joined with every row of the second."""
    return np.asarray((first[:, None] | second).reshape(-1, first.shape[1]))
