"""Verdicts on the table of 80 players."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fairfield.core.arrays import FloatArray
from paper.claims import WRONG, Claim, holds, share, spread

WHERE = "Table 2, top 15 of 80"
# The printed table of the 15 best of 80 players.
PRINTED = {
    "variational_index": (9, 13, 11, 3, 54, 7, 18, 36, 32, 42, 46, 40, 6, 18, 23),
    "banzhaf": (9, 13, 11, 3, 54, 18, 7, 32, 46, 36, 2, 27, 40, 17, 10),
    "shapley": (52, 33, 27, 1, 4, 58, 32, 14, 42, 46, 40, 6, 18, 23, 47),
}


def more_similar(near: FloatArray, far: FloatArray, floor: FloatArray) -> Claim:
    """Of every data set the mean distance of ranks: index to Banzhaf, to Shapley, to itself.

    The last is by another seed: what the estimates cannot tell apart.
    """
    gain = far - near
    error = gain.std(ddof=1) / np.sqrt(len(gain)) if len(gain) > 1 else np.inf
    told = abs(gain.mean()) > 2 * error and max(near.mean(), far.mean()) > floor.mean()
    mine, theirs, other = (set(PRINTED[name]) for name in PRINTED)
    return Claim(
        WHERE,
        "the ranking of the index is more similar to Banzhaf's than to Shapley's",
        f"{len(mine & theirs)} and {len(mine & other)} of 15 in common",
        f"mean distance of ranks {near.mean():.2f} and {far.mean():.2f}, noise floor {floor.mean():.2f}",
        holds(bool(gain.mean() > 0) if told else None),
        f"nearer to Banzhaf in {share(gain > 0)} data sets, by {spread(gain)}; the noise floor is the distance of "
        "two estimates of the index by two seeds",
    )


def fifteen(lines: Mapping[str, Sequence[int]]) -> Claim:
    """The printed lines, by criterion."""
    twice = {name: sorted({p for p in each if each.count(p) > 1}) for name, each in lines.items()}
    some = {name: each for name, each in twice.items() if each}
    return Claim(
        WHERE,
        "the table lists the indices of 15 players for each criterion",
        "15 players",
        "; ".join(
            f"{name} names player {', '.join(map(str, each))} twice" for name, each in some.items()
        )
        or "15 each",
        holds(not some, WRONG),
        f"index and Shapley share a run of {len(_common_run(lines))} players "
        f"({', '.join(map(str, _common_run(lines)))}), so part of a line may have been copied",
    )


def _common_run(lines: Mapping[str, Sequence[int]]) -> tuple[int, ...]:
    """The longest run of players that the lines of the index and of Shapley share."""
    ours, theirs = (tuple(lines[name]) for name in ("variational_index", "shapley"))
    ends = range(len(ours) + 1)
    runs = [ours[start:stop] for start in ends for stop in ends[start + 1 :]]
    shared = [run for run in runs if any(theirs[at : at + len(run)] == run for at in ends)]
    return max(shared, key=len, default=())
