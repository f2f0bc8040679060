"""The paper's claims about features on Adult, each beside what is found here.

    FAIRFIELD_DATA=folder python benchmarks/adult.py [--rows 200] [--figures folder]

Without the data set (a file, or a network) it says so and stops.
"""

import argparse
import warnings

import numpy as np
from measure import show

from fairfield.paper import features as paper
from fairfield.paper.adult import MODELS, load_adult

warnings.filterwarnings("ignore", message="Stochastic Optimizer: Maximum iterations")
WITH_SHARES = (
    "model",
    *(f"{name}, {what}" for name in paper.CRITERIA for what in ("mean", "lowest")),
)


def beside(model: str, means: dict[str, float], shares: dict[str, float]) -> list[str]:
    """A line of means and of the shares of rows in which a criterion has the lowest."""
    cells = [(f"{means[name]:.4f}", f"{shares[name]:.1%}") for name in paper.CRITERIA]
    return [model, *(cell for pair in cells for cell in pair)]


def ranked(study: paper.Study, label: bool) -> list[list[object]]:
    """Average rankings side by side, bold where the criteria differ."""
    lists = [study.ranking(name, label) for name in paper.CRITERIA]
    lines: list[list[object]] = []
    for place, cells in enumerate(zip(*lists, strict=True), start=1):
        mark = "**" if len({name for name, _ in cells}) > 1 else ""
        lines.append([place, *(f"{mark}{name}{mark} ({mean:+.3f})" for name, mean in cells)])
    return lines


def converged(study: paper.Study, reading: str) -> list[list[str]]:
    """The paper's line, and the median and the mean over the rows beside it."""
    found = study.convergence(reading)
    row, factor = study.nearest(reading)
    lines = {
        "paper": paper.PAPER_CONVERGENCE[study.model],
        "median here": np.median(found, axis=1),
        "mean here": found.mean(axis=1),
    }
    table = [
        [f"{study.model}, {what}", *(f"{v:.2e}" for v in line)] for what, line in lines.items()
    ]
    return [[*table[0], ""], [*table[1], f"row {row}, {factor:.3g}"], [*table[2], ""]]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, default=200)
    options.add_argument("--data", default=None)
    options.add_argument("--figures", default=None)
    given = options.parse_args()
    print("# The paper's feature study on Adult")
    try:
        X, y = load_adult(given.data)
    except (OSError, ValueError) as reason:
        print(f"\nAdult could not be loaded: {reason}")
        return
    rows = paper.sample_rows(y, given.rows)
    studies = [paper.study(name, X, y, rows) for name in MODELS]
    print(
        f"\n{given.rows} training rows drawn at random, {int(y[rows].sum())} of them with an income "
        "above 50K; T = .1; 100 background rows."
    )
    show(
        "Train accuracy",
        ("model", "paper", "here"),
        [(s.model, f"{paper.PAPER_ACCURACY[s.model]:.4f}", f"{s.accuracy:.4f}") for s in studies],
    )
    show(
        "Decoupling error: mean, and share of rows in which it is the lowest (paper: always the "
        "variational index's)",
        WITH_SHARES,
        [
            beside(s.model, {k: float(e.mean()) for k, e in s.errors().items()}, s.lowest_error())
            for s in studies
        ],
    )
    for removals in (None, 6, 3):
        some = "all removals" if removals is None else f"the first {removals} removals"
        show(
            f"Probability of the true label, most valuable features removed first, mean over {some}; "
            "share of rows in which it is the lowest, ties in part (paper: usually the variational "
            "index's)",
            WITH_SHARES,
            [beside(s.model, s.drop(removals), s.fastest(removals)) for s in studies],
        )
    for s in studies:
        for label in (True, False):
            income = "above" if label else "at most"
            show(
                f"{s.model}: features by mean value where the income is {income} 50K",
                ("rank", *paper.CRITERIA),
                ranked(s, label),
            )
    for reading in paper.READINGS:
        show(
            f"Convergence of Alg. 1 by step (paper's numbering), read as {reading}",
            ("model", "1", "2", "3", "5", "9", "10", "nearest row, within a factor"),
            [line for s in studies for line in converged(s, reading)],
        )
    if given.figures is not None:
        for s in studies:
            paper.draw(s, given.figures)


if __name__ == "__main__":
    main()
