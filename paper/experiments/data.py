"""The paper's data valuation: decoupling errors and removal curves, over many splits.

Verdicts on the numbers found here are in ``paper/verdicts``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import fairfield as ff
from fairfield.core.arrays import BoolArray, FloatArray, IntArray
from fairfield.core.coalitions import rows_of
from paper.claims import Claim, Finding, Table, share, spread
from paper.registry import experiment
from paper.run import CRITERIA, Run
from paper.splits import PROBLEMS, Problem, own_split, papers_split
from paper.valued import Valued, all_splits, plotted, singles_fitted
from paper.verdicts import data as judge

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The problem in which single groups are looked at.
SINGLES = "digits2"
PUBLISHED = dict(zip(CRITERIA, ("variational", "shapley", "banzhaf"), strict=True))


@experiment(
    "data",
    "Data valuation: decoupling errors and removal curves over many splits.",
    place=4,
    long=True,
    problems=tuple(PROBLEMS),
)
def find(run: Run) -> Finding:
    """The six panels of the paper's figure, over the authors' splits and our own.

    Cost: 2^n fits for each split, n = 10 to 20; half an hour of one core for 10 splits of
    everything, which the stores make of any number of sittings.
    """
    problems = list(run.chosen(PROBLEMS).values())
    found = [valued for problem in problems for valued in all_splits(problem, run)]
    curves = run.published("removal_curves") or {}
    whole = [v for v in found if len(v.chance) == v.problem.players + 1]
    return Finding(
        "data",
        "Data valuation",
        _sizes(found, run),
        [
            *(_judged(problem, found) for problem in problems),
            judge.lowest(_errors(found)),
            judge.like_banzhaf(*(_same_ranking(found, name) for name in ("banzhaf", "shapley"))),
            judge.values_differ(*_alike(found)),
            judge.fastest(_means(found), whole=bool(whole)),
            judge.order_of_removal(_equal_points(found, curves)),
            judge.better_right(*(_index_means(found, way) for way in ("curves", "mirrored", "chance"))),
            *([judge.group_sizes(_kmeans(found))] if any(p.grouping == "kmeans" for p in problems) else []),
            *([judge.single_groups(*_single(run))] if SINGLES in run.chosen(PROBLEMS) else []),
        ],
        {"data": _table(found), "data_own": _own(found), "data_curves": _points(found, curves)},
        {"data": draw(found, curves)},
        {
            "data": "Fig. 2: test accuracy as the most valuable players are removed, most valuable first. "
            "Lines: in the right order, true accuracies; crosses: as published; dashed: our values in mirrored "
            "player order with the authors' rule for missing classes; grey: in random order. The authors' "
            "split where it is at hand, else the mean over ours; numbers are decoupling errors."
        },
    )  # fmt: skip


def _sizes(found: Sequence[Valued], run: Run) -> str:
    parts = []
    for problem in run.chosen(PROBLEMS).values():
        own = [v for v in found if v.problem is problem and not v.is_papers]
        theirs = [v for v in found if v.problem is problem and v.is_papers]
        players = len(own[0].comparison["shapley"].players)
        size = f"{problem.title}: {len(own)} own splits of {players} players"
        parts.append(size + (f" and the authors' ({problem.players})" if theirs else ""))
    compared = np.concatenate([v.changed for v in found if not v.stored])
    return (
        "; ".join(parts)
        + ". Exact values from all 2^n worths; where the authors' table is stored, it is read, else worths "
        "are fitted to rounding by Newton's method, while the paper's liblinear stops at a tolerance of "
        f"1e-4: {_differ(compared, 'compared with liblinear’s')}."
        + (" Quick: fewer players than the paper's in our own splits." if run.quick else "")
    )


def _errors(found: Sequence[Valued]) -> FloatArray:
    return np.array([[v.errors[name] for name in CRITERIA] for v in found])


def _judged(problem: Problem, found: Sequence[Valued]) -> Claim:
    here = [v for v in found if v.problem is problem]
    own, theirs = ([v for v in here if v.is_papers is whose] for whose in (False, True))
    exact = _errors(theirs)[0] if theirs else None
    players = len(own[0].chance) - 1
    refitted = _refitted(theirs[0]) if theirs else ""
    compared = _differ(np.concatenate([v.changed for v in own]), "compared with liblinear’s")
    return judge.errors(problem, exact, _errors(own), players, refitted, compared)


def _refitted(valued: Valued) -> str:
    if not valued.stored:
        return "no table of worths was published, all were fitted"
    return _differ(valued.changed, "fitted again")


def _differ(changed: IntArray, how: str) -> str:
    moved, most = int(np.count_nonzero(changed)), int(changed.max(initial=0))
    if not moved:
        return f"of {len(changed)} worths {how} none differs"
    return (
        f"of {len(changed)} worths {how} {moved} differ{'s' if moved == 1 else ''}, "
        f"by at most {most} test sample{'' if most == 1 else 's'}"
    )


def _same_ranking(found: Sequence[Valued], name: str) -> BoolArray:
    return np.array(
        [v.comparison[CRITERIA[0]].ranking() == v.comparison[name].ranking() for v in found]
    )


def _alike(found: Sequence[Valued]) -> tuple[BoolArray, FloatArray]:
    from scipy.stats import spearmanr

    ranks = [
        spearmanr(np.stack([v.comparison[k].values for k in CRITERIA], axis=1)).statistic
        for v in found
    ]
    table = _errors(found)
    return np.array([np.min(each) > judge.ALIKE for each in ranks]), table.max(axis=1) / table.min(
        axis=1
    )


def _means(found: Sequence[Valued]) -> FloatArray:
    return np.array([[plotted(v.curves[name]) for name in CRITERIA] for v in found])


def _index_means(found: Sequence[Valued], way: str) -> FloatArray:
    held = [getattr(v, way) for v in found]
    return np.array([plotted(each if way == "chance" else each[CRITERIA[0]]) for each in held])


def _equal_points(
    found: Sequence[Valued], curves: Mapping[str, FloatArray]
) -> dict[str, tuple[int, int, int]]:
    """By problem how many published points the right and the mirrored order hit, of how many."""
    hits = {}
    for v in (v for v in found if v.is_papers):
        points = {k: curves.get(f"{v.problem.name}/{PUBLISHED[k]}") for k in CRITERIA}
        counted = np.zeros(3, dtype=int)
        for name, point in points.items():
            if point is not None:
                right, mirrored = (
                    np.abs(100 * c[: len(point)] - point) < 0.01 for c in v.drawn[name]
                )
                counted += [right.sum(), mirrored.sum(), len(point)]
        if counted[2]:
            hits[v.problem.name] = tuple(counted.tolist())
    return hits


def _kmeans(found: Sequence[Valued]) -> dict[str, tuple[bool, int, int]]:
    clustered = [v for v in found if v.problem.grouping == "kmeans"]
    return {
        f"{v.problem.title}{'' if v.is_papers else ', split ' + v.split}":
        (v.is_papers, int(v.group_sizes.min()), int(v.group_sizes.max()))
        for v in clustered
    }  # fmt: skip


def _single(run: Run) -> tuple[FloatArray, FloatArray, FloatArray]:
    """What the paper's .5 for single groups does to its decoupling errors."""
    problem, held = PROBLEMS[SINGLES], run.published(SINGLES)
    if held is not None:
        split, table = papers_split(held), held["worths"]
    else:
        split = own_split(problem, problem.few if run.quick else problem.players, run.seed)
        table = all_splits(problem, run)[0].table
    fitted = singles_fitted(split, table)
    ruled, true = (
        ff.compare(ff.TableGame(each), criteria=CRITERIA, temperature=problem.temperature)
        for each in (table, fitted)
    )
    alone = fitted[rows_of(np.eye(len(np.unique(split.groups)), dtype=bool))]
    both = (np.array([float(c[name].decoupling_error) for name in CRITERIA]) for c in (ruled, true))
    return alone, *both


def _table(found: Sequence[Valued]) -> Table:
    head = ("problem", "players", "split", "T", "criterion", "decoupling error",
            "mean accuracy, right order", "mirrored", "random order")  # fmt: skip
    rows = [
        (
            v.problem.name, len(v.comparison[name].players), v.split, v.problem.temperature, name, v.errors[name],
            plotted(v.curves[name]), plotted(v.mirrored[name]), plotted(v.chance),
        )
        for v in found
        for name in CRITERIA
    ]  # fmt: skip
    return Table(head, rows)


def _own(found: Sequence[Valued]) -> Table:
    """Means over our own splits, which are on the page."""
    rows = []
    for problem in dict.fromkeys(v.problem for v in found):
        own = [v for v in found if v.problem is problem and not v.is_papers]
        means = 100 * _means(own)
        least = means <= means.min(axis=1, keepdims=True) + 1e-9
        for k, name in enumerate(CRITERIA):
            mirrored = [100 * plotted(v.mirrored[name]) for v in own]
            chance = [100 * plotted(v.chance) for v in own]
            rows.append((
                problem.title, name, spread([v.errors[name] for v in own]), f"{means[:, k].mean():.2f}",
                share(least[:, k]), f"{np.mean(mirrored):.2f}", f"{np.mean(chance):.2f}",
            ))  # fmt: skip
    head = ("problem", "criterion", "decoupling error", "mean accuracy in %, right order", "lowest in",
            "mirrored", "random order")  # fmt: skip
    return Table(head, rows, "Our own splits: errors, and accuracy over the first 75 % of removals")


def _points(found: Sequence[Valued], curves: Mapping[str, FloatArray]) -> Table:
    """Every published point beside ours, in right and in mirrored order."""
    rows = [
        (v.problem.name, name, k, 100 * v.drawn[name][0][k], 100 * v.drawn[name][1][k], point)
        for v in found
        for name in CRITERIA
        if v.is_papers
        for k, point in enumerate(curves.get(f"{v.problem.name}/{PUBLISHED[name]}", ()))
    ]
    return Table(("problem", "criterion", "removed", "right order", "mirrored", "published"), rows)


def draw(found: Sequence[Valued], curves: Mapping[str, FloatArray]) -> Figure:
    """The paper's figure: a panel for each problem."""
    from matplotlib.figure import Figure

    from fairfield.plots.canvas import PALE, SERIES

    problems = list(dict.fromkeys(v.problem for v in found))
    rows = 1 if len(problems) < 4 else 2
    columns = -(-len(problems) // rows)
    figure = Figure(figsize=(4.4 * columns, 3.5 * rows), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).T.ravel()
    for ax in axes[len(problems) :]:
        ax.set_axis_off()
    for ax, problem in zip(axes, problems, strict=False):
        here = [v for v in found if v.problem is problem]
        shown = [v for v in here if v.is_papers] or here
        count = len(shown[0].chance) - 1
        at = np.arange(count * 3 // 4)

        def mean(held: Any, at: Any = at) -> Any:
            return 100 * np.mean(held, axis=0)[: len(at)]

        ax.plot(
            at,
            mean([v.chance for v in shown]),
            color=PALE,
            linewidth=4,
            zorder=0,
            label="random order",
        )
        for name, colour in zip(CRITERIA, SERIES, strict=False):
            error = np.mean([v.errors[name] for v in shown])
            ax.plot(
                at, mean([v.curves[name] for v in shown]), color=colour, label=f"{name} {error:.7f}"
            )
            ax.plot(
                at,
                mean([v.drawn[name][1] for v in shown]),
                color=colour,
                linestyle="--",
                linewidth=0.8,
            )
            point = curves.get(f"{problem.name}/{PUBLISHED[name]}")
            if point is not None and shown[0].is_papers:
                ax.plot(at, point, "x", color=colour, markersize=5)
        ax.legend(frameon=False, fontsize=7)
        whose = "authors' split" if shown[0].is_papers else f"mean of {len(shown)} splits"
        ax.set_title(
            f"{problem.title}\n{count} players, T = {problem.temperature}, {whose}", fontsize=9
        )
        ax.set(xlabel="players removed", ylabel="test accuracy in %")
        ax.spines[["top", "right"]].set_visible(False)
    return figure
