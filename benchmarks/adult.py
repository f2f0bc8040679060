"""The paper's claims about features on Adult, each beside what is found here.

    FAIRFIELD_DATA=folder python benchmarks/adult.py [--rows 200] [--figures folder]

Without the data set (a file, or a network) it says so and stops.
"""

import argparse
import warnings

import numpy as np
from measure import show

from fairfield.paper import adult
from fairfield.paper import features as paper

warnings.filterwarnings("ignore", message="Stochastic Optimizer: Maximum iterations")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, default=200)
    options.add_argument("--data", default=None)
    options.add_argument("--figures", default=None)
    given = options.parse_args()
    print("# The paper's feature study on Adult")
    try:
        X, y = adult.load_adult(given.data)
    except (OSError, ValueError) as reason:
        print(f"\nAdult could not be loaded: {reason}")
        return
    rows = paper.sample_rows(y, given.rows)
    studies = [paper.study(name, X, y, rows) for name in adult.MODELS]
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
        "Decoupling error: mean, and share of rows in which it is the lowest (paper: always the variational index's)",
        ("model", *(f"{name}, {what}" for name in paper.CRITERIA for what in ("mean", "lowest"))),
        [
            (s.model, *(cell for name in paper.CRITERIA
                        for cell in (float(s.errors()[name].mean()), f"{s.lowest_error()[name]:.1%}")))
            for s in studies
        ],
    )  # fmt: skip
    for removals, title in (
        (None, "all 12 removals"),
        (6, "the first 6 removals"),
        (3, "the first 3 removals"),
    ):
        show(
            f"Removing the most valuable features first, over {title}: mean probability of the true "
            "label, and share of rows in which it is the lowest, ties in part (paper: usually the "
            "variational index's)",
            ("model", *(f"{name}, {what}" for name in paper.CRITERIA for what in ("mean", "lowest"))),
            [
                (s.model, *(cell for name in paper.CRITERIA
                            for cell in (f"{s.drop(removals)[name]:.4f}", f"{s.fastest(removals)[name]:.1%}")))
                for s in studies
            ],
        )  # fmt: skip
    for s in studies:
        for label in (True, False):
            lists = [s.ranking(name, label) for name in paper.CRITERIA]
            show(
                f"{s.model}: average ranks where the income is {'above' if label else 'at most'} 50K "
                "(bold where criteria differ)",
                ("rank", *paper.CRITERIA),
                [
                    (place + 1, *(f"{'**' if len({c[0] for c in cells}) > 1 else ''}{name} ({rank:.1f})"
                                  f"{'**' if len({c[0] for c in cells}) > 1 else ''}" for name, rank in cells))
                    for place, cells in enumerate(zip(*lists, strict=True))
                ],
            )  # fmt: skip
    show(
        "Convergence of Alg. 1: ‖Δx‖₂/n at iterations 0, 2, 3, 5, 9, 10 (the paper prints them as steps 1, 2, 3, 5, 9, 10)",
        ("model", *(f"{k}" for k in paper.STEPS)),
        [
            (label, *(f"{value:.2e}" for value in line))
            for s in studies
            for label, line in (
                (f"{s.model}, paper", paper.PAPER_CONVERGENCE[s.model]),
                (f"{s.model}, median here", s.convergence()[0]),
                (f"{s.model}, mean here", s.convergence()[1]),
            )
        ],
    )
    if given.figures is not None:
        for s in studies:
            paper.draw(s, given.figures)
    pushed = [float(np.mean(s.comparison["variational_index"].steps)) for s in studies]
    print(f"\nSteps of the default solver, mean: {', '.join(f'{value:.1f}' for value in pushed)}.")


if __name__ == "__main__":
    main()
