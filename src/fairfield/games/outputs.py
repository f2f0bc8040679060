"""Which output of a model is explained: its column, its name and its unit.

``output=`` means the same in every game of features:

- None: the only output, or the second of two classes;
- a class, by its label, or by its position where no label is a number;
- a column of a model without classes, by its number, counted from 0;
- "margin" or "probability", unless a class is called so: that quantity of the default class;
- "all", unless a class is called so: every class or column, along one more axis of the batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from fairfield.core.coalitions import spell

# Quantities that are units.
UNITS = ("log-odds", "probability")
# Classifiers of scikit-learn whose margin between two classes is the logarithm of the odds;
# those with loss="log_loss" are, too.
LOG_ODDS = ("LogisticRegression", "LogisticRegressionCV", "LinearDiscriminantAnalysis")

# How the names of outputs end.
CLASS, COLUMN = " of class {}", ", column {}"


class Output(NamedTuple):
    """One output of a model: ``sign`` times a column of the numbers that the model returns."""

    column: int
    sign: float
    name: str
    unit: str


class Explained(NamedTuple):
    """What is explained of a model: its name and unit, and the labels of several outputs."""

    name: str
    unit: str
    outputs: tuple[Any, ...] | None = None
    noun: str = "output"


def choose_output(
    model: str,
    output: Any,
    quantity: str,
    classes: Sequence[Any] | None = None,
    columns: int | None = None,
) -> Output:
    """The output that ``output=`` asks of a model of this name.

    ``quantity`` is what the game explains of the model: a "probability", "log-odds", "margin",
    "raw margin", "prediction", or the output of some function. ``columns`` counts the columns
    of its answer, where known. A classifier has one for each of its ``classes``, or a single
    one for two: that of the second, and its negative that of the first.

    >>> choose_output("Model", "no", "log-odds", ["no", "yes"], columns=1)
    Output(column=0, sign=-1.0, name='log-odds of class no', unit='log-odds')
    """
    unit = quantity if quantity in UNITS else ""
    if names_quantity(output, classes):
        other = (quantity == "probability") != (output == "probability")
        if other and not quantity.startswith("output of"):  # a user's function may return either
            raise ValueError(
                f"output={output!r} was asked for, and what is explained of {model} is its {quantity}; "
                "leave out output= for that, or give FeatureGame a function of rows"
            )
        if output == "probability" and classes is not None and len(classes) > 2:
            raise ValueError(
                f"{model} has {len(classes)} classes, {spell(classes)}; pass output= to name one, and "
                "the model's predict_proba in place of the model for its probability"
            )
        output = None
    if classes is None:
        column = _column_at(output, columns, model)
        several = columns > 1 if columns is not None else output is not None
        name = quantity + (COLUMN.format(column) if several else "")
        return Output(column, 1.0, name, unit)
    at = _class_at(output, list(classes), model)
    name = quantity + CLASS.format(classes[at])
    if len(classes) == 2 and columns == 1:
        return Output(0, 1.0 if at else -1.0, name, unit)
    return Output(at, 1.0, name, unit)


def choose_outputs(
    model: str,
    output: Any,
    quantity: str,
    classes: Sequence[Any] | None = None,
    columns: int | None = None,
) -> tuple[Output, ...]:
    """As :func:`choose_output`, one output for each class or column with ``output="all"``.

    >>> [each.name for each in choose_outputs("Model", "all", "margin", ["a", "b", "c"], columns=3)]
    ['margin of class a', 'margin of class b', 'margin of class c']
    """
    if not asks_all(output, classes):
        return (choose_output(model, output, quantity, classes, columns),)
    every = range(columns or 1) if classes is None else classes
    return tuple(choose_output(model, each, quantity, classes, columns) for each in every)


def explained(chosen: Sequence[Output], output: Any, classes: Sequence[Any] | None) -> Explained:
    """What is explained by the outputs that were chosen for ``output=``.

    >>> explained(choose_outputs("Model", "all", "margin", ["a", "b"], 2), "all", ["a", "b"])
    Explained(name='margin', unit='', outputs=('a', 'b'), noun='class')
    """
    first = chosen[0]
    if not asks_all(output, classes):
        return Explained(first.name, first.unit)
    if classes is None:
        quantity = first.name.removesuffix(COLUMN.format(first.column))
        return Explained(quantity, first.unit, tuple(each.column for each in chosen), "column")
    quantity = first.name.removesuffix(CLASS.format(classes[0]))
    return Explained(quantity, first.unit, tuple(classes), "class")


def asks_all(output: Any, classes: Sequence[Any] | None) -> bool:
    """Whether ``output=`` asks for all outputs, and for no class of that name."""
    return isinstance(output, str) and output == "all" and (classes is None or "all" not in classes)


def names_quantity(output: Any, classes: Sequence[Any] | None) -> bool:
    """Whether ``output=`` names a quantity, and no class of that name."""
    asked = isinstance(output, str) and output in ("margin", "probability")
    return asked and (classes is None or output not in classes)


def classes_of(model: Any) -> list[Any] | None:
    """The labels of a classifier's classes; None where the model has none."""
    held = getattr(model, "classes_", None)
    if held is None:
        return None
    if isinstance(held, list) and any(map(np.ndim, held)):
        raise TypeError(
            f"{type(model).__name__} predicts {len(held)} labels at once; fit one model per label, "
            "or give FeatureGame a function of rows"
        )
    return list(np.asarray(held).tolist())


def margin_quantity(
    classes: Sequence[Any] | None, *, log_odds: bool, predicted: bool = True
) -> str:
    """What a model's margin is; ``predicted``: whether a regression predicts its margin as it is.

    >>> margin_quantity(["no", "yes"], log_odds=True), margin_quantity(None, log_odds=False)
    ('log-odds', 'prediction')
    """
    if classes is None:
        return "prediction" if predicted else "raw margin"
    return "log-odds" if log_odds and len(classes) == 2 else "margin"


def decision_quantity(model: Any, classes: Sequence[Any]) -> str:
    """What the columns of a classifier's ``decision_function`` are.

    A margin that belongs to a pair of classes is refused: it is no margin of a class.
    """
    deciding = model
    while hasattr(deciding, "best_estimator_") or hasattr(deciding, "steps"):
        # The best of a search, the last step of a pipeline.
        best = getattr(deciding, "best_estimator_", None)
        deciding = deciding.steps[-1][1] if best is None else best
    kind = type(deciding).__name__
    if len(classes) > 2 and getattr(deciding, "decision_function_shape", None) == "ovo":
        raise TypeError(
            f"{kind}(decision_function_shape='ovo') has a margin for each pair of classes and none "
            "for a class; set decision_function_shape='ovr', which needs no new fit"
        )
    log_odds = kind in LOG_ODDS or getattr(deciding, "loss", None) == "log_loss"
    return margin_quantity(classes, log_odds=log_odds)


def _class_at(output: Any, labels: list[Any], model: str) -> int:
    if output is None:
        if len(labels) <= 2:
            return len(labels) - 1
        raise ValueError(
            f"{model} has {len(labels)} classes, {spell(labels)}; pass output= to name one"
        )
    if output in labels:
        return labels.index(output)
    numbers = any(isinstance(label, (int, float, np.number)) for label in labels)
    if not numbers and _is_position(output, len(labels)):
        return int(output)
    raise ValueError(f"output={output!r} is no class of {model}; its classes are {spell(labels)}")


def _column_at(output: Any, columns: int | None, model: str) -> int:
    if output is None and columns in (None, 1):
        return 0
    if _is_position(output, columns):
        return int(output)
    there = "counted from 0" if columns is None else f"0 to {columns - 1}"
    asked = "pass output= to pick one" if output is None else f"output={output!r} was given"
    raise ValueError(f"{model} has output columns, {there}; {asked}")


def _is_position(output: Any, count: int | None) -> bool:
    whole = isinstance(output, (int, np.integer)) and not isinstance(output, bool)
    return whole and output >= 0 and (count is None or output < count)
