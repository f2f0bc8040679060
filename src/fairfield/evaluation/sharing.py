"""How drivers of one store share its worths: each evaluates what no other is evaluating."""

from __future__ import annotations

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.evaluation.by_row import RowScores
from fairfield.evaluation.kept import KeptWorths, pack, unpack
from fairfield.evaluation.store import Store

Blocks = list[BoolArray]


def share(
    store: Store, kept: KeptWorths, blocks: Blocks, by_row: RowScores | None = None
) -> tuple[Blocks, Blocks, tuple[BoolArray, FloatArray]]:
    """What of the blocks is for this driver, what others evaluate, and what these have found.

    The worths that were found, of whatever coalitions, are kept.
    """
    keys = [pack(rows) for rows in blocks]
    claimed = store.claim(np.concatenate(keys))
    # After the claim, so that what another driver has just finished is not taken for free.
    added, worths = store.load(by_row)
    kept.add(added, worths)
    own, others = [], []
    for rows, key in zip(blocks, keys, strict=True):
        mine, claimed = claimed[: len(rows)], claimed[len(rows) :]
        missing = ~kept.find(key)[1]
        own.append(rows[missing & mine])
        others.append(rows[missing & ~mine])
    found = unpack(added, store.players), worths
    return [each for each in own if len(each)], [each for each in others if len(each)], found
