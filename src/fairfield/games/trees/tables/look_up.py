"""Rows by their codes: how many have each, and what tables over codes pay them. Compiled loops."""

from __future__ import annotations

import numpy as np

from fairfield.core.arrays import FloatArray
from fairfield.games.trees.compiled import Int64s, compiled
from fairfield.games.trees.nodes import Nodes
from fairfield.games.trees.pairs import pair_place
from fairfield.games.trees.tables.groups import (
    TOGETHER,
    Bytes,
    Codes,
    Groups,
    branches,
    encode,
    room_of,
)
from fairfield.games.trees.worths import goes_left

# Rows that are looked up one by one.
FEW = 8


def count_codes(nodes: Nodes, groups: Groups, rows: FloatArray, start: Int64s) -> FloatArray:
    """How many rows have each code; those of group g are counted from ``start[g]`` on."""
    counts = np.zeros(start[-1])
    _count(nodes, groups, rows, start, *room_of(nodes, min(TOGETHER, rows.shape[1])), counts)
    return counts


@compiled
def _count(
    nodes: Nodes,
    groups: Groups,
    rows: FloatArray,
    start: Int64s,
    goes: Bytes,
    met: Bytes,
    code: Codes,
    counts: FloatArray,
) -> None:
    for low in range(0, rows.shape[1], TOGETHER):
        high, at = min(low + TOGETHER, rows.shape[1]), -1
        for g in range(len(groups.tree)):
            if groups.tree[g] != at:
                at = groups.tree[g]
                branches(nodes, at, rows, low, high, goes)
            encode(groups, g, nodes.roots[at], goes, high - low, met, code)
            for r in range(high - low):
                counts[start[g] + code[r]] += 1.0


def look_up(
    nodes: Nodes,
    groups: Groups,
    low: int,
    high: int,
    order: int,
    entry: Int64s,
    table: FloatArray,
    rows: FloatArray,
    values: FloatArray,
) -> None:
    """Add what the groups low … high - 1 pay: (outputs, players or pairs, rows)."""
    room = room_of(nodes, min(TOGETHER, rows.shape[1]))
    _look_up(nodes, groups, low, high, order, entry, table, rows, *room, values)


@compiled
def _look_up(
    nodes: Nodes,
    groups: Groups,
    low: int,
    high: int,
    order: int,
    entry: Int64s,
    table: FloatArray,
    rows: FloatArray,
    goes: Bytes,
    met: Bytes,
    code: Codes,
    values: FloatArray,
) -> None:
    for begin in range(0, rows.shape[1], TOGETHER):
        end, at = min(begin + TOGETHER, rows.shape[1]), -1
        for g in range(low, high):
            if groups.tree[g] != at:
                at = groups.tree[g]
                branches(nodes, at, rows, begin, end, goes)
            encode(groups, g, nodes.roots[at], goes, end - begin, met, code)
            codes, row = 1 << (groups.bit[g + 1] - groups.bit[g]), entry[g]
            first, last = groups.member[g], groups.member[g + 1]
            for i in range(first, last):
                for j in range(first, i if order == 2 else first + 1):
                    who = groups.players[i]
                    if order == 2:
                        other = groups.players[j]
                        who = pair_place(max(who, other), min(who, other))
                    for v in range(len(table)):
                        paid = values[nodes.output[at] + v, who, begin:end]
                        paying = table[v, row : row + codes]
                        for r in range(len(paid)):
                            paid[r] += paying[code[r]]
                    row += codes


def by_code(groups: Groups, entry: Int64s, table: FloatArray) -> FloatArray:
    """Tables of players with what a code pays to all of them side by side, for :func:`look_up_few`."""
    turned = np.empty_like(table)
    for begin, members, bits in zip(
        entry, np.diff(groups.member), np.diff(groups.bit), strict=True
    ):
        own = turned[:, begin : begin + (members << bits)]
        given = table[:, begin : begin + (members << bits)].reshape(len(table), members, 1 << bits)
        own[:] = given.swapaxes(1, 2).reshape(own.shape)
    return turned


def look_up_few(
    nodes: Nodes,
    groups: Groups,
    entry: Int64s,
    turned: FloatArray,
    rows: FloatArray,
    values: FloatArray,
) -> None:
    """As :func:`look_up` for players, row by row: a few rows are waited for, not worked on."""
    _look_up_few(nodes, groups, entry, turned, rows, room_of(nodes, rows.shape[1])[0], values)


@compiled
def _look_up_few(
    nodes: Nodes,
    groups: Groups,
    entry: Int64s,
    turned: FloatArray,
    rows: FloatArray,
    goes: Bytes,
    values: FloatArray,
) -> None:
    for r in range(rows.shape[1]):
        at, first = -1, 0
        for g in range(len(entry)):
            if groups.tree[g] != at:
                at = groups.tree[g]
                first = nodes.roots[at]
                for node in range(first, nodes.ends[at]):
                    if nodes.left[node] >= 0:
                        number = rows[nodes.feature[node], r]
                        goes[node - first, 0] = goes_left(nodes, node, number)
            begin, code = groups.bit[g], 0
            for b in range(begin, groups.bit[g + 1]):
                met = 1
                for literal in range(groups.clause[b], groups.clause[b + 1]):
                    side = groups.literals[literal]
                    met &= goes[(side >> 1) - first, 0] ^ (1 - (side & 1))
                code |= met << (b - begin)
            member, end = groups.member[g], groups.member[g + 1]
            place = entry[g] + code * (end - member)
            for v in range(len(turned)):
                output = nodes.output[at] + v
                for i in range(member, end):
                    values[output, groups.players[i], r] += turned[v, place + i - member]
