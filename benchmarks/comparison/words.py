"""How the page of the public comparison names methods and says what their scores allow to be said."""

from __future__ import annotations

from benchmarks.comparison.scores import TASKS, Method, Results

LIBRARIES = {"fairfield": "fairfield", "pyDVL": "pyDVL", "baseline": ""}
CHANCE: Method = ("baseline", "random order", 0)
MARGINS: Method = ("baseline", "out-of-fold margins", 10)
NEIGHBORS: dict[str, Method] = {
    name: ("fairfield", f"neighbours, {name}", 0) for name in ("Shapley", "Banzhaf", "index")
}
CLUSTERS: dict[str, Method] = {
    name: ("fairfield", f"{name} of clusters", 500) for name in ("Shapley", "Banzhaf", "index")
}
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


def scored(results: Results, task: str, method: Method) -> str:
    """A mean score, with its interval where there are seeds enough for one."""
    mean, width = results.mean(task, method)
    return f"{number(mean)} ± {number(width)}" if results.enough else number(mean)


def compared(results: Results, task: str, first: Method, second: Method) -> str:
    """How the first did beside the second, in words that the interval over seeds allows."""
    ahead, width = results.ahead(task, first, second)
    sign = "+" if ahead >= 0 else "−"
    if not results.enough:
        return f"{sign}{number(abs(ahead))}"
    gap = f"{number(abs(ahead))} ± {number(width)}"
    if abs(ahead) <= width:
        return f"not told apart ({sign}{gap})"
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
