"""The page of the public comparison: tables, pictures, and sentences read off the numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks.comparison.cases import SETS
from benchmarks.comparison.pictures import draw_costs, draw_curves, draw_scores, save
from benchmarks.comparison.scores import TASKS, Method, Results
from benchmarks.comparison.words import (
    CHANCE,
    CLUSTERS,
    HEADINGS,
    LIBRARIES,
    MARGINS,
    NEIGHBORS,
    best,
    compared,
    label,
    number,
    scored,
)

INTERVALS = (
    "Scores are means over data sets, ± the half-width of their 95 % interval over seeds; *better* and "
    "*worse* mean that the interval of the paired difference is on one side of 0."
)
TOO_FEW = (
    "**This is the quick run**: seeds are too few for intervals, so scores are means alone, and small "
    "differences mean nothing."
)
# So many of those that are as good as the best are named.
NAMED = 4


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(line) + " |" for line in lines]


def task_table(results: Results, task: str) -> list[str]:
    """Every method with its mean place and its mean score, the best place first."""
    ranks = results.ranks(task)
    rows = []
    for method in sorted(ranks, key=lambda each: (ranks[each], each)):
        library, name, _ = method
        fits, place = f"{results.fits[method]:.0f}", f"{ranks[method]:.1f}"
        rows.append([name, LIBRARIES[library], fits, place, scored(results, task, method)])
    return table(["method", "library", "fits", "mean place", "mean score"], rows)


def verdict(results: Results, task: str) -> str:
    """Who is best at a task, and who is as good as far as the seeds tell."""
    order, near = best(results, task)
    text = f"best is {label(order[0])}, {scored(results, task, order[0])}"
    if results.enough and near:
        others = "; ".join(map(label, near[:NAMED]))
        more = f" and {len(near) - NAMED} more" if len(near) > NAMED else ""
        text += f" (not told apart from it: {others}{more})"
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


def advice(results: Results) -> list[str]:
    """Which criterion at which task: three of them on neighbours, the best refits, the baseline."""
    rows, won = [], {"better": [], "worse": [], "not": []}
    for task in TASKS:
        order = best(results, task)[0]
        refit = next(each for each in order if each[0] != "baseline" and results.fits[each] > 0)
        methods = [*NEIGHBORS.values(), refit, MARGINS, CHANCE]
        cells = [number(results.mean(task, each)[0]) for each in methods]
        cells[3] += f" {label(refit)}"
        rows.append([task, *cells])
        rival = next(each for each in order if each in (NEIGHBORS["Shapley"], NEIGHBORS["Banzhaf"]))
        if results.enough:
            word = compared(results, task, NEIGHBORS["index"], rival).split()[0]
            won[word].append(task)
    head = ["task", "Shapley", "Banzhaf", "index", "best of the refitted", "out-of-fold margins, 10 fits",
            "random order"]  # fmt: skip
    said = {"better": "better than", "worse": "worse than", "not": "not told apart from"}
    lines = [
        f"- The index of nearest neighbours is {said[word]} the better of Shapley and Banzhaf at: {', '.join(tasks)}."
        for word, tasks in won.items()
        if tasks
    ]
    few = "" if results.enough else " Too few for intervals: small differences mean nothing."
    told = f"{len(results.sets)} data sets and {results.seeds} seeds"
    exact = "the first three are of nearest neighbours, exact"
    return [*table(head, rows), "", f"Means over {told}; {exact}.{few}", "", *lines]


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


def told(results: Results, task: str, first: Method, second: Method) -> str:
    """A sentence on two methods at one task."""
    better = compared(results, task, first, second)
    return f"{label(first)}, beside {label(second)}: {better}"


def beside(results: Results) -> list[str]:
    """The best of ours beside the best of the others, at every task."""
    lines = []
    for task in TASKS:
        order = best(results, task)[0]
        ours = next(method for method in order if method[0] == "fairfield")
        other = next(method for method in order if method[0] != "fairfield")
        lines.append(f"- *{task}*: {told(results, task, ours, other)}.")
    return lines


def left_out(results: Results) -> list[str]:
    """Which methods are not shown, because not all of their cases were computed."""
    names = "; ".join(f"{label(method)} ({kind})" for kind, method in results.unfinished)
    return [f"Left out, because not all of their cases were computed: {names}."] if names else []


def body(results: Results) -> list[str]:
    """All that is read off the numbers."""
    lines = [
        f"{len(results.sets)} data sets, {results.seeds} seeds. {INTERVALS if results.enough else TOO_FEW}",
        *left_out(results),
        "",
        "## What was found",
        "",
        *(f"- *{task}*: {verdict(results, task)}" for task in TASKS),
        "",
        "The best of ours beside the best of the others, won or lost:",
        "",
        *beside(results),
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
        "and of the refitted model with 8 clusters of rows as players, exact; a row has the value of its cluster:",
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


def filled(text: str, mark: str, lines: Sequence[str]) -> str:
    """A page with what stands between two marks replaced."""
    start, end = f"<!-- {mark} -->", f"<!-- end of {mark} -->"
    before, found, rest = text.partition(start)
    if not found or end not in rest:
        raise ValueError(f"the page has no marks {start} and {end}; put them where the numbers go")
    return "\n".join([f"{before}{start}", "", *lines, f"{end}{rest.partition(end)[2]}"])


def write(results: Results, docs: Path) -> None:
    """The page with its pictures, and the parts of other pages that quote it."""
    pictures = docs / "images" / "comparison"
    pictures.mkdir(parents=True, exist_ok=True)
    for name, draw in (("found", draw_scores), ("curves", draw_curves), ("costs", draw_costs)):
        save(draw(results), pictures / f"{name}.svg")
    parts = {
        "data-comparison.md": body(results),
        "criteria.md": [*advice(results), ""],
        "beyond-the-paper.md": [*advice(results), ""],
    }
    for name, lines in parts.items():
        page = docs / name
        text = filled(page.read_text(encoding="utf-8"), "comparison", lines)
        page.write_text(text, encoding="utf-8")
