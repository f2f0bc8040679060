"""Draws docs/charts.md from RESULTS.md, how long each peer takes beside fairfield; fills in README.md.

Run by ``make bench`` at its end, or with ``python benchmarks/charts.py``; look at what it drew.
"""

import re
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "charts.md"
README = HERE.parent / "README.md"
COLOURS = {
    "shap": "#D55E00", "shapiq": "#0072B2", "woodelf": "#009E73", "pyDVL": "#CC79A7",
    "the library's own": "#E69F00",
}  # fmt: skip
MARKERS = dict(zip(COLOURS, "osD^v", strict=True))
INTRODUCTION = """# Beside other libraries

Drawn by `python benchmarks/charts.py`, the last step of `make bench`, from the
[measurements](../benchmarks/RESULTS.md); every comparison there is here, lost ones too. A dot is the time that
a library took for the same answer, in times of ours: right of the line it took longer.
"""
HEADS = {
    "Trees": "Tree models",
    "Feature values of black boxes": "Black boxes, all coalitions of features",
    "The exact table engine": "Tables of all worths",
    "Nearest neighbours of other libraries": "Nearest neighbours",
    "Data valuation": "Training data, one process",
}


class Case(NamedTuple):
    """What was computed, and how long each peer took, in times of ours."""

    name: str
    times: dict[str, float]


def compared(results: str) -> dict[str, list[Case]]:
    """The comparisons with peers in RESULTS.md, by the page they are on."""
    found: dict[str, list[Case]] = defaultdict(list)
    for part in re.split(r"^(?=# )", results, flags=re.MULTILINE):
        head = part.partition("\n")[0].removeprefix("# ")
        for title, row in rows(part):
            name, times = f"{title}: {next(iter(row.values()))}", {}
            if "others" in row:
                name, ours = row["cell"], float(row["fairfield"])
                for peer, its in re.findall(r"([a-z' ]+?) ([\d.]+) \(", row["others"]):
                    times[peer.strip()] = float(its) / ours
            elif "shapiq s" in row:
                name = f"Shapley values of {row['n']} players"
                times["shapiq"] = 1000 * float(row["shapiq s"]) / float(row["fairfield ms"])
            elif row.get("÷ ours", "").endswith("×"):
                size, _, points = row["rows × test points"].partition(" × ")
                name = f"{title.partition(',')[0]}, {size} rows × {points} test points"
                times[row["library"]] = float(row["÷ ours"].removesuffix("×"))
            elif "shap.Exact ms" in row:
                times["shap"] = float(row["shap.Exact ms"]) / float(row["ours ms"])
            same = found[head][-1] if found[head] else None  # a row for each peer
            if times and same and same.name == name:
                same.times.update(times)
            elif times:
                found[head].append(Case(name, times))
        exact = re.findall(r"^\| (fairfield|pyDVL), exact .*\| ([\d.]+) s \|$", part, re.MULTILINE)
        if len(exact) == 2:
            seconds = {name: float(took) for name, took in exact}
            ratio = seconds["pyDVL"] / seconds["fairfield"]
            found[head].append(Case("Shapley values of 12 groups of rows", {"pyDVL": ratio}))
    return {head: cases for head, cases in found.items() if cases}


def rows(text: str) -> list[tuple[str, dict[str, str]]]:
    """The rows of all tables as dicts, each with the title of its table."""
    found, title, head = [], "", None
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("### "):
            title = re.split(r"[:,(]", line[4:])[0].strip()
        if not line.startswith("|"):
            head = None
        elif head is None:
            head = cells
        elif not set(line) <= set("|-"):
            found.append((title, dict(zip(head, cells, strict=False))))
    return found


def page(found: dict[str, list[Case]]) -> str:
    """The page: a picture of each part, and in how many cases a peer was faster."""
    parts = [INTRODUCTION]
    for head, cases in found.items():
        every = [(each, case.name, times) for case in cases for each, times in case.times.items()]
        lost = [f"{each} on {name} ({times:.2g} ×)" for each, name, times in every if times < 1]
        said = f"{len(every)} comparisons" if len(every) > 1 else "One comparison"
        said += f"; faster than ours: {'; '.join(lost)}." if lost else ", none faster than ours."
        title = HEADS.get(head, head)
        parts.append(f"## {title}\n\n{said}\n\n![{title}: times of peers](images/{_file(head)})\n")
    return "\n".join(parts)


def readme(text: str, results: str) -> str:
    """README.md with the figures of RESULTS.md: its table of speed, and how long importing takes."""
    found = [{"title": title, **row} for title, row in rows(results)]

    def row(**cells: str) -> dict[str, str]:
        """The first row that has these cells."""
        return next(each for each in found if cells.items() <= each.items())

    def peer(name: str) -> str:
        return f"{name} {re.search(rf'{name} ([0-9]+[.][0-9]+)', results)[1]}"

    table = next(each for each in found if "shapiq s" in each and each["n"] == "16")
    box = next(each for each in found if "shap.Exact rows" in each and each["model"] == "xgboost")
    trees = row(cell="20000 rows, 20000 background rows, XGBoost, depth 6, 30 features, Shapley")
    woodelf = re.search(r"woodelf (\d+)", trees["others"])[1]
    knn = {"title": "KNN-Shapley", "rows × test points": "10,000 × 100"}
    neighbours = [row(**knn, library=each)["seconds"] for each in ("fairfield", "pyDVL")]
    lines = [
        "| the same answer | fairfield | peer | command |",
        "|---|---|---|---|",
        f"| Shapley, table of 16 players | {table['fairfield ms']} ms | {table['shapiq s']} s "
        f"({peer('shapiq')}) | `python benchmarks/exact.py` |",
        "| features of a prediction, XGBoost as a black box, 12 features, 100 background rows | "
        f"{box['ours ms']} ms | {box['shap.Exact ms']} ms ({peer('shap')} Exact) | "
        "`python benchmarks/features.py` |",
        "| Shapley values of boosted trees, 20 000 rows × 20 000 background rows, per row | "
        f"{trees['fairfield']} µs | {woodelf} µs (woodelf) | `python benchmarks/trees.py cells` |",
        f"| KNN-Shapley, 10 000 × 100, processor seconds | {neighbours[0]} s | {neighbours[1]} s "
        f"({peer('pyDVL')}) | `python benchmarks/neighbor_peers.py` |",
        "",
        "Of 24 players, on one core, one Shapley takes the time of "
        f"{row(n='24', task='Shapley')['× table.sum()']} sums of the table of 2^24 worths, the gradient "
        f"{row(n='24', task='gradient')['× table.sum()']}.",
        "",
    ]
    start = text.index(lines[0])
    text = text[:start] + "\n".join(lines) + text[text.index("\n## ", start) :]
    imports = [each for each in found if each.get("task") == "import fairfield"]
    if not imports:
        return text
    took = format(float(imports[0]["s beyond Python's own"]), ".2f")
    return re.sub(r"(?<=`import fairfield` takes )[\d.]+", took, text)


def _file(head: str) -> str:
    return f"bench-{re.sub(r'[^a-z]+', '-', head.lower())}.svg"


def draw(cases: list[Case], path: Path) -> None:
    """Dots on a logarithmic axis, a line for each case."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams |= {"svg.fonttype": "none", "svg.hashsalt": "fairfield"}
    import matplotlib.pyplot as plt

    fig, ax = plt.subplots(figsize=(9.5, 1.2 + 0.24 * len(cases)), layout="constrained")
    for place, case in enumerate(reversed(cases)):
        ax.axhline(place, color="#DDDDDD", linewidth=0.7, zorder=0)
        for peer, times in case.times.items():
            ax.plot(times, place, MARKERS[peer], color=COLOURS[peer], label=peer, markersize=6)
    ax.axvline(1, color="black", linewidth=1)
    ax.set(xscale="log", xlabel="times as long as fairfield", ylim=(-0.7, len(cases) - 0.3))
    left, right = ax.get_xlim()
    ax.set_xlim(min(left, 0.8), max(right, 20))
    ax.set_yticks(range(len(cases)), [case.name for case in reversed(cases)], fontsize=8)
    ax.xaxis.set_major_formatter("{x:,g}")  # 1, 10, 100 in place of powers
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    known = dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True))
    fig.legend(
        known.values(),
        known,
        fontsize=8,
        loc="outside upper right",
        ncols=len(known),
        frameon=False,
    )
    fig.savefig(path, metadata={"Date": None})
    plt.close(fig)


def main() -> None:
    results = (HERE / "RESULTS.md").read_text(encoding="utf-8")
    found = compared(results)
    for head, cases in found.items():
        draw(cases, PAGE.parent / "images" / _file(head))
    PAGE.write_text(page(found), encoding="utf-8")
    try:
        filled = readme(README.read_text(encoding="utf-8"), results)
    except (LookupError, StopIteration, TypeError):
        print("README.md stays as it is: not all that it shows was measured")
    else:
        README.write_text(filled, encoding="utf-8")


if __name__ == "__main__":
    main()
