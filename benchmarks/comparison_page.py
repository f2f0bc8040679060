"""The page of the public comparison: tables, pictures, and sentences read off the numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from comparison_cases import SETS
from comparison_scores import SHARES, TASKS, Method, Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LIBRARIES = {"fairfield": "fairfield", "pyDVL": "pyDVL", "baseline": ""}
COLORS = {"fairfield": "#0d8a7d", "pyDVL": "#c2571a", "baseline": "#6b6f76"}
CHANCE: Method = ("baseline", "random order", 0)
MARGINS: Method = ("baseline", "out-of-fold margins", 10)
NEIGHBORS: dict[str, Method] = {
    name: ("fairfield", f"neighbours, {name}", 0) for name in ("Shapley", "Banzhaf", "index")
}
CLUSTERS: dict[str, Method] = {
    name: ("fairfield", f"{name} of clusters", 500) for name in ("Shapley", "Banzhaf", "index")
}
# Curves that are drawn: few enough to be told apart.
DRAWN: tuple[Method, ...] = (
    NEIGHBORS["Shapley"],
    NEIGHBORS["index"],
    ("fairfield", "leave-one-out", 0),
    ("fairfield", "Banzhaf", 500),
    ("pyDVL", "TMC-Shapley", 500),
    MARGINS,
    CHANCE,
)
HEADINGS = {
    "labels: found": "Wrong labels: the share of them among the lowest tenth",
    "labels: average precision": "Wrong labels: average precision",
    "removal, best first": "The best leave first: mean test accuracy while up to half leave (low is good)",
    "removal, worst first": "The worst leave first: mean test accuracy while up to half leave",
    "addition, best first": "The best come first: mean test accuracy of the first 5 to 50 %",
    "shift: found": "Rows of a shifted source: the share of them among the lowest fifth",
    "shift: average precision": "Rows of a shifted source: average precision",
}


def label(method: Method) -> str:
    library, name, fits = method
    spent = f", {fits} fits" if fits else ""
    return f"{LIBRARIES[library]} {name}{spent}".strip()


def number(value: float) -> str:
    """To three digits, without a leading 0."""
    return f"{value:.3f}".replace("0.", ".", 1)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(line) + " |" for line in lines]


def task_table(results: Results, task: str) -> list[str]:
    """Every method with its mean place and its mean score, the best place first."""
    ranks = results.ranks(task)
    rows = []
    for method in sorted(ranks, key=lambda each: (ranks[each], each)):
        mean, width = results.mean(task, method)
        library, name, _ = method
        fits = f"{results.fits[method]:.0f}"
        rows.append(
            [name, LIBRARIES[library], fits, f"{ranks[method]:.1f}", f"{number(mean)} ± {number(width)}"]
        )  # fmt: skip
    return table(["method", "library", "fits", "mean place", "mean score"], rows)


def compared(results: Results, task: str, first: Method, second: Method) -> str:
    """How the first did beside the second, in words that the interval over seeds allows."""
    ahead, width = results.ahead(task, first, second)
    gap = f"{number(abs(ahead))} ± {number(width)}"
    if abs(ahead) <= width:
        return f"not to be told from it ({'+' if ahead >= 0 else '−'}{gap})"
    return f"{'better' if ahead > 0 else 'worse'} by {gap}"


def best(results: Results, task: str) -> tuple[list[Method], list[Method]]:
    """Methods by their mean score, the best first; and those the best is not told apart from."""
    sign = 1 if TASKS[task][1] else -1
    order = sorted(results.scores[task], key=lambda each: -sign * results.mean(task, each)[0])
    near = []
    for each in order[1:]:
        ahead, width = results.ahead(task, order[0], each)
        if ahead <= width:
            near.append(each)
    return order, near


def verdict(results: Results, task: str) -> str:
    """Who is best at a task, and who is as good as far as the seeds tell."""
    order, near = best(results, task)
    mean, width = results.mean(task, order[0])
    text = f"best is {label(order[0])} ({number(mean)} ± {number(width)})"
    if near:
        text += "; not to be told from it: " + ", ".join(map(label, near))
    chance = number(results.mean(task, CHANCE)[0])
    return f"{text}. A random order has {chance}."


def criteria_table(results: Results, family: dict[str, Method]) -> list[str]:
    """Index and Banzhaf beside Shapley, of the same worths, at every task."""
    rows = []
    for task in TASKS:
        if all(method in results.scores[task] for method in family.values()):
            shapley = number(results.mean(task, family["Shapley"])[0])
            others = [
                compared(results, task, family[name], family["Shapley"])
                for name in ("Banzhaf", "index")
            ]
            rows.append([task, shapley, *others])
    return table(["task", "Shapley", "Banzhaf is", "index is"], rows)


def by_set(results: Results, task: str, methods: Sequence[Method]) -> list[str]:
    """The mean score of some methods on every data set, over seeds."""
    areas = results.areas(task)
    shown = [method for method in methods if method in areas]
    rows = [
        [name, str(SETS[name][0]), *(number(areas[method][:, k].mean()) for method in shown)]
        for k, name in enumerate(results.sets)
    ]
    return table(["data set", "rows", *map(label, shown)], rows)


def cost_table(results: Results) -> list[str]:
    rows = [
        [name, LIBRARIES[library], f"{results.fits[library, name, fits]:.0f}",
         f"{results.seconds[library, name, fits]:.2g}"]
        for library, name, fits in sorted(results.seconds, key=results.seconds.__getitem__)
    ]  # fmt: skip
    return table(["method", "library", "fits", "processor s"], rows)


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
                axes.errorbar(mean, place, xerr=width, fmt="o", color=COLORS[method[0]], ms=4)
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
    """What is found over what it costs."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.6), layout="constrained")
    axes, task = figure.subplots(), "labels: found"
    for method in results.scores[task]:
        x, y = max(results.seconds[method], 1e-3), results.mean(task, method)[0]
        axes.plot(x, y, "o", color=COLORS[method[0]], ms=5)
        axes.annotate(label(method), (x, y), (4, 3), textcoords="offset points", fontsize=6.5)
    axes.set(xscale="log", xlabel="processor seconds of a valuation", ylabel="wrong labels found")
    axes.grid(alpha=0.3)
    return figure


def save(figure: Figure, path: Path) -> None:
    """A picture that is the same file whenever it is drawn from the same numbers."""
    import matplotlib as mpl

    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "comparison"}), StringIO() as text:
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
        path.write_text(text.getvalue(), encoding="utf-8")


def told(results: Results, task: str, first: Method, second: Method) -> str:
    """A sentence on two methods at one task."""
    better = compared(results, task, first, second)
    return f"{label(first)} is, beside {label(second)}, {better}"


def lost(results: Results) -> list[str]:
    """Where the best of ours is worse than the best of the others, by more than the interval."""
    lines = []
    for task in TASKS:
        order = best(results, task)[0]
        ours = next(method for method in order if method[0] == "fairfield")
        other = next(method for method in order if method[0] != "fairfield")
        lines.append(f"- *{task}*: of ours {told(results, task, ours, other)}.")
    return lines


def body(results: Results) -> list[str]:
    """All that is read off the numbers."""
    lines = [
        f"{len(results.sets)} data sets, {results.seeds} seeds. Scores are means over data sets, ± the half-width",
        "of their 95 % interval over seeds; *better* and *worse* below mean beyond that of the paired difference.",
        "",
        "## What was found",
        "",
        *(f"- *{task}*: {verdict(results, task)}" for task in TASKS),
        "",
        "The best of ours beside the best of the others, won or lost:",
        "",
        *lost(results),
        "",
        "![What each method finds among the lowest](images/comparison/found.svg)",
        "",
        "![Test accuracy as rows leave and come](images/comparison/curves.svg)",
        "",
        "## Shapley, Banzhaf or the index",
        "",
        "The three criteria on the same worths, of nearest neighbours, exact:",
        "",
        *criteria_table(results, NEIGHBORS),
        "",
        "and of the refitted model, 8 clusters of rows as players, exact; a row has the value of its cluster:",
        "",
        *criteria_table(results, CLUSTERS),
        "",
    ]
    for task in TASKS:
        lines += [f"## {HEADINGS[task]}", "", *task_table(results, task), ""]
    shown = (NEIGHBORS["Shapley"], NEIGHBORS["index"], ("fairfield", "leave-one-out", 0), MARGINS,
             ("pyDVL", "TMC-Shapley", 500), ("pyDVL", "Data-OOB", 500), CHANCE)  # fmt: skip
    lines += ["## Data set by data set", "", "Wrong labels found among the lowest tenth:", ""]
    lines += [*by_set(results, "labels: found", shown), ""]
    lines += [
        "## What it costs",
        "",
        "Mean processor seconds of one valuation, the only numbers on this page",
    ]
    lines += ["that a second run does not repeat.", "", *cost_table(results), ""]
    return [*lines, "![What is found over what it costs](images/comparison/costs.svg)", ""]


def write(results: Results, docs: Path) -> None:
    """The page and its pictures."""
    pictures = docs / "images" / "comparison"
    pictures.mkdir(parents=True, exist_ok=True)
    for name, draw in (("found", draw_scores), ("curves", draw_curves), ("costs", draw_costs)):
        save(draw(results), pictures / f"{name}.svg")
    page = docs / "data-comparison.md"
    start, end = "<!-- numbers -->", "<!-- end of numbers -->"
    before, _, rest = page.read_text(encoding="utf-8").partition(start)
    after = rest.partition(end)[2]
    text = "\n".join([f"{before}{start}", "", *body(results), f"{end}{after}"])
    page.write_text(text, encoding="utf-8")
