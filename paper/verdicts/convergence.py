"""Verdicts on the table of convergence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fairfield.core.arrays import FloatArray
from paper.claims import DIFFERS, WRONG, Claim, holds, spread
from paper.readings import NORM, WHERE

# The lines of data valuation, under "‖x^k - x^(k-1)‖²/n" and steps 1, 2, 3, 5, 9, 10.
PRINTED = {
    "breast_cancer": (0.0023, 3.61e-6, 1.53e-7, 2.77e-10, 9.12e-16, 0.0),
    "digits": (0.00099, 5.93e-7, 1.46e-8, 8.92e-12, 9.25e-18, 0.0),
    "synthetic_groups": (0.00059, 2.49e-8, 3.13e-10, 6.06e-14, 0.0, 0.0),
}
# Within this factor a line is that of a split, to about three digits.
SAME = 1.02
# ‖Δx‖²/n at which the iteration counts as settled.
SETTLED = 1e-10


def line(
    title: str, name: str, found: FloatArray, header: float, norm: float, theirs: bool
) -> Claim:
    """A line of ours, its factors from the printed one by two readings, and whether it is the authors'."""
    best = min(header, norm)
    return Claim(
        WHERE,
        f"data, {title}",
        ", ".join(f"{v:.3g}" for v in PRINTED[name]),
        ", ".join(f"{v:.3g}" for v in found),
        holds(best < SAME if theirs else None),
        f"{'the authors’ split' if theirs else 'the nearest of our splits; the authors’ is not at hand'}, {NORM}: "
        f"within a factor of {norm:.4g} where the numbers are above rounding; read as the header says, {header:.2g}",
    )


def header(factors: Mapping[str, tuple[float, float]], theirs: bool) -> Claim:
    """By problem how far the lines are off, read as the header says and as ‖Δx‖/n from iteration 0."""
    said = sum(a < SAME for a, _ in factors.values())
    norm = sum(b < SAME for _, b in factors.values())
    return Claim(
        WHERE,
        "the cells are ‖x^k − x^(k−1)‖²/n at steps 1, 2, 3, 5, 9, 10",
        "header",
        f"so read {said} of {len(factors)} lines fit; as {NORM}, {norm}",
        holds(said == len(factors) if theirs else None, WRONG if norm > said else DIFFERS),
        "the table prints norms, not their squares, and leaves out the second step"
        if theirs
        else "the authors' splits are not at hand",
    )


def steps(needed: Sequence[int], *, whole: bool) -> Claim:
    """Steps until settled, of games of the paper's size or of smaller ones."""
    quick = max(needed) <= 10
    return Claim(
        "Sec. 5.3",
        "Alg. 1 converges in 5 to 10 iterations (data valuation)",
        "5 to 10",
        f"{spread(needed)} steps in {len(needed)} {'games' if whole else 'smaller games'}",
        holds(True if quick else False if whole else None),
        f"until ‖Δx‖²/n < {SETTLED:g}, at the paper's temperatures; not on FLID games, nor at low temperatures",
    )


def cost(needed: Sequence[int], players: Sequence[int], *, whole: bool) -> Claim:
    """Gradients that the index takes, and those of Shapley's line integral: half the players."""
    nodes = [-(-n // 2) for n in players]
    ratio = float(np.max(np.array(needed) / nodes))
    return Claim(
        "Sec. 4.2",
        "the cost of the index is roughly similar to that of Shapley and Banzhaf",
        "roughly",
        f"gradients: index {spread(needed)}, Shapley’s integral {spread(nodes)}, Banzhaf 1; the same 2^n worths",
        holds(True if ratio <= 3 else False if whole else None),
        f"in worths, which are all of the cost where they are fits, the three are the same; at most {ratio:.2g} "
        "times the gradients of Shapley's exact integral",
    )
