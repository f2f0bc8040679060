"""Whether the target of a table is classes or numbers."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from fairfield.cli.messages import InputError

if TYPE_CHECKING:
    import pandas as pd

# Numbers with at most so many different whole values are taken for classes.
MOST_CLASSES = 20


# What is predicted: classes, numbers, or whichever the target looks like.
Task = StrEnum("Task", "auto classification regression")
TaskOption: TypeAlias = Annotated[
    Task,
    typer.Option(
        help="What the target is: classes or numbers; auto takes text and few whole numbers for "
        "classes."
    ),
]


def is_classes(y: pd.Series[Any], task: Task, path: Path) -> bool:
    """Whether a target is classes: as the task says, or text and few whole numbers."""
    check_target(y, task, path)
    if task is not Task.auto:
        return task is Task.classification
    return not is_numbers(y) or (_is_whole(y) and y.nunique() <= MOST_CLASSES)


def check_target(y: pd.Series[Any], task: Task, path: Path) -> None:
    """Refuse a target that cannot be what the task says."""
    if task is Task.regression and not is_numbers(y):
        raise InputError(
            f"the target {y.name!r} of {path} is not numbers, which --task regression needs; use "
            "--task classification"
        )
    if task is Task.classification and is_numbers(y) and not _is_whole(y):
        raise InputError(
            f"the target {y.name!r} of {path} has fractions, and --task classification needs text "
            "or whole numbers; use --task regression"
        )


def is_numbers(y: pd.Series[Any]) -> bool:
    """Whether a column holds numbers, and neither text nor booleans."""
    return y.dtype.kind in "iuf"


def _is_whole(y: pd.Series[Any]) -> bool:
    return bool((y % 1 == 0).all())
