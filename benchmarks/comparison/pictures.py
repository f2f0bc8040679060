"""The pictures of the public comparison."""

from __future__ import annotations

from io import StringIO
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.comparison.scores import SHARES, Method, Results
from benchmarks.comparison.words import CHANCE, LIBRARIES, MARGINS, NEIGHBORS, best, label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Point = tuple[float, float]
COLORS = {"fairfield": "#0d8a7d", "pyDVL": "#c2571a", "baseline": "#6b6f76"}
ONE_OUT: Method = ("fairfield", "leave-one-out", 0)
# Curves that are drawn: few enough to be told apart.
DRAWN: tuple[Method, ...] = (
    NEIGHBORS["Shapley"],
    NEIGHBORS["index"],
    ONE_OUT,
    ("fairfield", "Banzhaf", 500),
    ("pyDVL", "TMC-Shapley", 500),
    MARGINS,
    CHANCE,
)


def draw_scores(results: Results) -> Figure:
    """What each method finds, with its interval: wrong labels left, shifted rows right."""
    from matplotlib.figure import Figure

    tasks = ("labels: found", "shift: found")
    order = best(results, tasks[0])[0][::-1]
    figure = Figure(figsize=(8, 0.26 * len(order) + 1), layout="constrained")
    for axes, task in zip(figure.subplots(1, 2, sharey=True), tasks, strict=True):
        for place, method in enumerate(order):
            if method in results.scores[task]:
                mean, width = results.mean(task, method)
                around = width if results.enough else None
                axes.errorbar(mean, place, xerr=around, fmt="o", color=COLORS[method[0]], ms=4)
        axes.axvline(results.mean(task, CHANCE)[0], color="#bbbbbb", lw=1, zorder=0)
        axes.set(title=task, xlabel="share found among the lowest", xlim=(0, 1))
        axes.set_yticks(range(len(order)), [label(method) for method in order], fontsize=8)
        axes.grid(axis="x", alpha=0.3)
    return figure


def draw_curves(results: Results) -> Figure:
    """Mean test accuracy over data sets and seeds, along the three orders."""
    from matplotlib.figure import Figure

    tasks = ("removal, best first", "removal, worst first", "addition, best first")
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    for axes, task in zip(figure.subplots(1, 3), tasks, strict=True):
        for place, method in enumerate(each for each in DRAWN if each in results.scores[task]):
            points = results.scores[task][method].mean(axis=(0, 1))
            axes.plot(100 * SHARES, points, lw=1.6, color=f"C{place}", label=label(method),
                      ls=":" if method == CHANCE else "-")  # fmt: skip
        axes.set(title=task, xlabel=f"% of rows {'added' if 'addition' in task else 'removed'}")
        axes.grid(alpha=0.3)
    figure.axes[0].set_ylabel("test accuracy")
    handles, names = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=3, fontsize=8, frameon=False)
    return figure


def draw_costs(results: Results) -> Figure:
    """What is found over what it costs; those of the curves are named."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.6), layout="constrained")
    axes, task = figure.subplots(), "labels: found"
    points = {
        method: (max(results.seconds[method], 1e-3), results.mean(task, method)[0])
        for method in results.scores[task]
    }
    for method, point in points.items():
        axes.plot(*point, "o", color=COLORS[method[0]], ms=5)
    for library, color in COLORS.items():
        axes.plot([], [], "o", color=color, label=LIBRARIES[library] or "baselines")
    axes.legend(frameon=False, loc="center left")
    axes.set(xscale="log", xlabel="processor seconds of a valuation", ylabel="wrong labels found")
    axes.set_xlim(1e-4, 100)
    axes.grid(alpha=0.3)
    name_points(axes, {label(each): points[each] for each in points if each in DRAWN}, points)
    return figure


def name_points(axes: Axes, named: dict[str, Point], points: dict[Method, Point]) -> None:
    """Names beside their points, each in the first place where it touches no name and no point."""
    from matplotlib.transforms import Bbox

    axes.figure.draw_without_rendering()  # before that, nothing has its place
    taken = [
        Bbox.from_bounds(x - 4, y - 4, 8, 8)
        for x, y in axes.transData.transform(list(points.values()))
    ]
    for text, point in sorted(named.items(), key=lambda each: each[1]):
        note = axes.annotate(
            text, point, (0, 0), textcoords="offset points", fontsize=8, va="center"
        )
        for up, right in product((0, 9, -9, 18, -18, 27, -27), (6, -6)):
            note.set(position=(right, up), ha="left" if right > 0 else "right")
            if not note.get_window_extent().count_overlaps(taken):
                break
        taken.append(note.get_window_extent())
        if up:
            line = {"arrowstyle": "-", "lw": 0.5, "color": "#999999"}
            axes.annotate("", point, (right, up), textcoords="offset points", arrowprops=line)


def save(figure: Figure, path: Path) -> None:
    """A picture that is the same file whenever it is drawn from the same numbers."""
    import matplotlib as mpl

    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "comparison"}), StringIO() as text:
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
        path.write_text(text.getvalue(), encoding="utf-8")
