"""``fairfield ensemble``: what each model of an ensemble is worth, from their predictions."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from fairfield.cli.messages import InputError
from fairfield.cli.options import EvaluationOptions
from fairfield.cli.registry import command
from fairfield.cli.show import value
from fairfield.cli.tables import Delimiter, column, read_table
from fairfield.cli.targets import Task, TaskOption, check_target, is_numbers
from fairfield.core.coalitions import spell
from fairfield.core.labels import plain_labels
from fairfield.games.ensembles.game import EnsembleGame

if TYPE_CHECKING:
    import pandas as pd

EXAMPLES = """
**Examples**

`fairfield ensemble predictions.csv --target label`

`fairfield ensemble probabilities.csv --target label --vote soft --report models.html`
"""

PREDICTIONS = (
    "A row per test case, a column per model: labels, probabilities of the second of two labels, "
    "or numbers."
)

Vote = StrEnum("Vote", "auto soft hard rozemberczki mean")


@command(EXAMPLES)
def ensemble(
    predictions: Annotated[Path, Argument(help=PREDICTIONS, metavar="PREDICTIONS.csv")],
    target: Annotated[str, Option(help="The column that the models predict.")],
    options: EvaluationOptions,
    vote: Annotated[Vote, Option(help="How models make an ensemble.")] = Vote.auto,
    scoring: Annotated[str | None, Option(help="A scikit-learn scorer.")] = None,
    task: TaskOption = Task.auto,
    delimiter: Delimiter = None,
) -> None:
    """The worth of the models of an ensemble: the score of the vote of a coalition."""
    table = read_table(predictions, delimiter=delimiter)
    truth = column(table, target, predictions)
    models = table.drop(columns=target)
    if not models.shape[1]:
        raise InputError(
            f"{predictions} has no column besides {target!r}; a column per model is needed"
        )
    for name in table.columns:
        if table[name].isna().any():
            raise InputError(
                f"column {name!r} of {predictions} has empty cells; every model must answer"
            )
    check_target(truth, task, predictions)
    kind = _kind(models, truth, task) if vote is Vote.auto else vote.value
    if task is not Task.auto and (kind == "mean") != (task is Task.regression):
        raise InputError(
            f"--vote {kind} does not go with --task {task}; leave out one of them: mean averages "
            "numbers, the others count votes for classes"
        )
    # Numbers are averaged whatever they are, where that was chosen.
    if kind != "mean" or (vote is Vote.auto and task is Task.auto):
        _check(models, truth, kind, predictions)
    for name in models.columns:
        if kind != "hard" and not is_numbers(models[name]):
            raise InputError(
                f"column {name!r} of {predictions} holds text; --vote {kind} needs numbers"
            )
    game = EnsembleGame(
        plain_labels(models).T,
        None,
        plain_labels(truth),
        vote=kind,
        scoring=scoring,
        players=[str(name) for name in models.columns],
    )
    value(game, options)


def _kind(models: pd.DataFrame, truth: pd.Series[Any], task: Task) -> str:
    """Labels vote, probabilities of two labels are summed, other numbers are averaged."""
    if task is Task.regression:
        return "mean"
    labels = _distinct(truth)
    if not all(is_numbers(models[name]) for name in models) or _distinct(models) <= labels:
        return "hard"
    if len(labels) == 2 and bool(((models >= 0) & (models <= 1)).all(axis=None)):
        return "soft"
    return "hard" if task is Task.classification else "mean"


def _check(models: pd.DataFrame, truth: pd.Series[Any], kind: str, path: Path) -> None:
    """Refuse a target of one class, and columns that are no predictions of it."""
    labels = sorted(_distinct(truth))
    if len(labels) < 2:
        raise InputError(
            f"the target {truth.name!r} of {path} has one class, {labels[0]!r}; two or more are needed"
        )
    for name in models.columns:
        votes = models[name]
        if kind == "hard" and _distinct(votes).isdisjoint(labels):
            raise InputError(
                f"column {name!r} of {path} never holds a label of the target {truth.name!r}, "
                f"{spell(labels)}; leave out what is no prediction of it"
            )
        if kind == "mean" and len(labels) == 2 and not votes.between(0, 1).all():
            raise InputError(
                f"column {name!r} of {path} holds neither labels of the target {truth.name!r}, "
                f"{spell(labels)}, nor probabilities; leave it out, or average numbers by --vote mean"
            )


def _distinct(held: Any) -> set[Any]:
    return set(plain_labels(held).ravel().tolist())
