"""Verdicts on the FLID games."""

from __future__ import annotations

from fairfield.core.arrays import BoolArray, FloatArray
from paper.claims import CODE, WRONG, Claim, holds, share

FIGURE = "Fig. 5, FLID games"
# What the legend for n = 10, D = 8 says.
STORED = {
    "variational_index": (0.000705, 1.0),
    "shapley": (0.007283, 0.9879),
    "banzhaf": (0.006716, 0.9879),
}
# The released code takes 10 n steps and looks no further; beyond these, nothing settles.
STEPS = 500


def best(won: BoolArray, what: str, means: FloatArray) -> Claim:
    """Of seeds × six games, where the index is nearest to the truth."""
    whole = won.all(axis=1)
    return Claim(
        FIGURE,
        f"the index has the better {what} to the true marginals in all (six) experiments",
        "6 of 6",
        f"all six in {share(whole)} draws of the figure; {share(won)} games",
        holds(bool(whole.mean() >= 0.5)),
        f"means over all games, index / Shapley / Banzhaf: {' / '.join(f'{m:.4g}' for m in means)}. Of "
        "the fixed point itself, which Alg. 1 does not always reach; ties count as best",
    )


def alg1_settles(failed: dict[tuple[int, int], int], count: int) -> Claim:
    most = max(failed.values())
    return Claim(
        "Sec. 4.2",
        "Alg. 1 takes around 5 to 10 steps to converge (on FLID games)",
        "5 to 10",
        f"not settled after {STEPS} steps in {sum(failed.values())} of {count * len(failed)} games",
        holds(most == 0, WRONG),
        f"of {count} games each: "
        + "; ".join(f"n={n}, D={d}: {each}" for (n, d), each in failed.items())
        + ". It alternates between two points for ever; Anderson's method with a safeguard settles in all",
    )


def alg1_best(won: BoolArray) -> Claim:
    """Of seeds × six games, where 10 n steps of Alg. 1 have the lowest squared error."""
    return Claim(
        FIGURE,
        "as computed, by 10 n steps of Alg. 1, the index has the lowest squared error in all six",
        "6 of 6",
        f"all six in {share(won.all(axis=1))} draws of the figure; {share(won)} games",
        holds(bool(won.all(axis=1).mean() >= 0.5)),
        "where Alg. 1 cycles, either of its two points is far from the truth",
        CODE,
    )


def legend(ranges: dict[str, tuple[float, float, float, float]]) -> Claim:
    """By criterion the least and largest squared error and rank correlation of ours."""
    inside = [
        low <= error <= high and lowest - 5e-5 <= rank <= highest + 5e-5
        for (error, rank), (low, high, lowest, highest) in zip(STORED.values(), ranges.values(), strict=True)
    ]  # fmt: skip
    return Claim(
        FIGURE + ", n = 10, D = 8",
        "squared error and rank correlation in the legend: index; Shapley; Banzhaf",
        "; ".join(f"{error:.6f}, {rank:.4g}" for error, rank in STORED.values()),
        f"within the range of our seeds for {sum(inside)} of {len(inside)} criteria",
        holds(all(inside)),
        "no seed was published; ours range over "
        + "; ".join(f"{low:.2g} to {high:.2g}, {lowest:.2g} to {highest:.2g}" for low, high, lowest, highest in ranges.values()),
    )  # fmt: skip


def submodular(largest: float, apart: float) -> Claim:
    return Claim(
        "App. G.1",
        "F satisfies submodularity, and its multilinear extension admits polynomial time algorithms",
        "known",
        f"largest second difference {largest:.1g}; closed form and table {apart:.1g} apart",
        holds(largest <= 1e-12 and apart < 1e-9),
    )
