"""``fairfield demo``: groups of training rows, and the features of one prediction."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated

import typer

from fairfield.cli.options import EvaluationOptions
from fairfield.cli.registry import command
from fairfield.cli.show import print_text, value
from fairfield.core.game import Game
from fairfield.games.choose import game_of
from fairfield.games.data.cluster import cluster
from fairfield.games.data.game import DataGame

EXAMPLES = "**Example** `fairfield demo --out demo`"
GROUPS, BACKGROUND, SEED = 10, 100, 0


@command(EXAMPLES)
def demo(
    out: Annotated[Path, typer.Option(help="The folder to write the reports to.")] = Path("demo"),
) -> None:
    """Ten groups of training rows and the features of one prediction, on breast cancer data."""
    with suppress(OSError):  # what is wrong with it is said where it is written to
        out.mkdir(exist_ok=True)
    pages = out / "report.html", out / "features.html"
    print_text("Two questions, half a minute", style="bold")
    print_text(
        f"  1  What are training data worth?                   {pages[0]}\n"
        f"  2  What does each feature add to a prediction?     {pages[1]}\n"
    )
    with _compiling_ahead() as compiled:
        data, features = _games()
        print_text("1  What are training data worth?", style="bold")
        print_text(
            f"The training rows of breast cancer, in {GROUPS} groups of similar rows. The worth of a\n"
            f"coalition is the accuracy of a model fitted on its rows: {2**GROUPS:,} fits, a few seconds.\n"
        )
        value(data, EvaluationOptions(report=pages[0]), curves=True)
        print_text("\n2  What does each feature add to a prediction?", style="bold")
        print_text(
            "One patient and 30 measurements, by boosted trees: exact values in closed form. The\n"
            "first run on a machine compiles for some seconds.\n"
        )
        compiled.wait()
    value(features, EvaluationOptions(report=pages[1]))
    print_text("\nWhat next", style="bold")
    print_text(
        f"  open {pages[0]} and {pages[1]} in a browser: move the temperature, sort, pick\n"
        "  fairfield data TRAIN.csv --target COLUMN --report report.html       your own data\n"
        "  fairfield features MODEL DATA.csv --report features.html            your own model\n"
        "  fairfield --help                                                    all commands"
    )


@contextmanager
def _compiling_ahead() -> Iterator[subprocess.Popen[bytes]]:
    """Another process answers the second question in silence: what it compiles is kept on the disk."""
    code = f"from {__name__} import _games, value, EvaluationOptions; value(_games()[1], EvaluationOptions())"
    ahead = subprocess.Popen(
        [sys.executable, "-c", code if (os.cpu_count() or 1) > 1 else ""],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield ahead
    finally:
        ahead.kill()
        ahead.wait()


def _games() -> tuple[Game, Game]:
    """Groups of training rows, and the features of one row."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.ensemble import GradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import train_test_split
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X, X_test, y, y_test = train_test_split(X, y, random_state=SEED, stratify=y)
    labels = cluster(StandardScaler().fit_transform(X), GROUPS, seed=SEED)
    data = DataGame(
        make_pipeline(StandardScaler(), LogisticRegression()),
        X.to_numpy(), y, X_test.to_numpy(), y_test,
        groups=[f"group {label}" for label in labels],
    )  # fmt: skip
    trees = GradientBoostingClassifier(n_estimators=50, random_state=SEED).fit(X, y)
    return data, game_of(trees, X_test.iloc[0], X.sample(BACKGROUND, random_state=SEED))
