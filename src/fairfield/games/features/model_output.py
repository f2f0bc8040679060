"""Which numbers of a model are played for: a probability, a margin, a prediction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfield.core.arrays import FloatArray, IntArray
from fairfield.core.coalitions import spell

Model = Callable[[Any], Any]


@dataclass(frozen=True)
class Output:
    """The outputs of a model that matter, and which of them belongs to each explained row.

    Called with k rows of input it gives (k, columns) numbers; explained row i is read
    from column ``column[i]``.
    """

    function: Model
    name: str
    # What the numbers are, for people.
    meaning: str
    chosen: slice | list[int]
    column: IntArray

    def __call__(self, table: Any) -> FloatArray:
        count = len(table)
        found = np.asarray(self.function(table))
        if found.shape == (count,):
            found = found[:, None]
        if found.ndim != 2 or len(found) != count:
            raise ValueError(
                f"{self.name} returned shape {found.shape} for {count} rows; it must return one "
                "number per row, or one column per class"
            )
        if self.chosen == slice(None) and found.shape[1] != 1:
            raise ValueError(
                f"{self.name} returned {found.shape[1]} columns; pass output= to pick one of them, "
                f"0 to {found.shape[1] - 1}"
            )
        try:
            return np.asarray(found[:, self.chosen], dtype=float)
        except IndexError:
            raise ValueError(
                f"{self.name} returned {found.shape[1]} columns and column {self.chosen} was asked "
                "for; columns are counted from 0"
            ) from None
        except (TypeError, ValueError):
            raise ValueError(
                f"{self.name} returned values of type {found.dtype}; numbers are needed, so give a "
                "model with probabilities, or a function that makes numbers of its answers"
            ) from None


def unit_of(meaning: str) -> str:
    """The unit of an output, from the words that say what it is; empty if they name none.

    >>> unit_of("log-odds of class 1"), unit_of("prediction")
    ('log-odds', '')
    """
    if meaning.startswith(("log-odds", "logit of the probability")):
        return "log-odds"
    return "probability" if meaning.startswith("probability") else ""


def output_of(predict: Any, output: Any, y: Any, count: int) -> Output:
    """What ``predict`` says of a row, as numbers, for ``count`` explained rows.

    A fitted estimator speaks by its ``predict_proba``, else its ``decision_function``,
    else its ``predict``. Two classes stand for the second; of more, ``output`` names one,
    and ``output="label"`` takes for each explained row its true class in ``y``;
    ``output="margin"`` asks for the ``decision_function``.
    """
    margin = (
        isinstance(output, str) and output == "margin" and output not in (_classes(predict) or [])
    )
    function, name, classes = _spokesman(predict, margin)
    output = None if margin else output
    of_label = isinstance(output, str) and output == "label"
    if (y is not None) != of_label:
        raise ValueError(
            "output='label' and y= go together: the true class of each explained row; "
            f"output={output!r} was given with{'' if y is not None else 'out'} y="
        )
    if of_label:
        if name.endswith("decision_function") or (classes is None and hasattr(predict, "predict")):
            raise ValueError(f"output='label' needs probabilities, and {name} gives none")
        return _of_labels(function, name, classes, np.atleast_1d(np.asarray(y)), count)
    same = np.zeros(count, dtype=np.int64)
    if classes is None:
        meaning = "prediction" if hasattr(predict, "predict") else f"output of {name}"
        if output is None or output == "probability":
            return Output(function, name, meaning, slice(None), same)
        if isinstance(output, (int, np.integer)) and output >= 0:
            return Output(function, name, f"{meaning}, column {output}", [int(output)], same)
        raise ValueError(f"output={output!r} was asked for; {name} has columns, counted from 0")
    at = _class_at(output, classes, name)
    if not name.endswith("decision_function"):
        return Output(function, name, f"probability of class {classes[at]}", [at], same)
    meaning = f"margin of class {classes[at]}"
    if len(classes) == 2:
        # One margin stands for both classes, with opposite signs.
        return Output(function if at else _negative(function), name, meaning, slice(None), same)
    return Output(function, name, meaning, [at], same)


def _of_labels(
    function: Model, name: str, classes: Sequence[Any] | None, y: NDArray[Any], count: int
) -> Output:
    if y.shape != (count,):
        raise ValueError(f"y has shape {y.shape} for {count} explained rows; give one label each")
    if classes is None:
        if not (np.issubdtype(y.dtype, np.integer) or y.dtype == bool) or y.min() < 0:
            raise ValueError(f"y must name columns of {name}, counted from 0; {y[0]!r} was given")
        at = y.astype(np.int64)
    else:
        place = {label: i for i, label in enumerate(classes)}
        unknown = [label for label in y.tolist() if label not in place]
        if unknown:
            raise ValueError(
                f"y holds the label {unknown[0]!r}; the model's classes are {spell(classes)}"
            )
        at = np.array([place[label] for label in y.tolist()], dtype=np.int64)
    needed, column = np.unique(at, return_inverse=True)
    return Output(function, name, "probability of the true class", needed.tolist(), column)


def _spokesman(predict: Any, margin: bool) -> tuple[Model, str, list[Any] | None]:
    """The function to call, what to call it in errors, and the classes of its columns."""
    kind = type(predict).__name__
    if margin and not hasattr(predict, "decision_function"):
        raise ValueError(
            f"output='margin' was asked for, and {kind} has no decision_function; leave out output= "
            "for what it has, or use FeatureGame with link='logit' for log-odds"
        )
    if hasattr(predict, "inplace_predict"):  # an XGBoost booster, which takes rows only so
        return predict.inplace_predict, f"{kind}.inplace_predict", None
    classes = _classes(predict)
    for method in ("predict_proba", "decision_function") if classes else ():
        if hasattr(predict, method) and not (margin and method == "predict_proba"):
            return getattr(predict, method), f"{kind}.{method}", classes
    if hasattr(predict, "predict"):
        if classes:
            raise TypeError(
                f"{kind} names classes but has neither predict_proba nor decision_function; pass a "
                "function of rows that returns numbers instead"
            )
        return predict.predict, f"{kind}.predict", None
    if not callable(predict):
        raise TypeError(f"a fitted model or a function of rows is needed; {kind} was given")
    # A method of an estimator knows the classes of its columns.
    owner = getattr(predict, "__self__", None)
    name = getattr(predict, "__qualname__", kind)
    is_method = getattr(predict, "__name__", "") == "predict_proba"
    return predict, name, _classes(owner) if is_method else None


def _classes(model: Any) -> list[Any] | None:
    held = getattr(model, "classes_", None)
    return None if held is None else np.asarray(held).tolist()


def _class_at(output: Any, classes: list[Any], name: str) -> int:
    """The position of the class that was asked for; the second of two by default."""
    if output is None or (output == "probability" and output not in classes):
        if len(classes) == 2:
            return 1
        raise ValueError(
            f"{name} has {len(classes)} classes, {spell(classes)}; pass output= to name one, or "
            "output='label' with y="
        )
    if output not in classes:
        raise ValueError(f"output={output!r} is no class of the model; they are {spell(classes)}")
    return classes.index(output)


def _negative(function: Model) -> Model:
    return lambda table: -np.asarray(function(table))


def link_of(link: str | Callable[[Any], Any] | None) -> Callable[[Any], Any] | None:
    """The function that worths go through, by name or as it is.

    >>> float(link_of("logit")(0.5))
    0.0
    """
    if link is None or callable(link):
        return link
    if link == "logit":
        return _logit
    raise ValueError(f"there is no link {link!r}; give 'logit' or a function of the mean output")


def _logit(probability: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.log(probability) - np.log1p(-np.asarray(probability)))
