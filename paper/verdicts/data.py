"""Verdicts on data valuation."""

from __future__ import annotations

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray
from paper.claims import CODE, DIFFERS, WRONG, Claim, holds, share, spread
from paper.splits import Problem

FIGURE = "Fig. 2, data removal"
# Refits move single test samples, and the errors with them: those of others by up to .13 %.
SAME = 0.005
# Rankings that are hardly distinguishable: rank correlations of all pairs of criteria above this.
ALIKE = 0.95


def errors(
    problem: Problem,
    theirs: FloatArray | None,
    own: FloatArray,
    players: int,
    refitted: str = "",
    compared: str = "",
) -> Claim:
    """Decoupling errors by criterion: on the authors' split, and on ours (splits, 3).

    ``refitted`` and ``compared`` say how liblinear's worths differ from their table and from ours.
    """
    published = np.array(problem.errors)
    spreads = " / ".join(spread(column) for column in own.T)
    if theirs is not None:
        apart = float(np.abs(theirs / published - 1).max())
        evidence, ours = apart <= SAME, " / ".join(f"{e:.7f}" for e in theirs)
        why = f"on the authors' split, within {apart:.1g} relative; {refitted}; "
    elif players < problem.players:
        evidence, ours = None, "the authors' split is not at hand"
        why = f"they had {problem.players} players; "
    else:
        inside = (published >= own.min(axis=0)) & (published <= own.max(axis=0))
        evidence, ours = (
            bool(inside.all()),
            f"{int(inside.sum())} of 3 within the range of our splits",
        )
        why = "the authors' split is not at hand; "
    return Claim(
        FIGURE,
        f"{problem.title}, T = {problem.temperature}: decoupling error of index / Shapley / Banzhaf",
        " / ".join(f"{e:.7f}" for e in problem.errors),
        ours,
        holds(evidence),
        f"{why}{len(own)} own splits of {players} players: {spreads}; "
        f"{compared}",
    )  # fmt: skip


def lowest(found: FloatArray) -> Claim:
    """Decoupling errors (splits, 3), the index first."""
    least = found[:, 1:].min(axis=1)
    won = found[:, 0] <= least
    return Claim(
        FIGURE,
        "the index always has the lowest decoupling error",
        "always",
        f"{share(won)} splits",
        holds(bool(won.all())),
        f"the next best is {spread(100 * (least / found[:, 0] - 1), 2)} % above it. It minimises this error; it "
        "may miss the minimum at lower temperatures",
    )


def like_banzhaf(banzhaf: BoolArray, shapley: BoolArray) -> Claim:
    """Of every split, whether the index ranks as another criterion does."""
    return Claim(
        "Sec. 5.1",
        "sometimes index and Banzhaf perform alike: the ranking does not change after one step",
        "sometimes",
        f"the same ranking as Banzhaf in {share(banzhaf)} splits, as Shapley in {share(shapley)}",
        holds(bool(banzhaf.any())),
    )


def values_differ(alike: BoolArray, apart: FloatArray) -> Claim:
    """Of every split, whether all rankings are alike, and the largest error over the smallest."""
    both = alike & (apart > 1.1)
    return Claim(
        "Sec. 5.1",
        "rankings of the three are sometimes hardly distinguishable, yet the decoupling errors differ",
        "sometimes",
        f"rankings alike in {share(alike)} splits, errors more than 10 % apart in {int(both.sum())} of these",
        holds(bool(both.any())),
        f"alike: rank correlations of all pairs above {ALIKE}; the largest error is {spread(apart)} times the "
        "smallest",
    )


def fastest(means: FloatArray, *, whole: bool) -> Claim:
    """Mean accuracies (splits, 3) in the right order, and whether any split has the paper's size."""
    alone = [
        int(np.sum(means[:, k] < np.delete(means, k, 1).min(axis=1) - 1e-12)) for k in range(3)
    ]
    apart = 100 * (means[:, 0] - means[:, 1:].min(axis=1))
    return Claim(
        FIGURE,
        "in certain situations the index has the fastest drop of accuracy",
        "certain situations",
        f"lowest alone: index {alone[0]}, Shapley {alone[1]}, Banzhaf {alone[2]} of {len(means)} splits",
        holds(True if alone[0] else False if whole else None),
        "mean accuracy over the first 75 % of removals in the right player order, of one class its true "
        "accuracy instead of the paper's .5; the index less the "
        f"better of the others is {spread(apart, 2)} percentage points: the criterion hardly matters here",
    )


def order_of_removal(equal: dict[str, tuple[int, int, int]]) -> Claim:
    """By problem: published points that right and mirrored orders hit, and how many there are."""
    mirrored = sum(hit == count for _, hit, count in equal.values())
    right = sum(hit == count for hit, _, count in equal.values())
    missed = [
        f"{name} {count - hit} of {count}" for name, (_, hit, count) in equal.items() if hit < count
    ]
    return Claim(
        FIGURE,
        "the published curves remove the most valuable players first",
        f"{len(equal)} panels",
        f"equal at every point: {right} panels in the right order, {mirrored} in mirrored order"
        if equal
        else "the published curves are not at hand",
        holds(right == len(equal) if equal else None, WRONG if mirrored > right else DIFFERS),
        "the released code reads coalitions with the last player in the lowest bit to find values, and "
        "with the first player there to remove them; and it scores .5 as soon as one class is missing. "
        + ("Points that mirrored order misses: " + ("; ".join(missed) or "none") if equal else ""),
        CODE,
    )


def better_right(right: FloatArray, mirrored: FloatArray, chance: FloatArray) -> Claim:
    """Mean accuracies of every split as the index removes, in three orders."""
    below = right < mirrored
    return Claim(
        FIGURE,
        "so drawn, the curves show what removing the most valuable costs",
        "curves",
        f"right order {100 * right.mean():.1f} %, mirrored {100 * mirrored.mean():.1f} %, at random "
        f"{100 * chance.mean():.1f} %",
        holds(bool(below.mean() <= 0.5), WRONG),
        f"mean accuracy over the first 75 % of removals; the right order is lower in {share(below)} splits: the "
        "published curves understate the method",
        CODE,
    )


def group_sizes(sizes: dict[str, tuple[bool, int, int]]) -> Claim:
    """Of k-means groups: whether they are the authors', the least and the largest."""
    theirs = {name: size for name, size in sizes.items() if size[0]}
    unequal = any(high > low for _, low, high in theirs.values())
    return Claim(
        "Sec. 5.1",
        "“for simplicity, we always use equal group sizes”",
        "equal",
        "; ".join(
            f"{name} {low} to {high} rows" for name, (_, low, high) in (theirs or sizes).items()
        ),
        holds(not unequal if theirs else None, WRONG),
        "the authors' own k-means groups"
        if theirs
        else "our k-means groups; theirs are not at hand",
    )


def single_groups(alone: FloatArray, ruled: FloatArray, fitted: FloatArray) -> Claim:
    """Accuracies of single groups, and decoupling errors with the rule of .5 and without it."""
    return Claim(
        "released code",
        "a coalition of nobody or of a single group is worth .5, also with ten classes",
        "0.5",
        f"digits in k-means groups: single groups reach {spread(alone)}",
        holds(bool(np.abs(alone - 0.5).max() < 0.05), WRONG),
        "the paper does not mention it; without it the decoupling errors of index / Shapley / Banzhaf go from "
        + " to ".join(" / ".join(f"{e:.4f}" for e in each) for each in (ruled, fitted)),
        CODE,
    )
