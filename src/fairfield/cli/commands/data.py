"""``fairfield data``: what rows of a training table, or groups of them, are worth."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from typer import Argument, Option

from fairfield.cli.learners import LEARNERS, encoder, learner
from fairfield.cli.messages import InputError, say
from fairfield.cli.options import EvaluationOptions
from fairfield.cli.registry import command
from fairfield.cli.show import value
from fairfield.cli.tables import Delimiter, column, columns_like, place, read_table
from fairfield.cli.targets import Task, TaskOption, is_classes
from fairfield.core.game import Game
from fairfield.games.data.cluster import cluster
from fairfield.games.data.game import DataGame
from fairfield.games.neighbors.game import NeighborGame

if TYPE_CHECKING:
    import pandas as pd

EXAMPLES = """
**Examples**

`fairfield data train.csv --target income --groups vendor`

`fairfield data train.csv --target y --test test.csv --model forest --clusters 12 --jobs -1 --store worths.db`

`fairfield data train.parquet --target y --model knn --clusters 0 --report rows.html`
"""
TRAIN = "The training rows: CSV or Parquet."
TEST = "Rows to test on.  [default: a quarter of the training rows]"
MODEL = f"{', '.join(LEARNERS)}, or package.module:object."
GROUPS = "The column that groups rows into players: vendors, say."
CLUSTERS = "So many groups of similar rows as players; 0: every row."
SCORING = "A scikit-learn scorer.  [default: accuracy, log-loss of single rows, R² of numbers]"
# Groups that are made where none are named, and rows up to which each is a player.
DEFAULT_CLUSTERS, FEW_ROWS = 10, 12
TEST_SHARE = 0.25
NEIGHBORS = 5
# What to do where exact values of many players are out of reach.
ADVICE = "use --criterion leave-one-out (n + 2 fits) or --model knn"


@dataclass(frozen=True)
class Split:
    """Training and test rows of a table, and what is predicted."""

    X: pd.DataFrame
    y: Any
    X_test: pd.DataFrame
    y_test: Any
    groups: Any
    classifies: bool


@command(EXAMPLES)
def data(
    train: Annotated[Path, Argument(help=TRAIN, metavar="TRAIN.csv")],
    target: Annotated[str, Option(help="The column that is predicted.")],
    options: EvaluationOptions,
    test: Annotated[Path | None, Option(help=TEST)] = None,
    model: Annotated[str, Option(help=MODEL, autocompletion=lambda: list(LEARNERS))] = "logistic",
    groups: Annotated[str | None, Option(help=GROUPS)] = None,
    clusters: Annotated[int | None, Option(help=CLUSTERS, min=0)] = None,
    scoring: Annotated[str | None, Option(help=SCORING)] = None,
    task: TaskOption = Task.auto,
    delimiter: Delimiter = None,
) -> None:
    """The worth of training data: fit a model on a coalition's rows, test it on others."""
    if groups is not None and clusters is not None:
        raise InputError("--groups and --clusters both name the players; give one of them")
    split = _split(train, test, target, groups, task, delimiter, options.seed)
    value(_game(split, model, clusters, scoring, options), options, curves=True)


def _split(
    train: Path,
    test: Path | None,
    target: str,
    groups: str | None,
    task: Task,
    delimiter: str | None,
    seed: int,
) -> Split:
    """The rows to learn from and to test on."""
    table = read_table(train, delimiter=delimiter)
    y = _filled(table, target, train, delimiter)
    owners = None if groups is None else _filled(table, groups, train, delimiter).astype(str)
    X = table.drop(columns=[target, *([groups] if groups else [])])
    if not X.shape[1]:
        raise InputError(f"{train} has no column besides {target!r} to learn from")
    classifies = is_classes(y, task, train)
    if classifies and y.nunique() < 2:
        raise InputError(
            f"the target {target!r} of {train} has one class, {y.iloc[0]!r}; two or more are needed"
        )
    held = np.zeros(len(y), dtype=bool) if test else _held_out(y, classifies, seed, train)
    X_test, y_test = X[held], y[held]
    if test is not None:
        others = read_table(test, delimiter=delimiter)
        y_test = _filled(others, target, test, delimiter)
        X_test = columns_like(others, X, test)
    named = None if owners is None else owners[~held].to_numpy()
    return Split(X[~held], y[~held].to_numpy(), X_test, y_test.to_numpy(), named, classifies)


def _filled(table: pd.DataFrame, name: str, path: Path, delimiter: str | None) -> pd.Series[Any]:
    """A column without empty cells."""
    found = column(table, name, path)
    if found.isna().any():
        empty = place(path, int(np.flatnonzero(found.isna())[0]), delimiter)
        raise InputError(f"the column {name!r} is empty in {empty}; fill it, or drop the row")
    return found


def _held_out(y: pd.Series[Any], classifies: bool, seed: int, path: Path) -> Any:
    from sklearn.model_selection import train_test_split

    rows = np.arange(len(y))
    if len(rows) < 4:
        raise InputError(f"{path} has {len(rows)} rows, too few to hold some out; pass --test")
    alike = y.to_numpy() if classifies and y.value_counts().min() > 1 else None
    try:
        _, chosen = train_test_split(rows, test_size=TEST_SHARE, random_state=seed, stratify=alike)
    except ValueError:  # more classes than test rows
        _, chosen = train_test_split(rows, test_size=TEST_SHARE, random_state=seed)
    held = np.zeros(len(rows), dtype=bool)
    held[chosen] = True
    return held


def _game(
    split: Split,
    model: str,
    clusters: int | None,
    scoring: str | None,
    options: EvaluationOptions,
) -> Game:
    """The game of groups or rows whose worth is the score of the model fitted on them."""
    _no_empty_cells(split, model)
    owners = split.groups
    if owners is None and clusters is None:
        clusters = 0 if len(split.X) <= FEW_ROWS else DEFAULT_CLUSTERS
        if clusters and not options.quiet:
            say(
                f"the players are {clusters} groups of similar rows; --groups or --clusters "
                "choose others"
            )
    if owners is None and clusters:
        table = encoder(split.X, scale=True).fit_transform(split.X)
        labels = cluster(table, clusters, seed=options.seed)
        owners = np.array([f"group {label:02d}" for label in labels])
    elif owners is None and model == "knn" and split.classifies and scoring is None:
        return _neighbors(split)
    if scoring is None and model in LEARNERS and (owners is not None or not split.classifies):
        scoring = "accuracy" if split.classifies else "r2"
    game = DataGame(
        learner(model, split.X, split.classifies),
        split.X, split.y, split.X_test, split.y_test,
        groups=owners, scoring=scoring, seed=options.seed,
    )  # fmt: skip
    game.info = replace(game.info, advice=ADVICE)
    return game


def _neighbors(split: Split) -> Game:
    """Single rows under a nearest-neighbour model have a closed form, for any number of rows."""
    import pandas as pd

    encode = encoder(split.X, scale=True).fit(split.X)
    return NeighborGame(
        pd.DataFrame(encode.transform(split.X), index=split.X.index),
        split.y,
        encode.transform(split.X_test),
        split.y_test,
        k=NEIGHBORS,
    )


def _no_empty_cells(split: Split, model: str) -> None:
    if model not in LEARNERS or model == "boosting":
        return
    for table, which in ((split.X, "training"), (split.X_test, "test")):
        counts = table.isna().sum()
        for name, count in counts[counts > 0].items():
            raise InputError(
                f"column {name!r} has {count} empty cells among the {which} rows; fill them, or use "
                "--model boosting, which takes them"
            )
