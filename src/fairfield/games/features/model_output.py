"""The numbers that are explained: a model's method, its columns, and a link behind them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairfield.core.arrays import FloatArray, IntArray, on_host, real_numbers
from fairfield.core.coalitions import spell
from fairfield.core.copies import lent
from fairfield.core.labels import positions
from fairfield.core.special import logit
from fairfield.games.features.networks import Network, is_module
from fairfield.games.outputs import (
    Explained,
    asks_all,
    choose_outputs,
    classes_of,
    decision_quantity,
    explained,
    names_quantity,
)

Function = Callable[[Any], Any]


@dataclass(frozen=True)
class ModelOutput:
    """The outputs of a model that are explained, and which of them belong to each row.

    Called with k rows of input it returns the ``columns`` of what ``function`` returns for
    them, times ``signs``; explained row i is read from those numbered ``column[i]``, one for
    each of its games. ``width`` is the number of columns that ``function`` must return, if known.
    """

    function: Function
    name: str
    what: Explained
    columns: list[int]
    column: IntArray
    signs: tuple[float, ...] = (1.0,)
    width: int | None = None

    def __call__(self, table: Any) -> FloatArray:
        count = np.shape(table)[0]  # a sparse matrix has no len
        found = on_host(self.function(table), None)
        if found.shape == (count,):
            found = found[:, None]
        if found.ndim != 2 or len(found) != count:
            raise ValueError(
                f"{self.name} returned shape {found.shape} for {count} rows; it must return one "
                "number per row, or one column per class"
            )
        width = found.shape[1]
        if self.width not in (None, width) or max(self.columns) >= width:
            if self.width is None:
                hint = f" and column {max(self.columns)} was asked for; columns are counted from 0"
            elif self.width == 1:
                hint = f"; pass output= to pick one of them, 0 to {width - 1}"
            else:
                hint = f" for {self.width} classes; give a function of rows with one per class"
            raise ValueError(f"{self.name} returned {width} columns{hint}")
        try:
            one = width == len(self.columns) == 1
            chosen = real_numbers(found if one else found[:, self.columns])
        except (TypeError, ValueError):
            raise ValueError(
                f"{self.name} returned values of type {found.dtype}; numbers are needed, so give a "
                "model with probabilities, or a function of rows that returns numbers"
            ) from None
        return chosen if min(self.signs) > 0 else chosen * self.signs


def output_of(
    predict: Any, output: Any, y: Any, rows: Any, back: Function | None = None
) -> ModelOutput:
    """What is explained of ``predict``, a fitted model or a function, for these rows.

    The numbers are those of its ``predict_proba``, else its ``decision_function``, else its
    ``predict``; ``output="margin"`` asks for the ``decision_function``. ``output="label"``
    is the probability of the true class of each row, given in ``y``; all else that ``output``
    may be is read by :func:`choose_outputs`; how many columns a function has for "all" is asked
    of it with the first row. A function of the user's gets what ``back`` makes of rows, and so does
    a model that takes nothing else.
    """
    of_label = isinstance(output, str) and output == "label"
    if (y is not None) != of_label:
        raise ValueError(
            "output='label' and y= go together: the true class of each explained row; "
            f"output={output!r} was given with{'' if y is not None else 'out'} y="
        )
    function, name, quantity, classes = _method(predict, output, back)
    if back is not None and hasattr(getattr(function, "__self__", None), "predict"):
        function = _taking(function, rows[:1], back)
    if of_label:
        if quantity != "probability" and hasattr(predict, "predict"):
            raise ValueError(f"output='label' needs probabilities, and {name} returns none")
        columns, column = _true_columns(name, classes, np.atleast_1d(np.asarray(y)), len(rows))
        what = Explained("probability of the true class", "probability")
        return ModelOutput(function, name, what, columns, column[:, None])
    width = None if classes is None else len(classes)
    if classes is None and (output is None or names_quantity(output, None)):
        width = 1
    elif classes is not None and len(classes) == 2 and quantity != "probability":
        width = 1  # one margin is that of the second class
    elif classes is None and asks_all(output, None):
        width = on_host(function(lent(rows[:1])), None).reshape(1, -1).shape[1]
    chosen = choose_outputs(name, output, quantity, classes, width)
    return ModelOutput(
        function,
        name,
        explained(chosen, output, classes),
        [each.column for each in chosen],
        np.tile(np.arange(len(chosen)), (len(rows), 1)),
        tuple(each.sign for each in chosen),
        width,
    )


def _true_columns(
    name: str, classes: list[Any] | None, y: Any, count: int
) -> tuple[list[int], IntArray]:
    """The columns of the classes in ``y``, and which of them belongs to each row."""
    if y.shape != (count,):
        raise ValueError(f"y has shape {y.shape} for {count} explained rows; give one label each")
    if classes is None:
        if not (np.issubdtype(y.dtype, np.integer) or y.dtype == bool) or y.min() < 0:
            raise ValueError(f"y must name columns of {name}, counted from 0; {y[0]!r} was given")
        at = y.astype(np.int64)
    else:
        at = positions(y, classes)
        if (at < 0).any():
            label = y.tolist()[int(at.argmin())]
            raise ValueError(
                f"y holds the label {label!r}; the model's classes are {spell(classes)}"
            )
    columns, column = np.unique(at, return_inverse=True)
    return columns.tolist(), column


def _method(
    predict: Any, output: Any, back: Function | None
) -> tuple[Function, str, str, list[Any] | None]:
    """The function to call, its name, the quantity that it returns, and its classes, if any."""
    kind, classes = type(predict).__name__, classes_of(predict)
    margin = output == "margin" and names_quantity(output, classes)
    if margin and not hasattr(predict, "decision_function"):
        raise ValueError(
            f"output='margin' was asked for, and {kind} has no decision_function; leave out output= "
            "for what it has, or use FeatureGame with link='logit' for log-odds"
        )
    if classes and hasattr(predict, "predict_proba") and not margin:
        return predict.predict_proba, f"{kind}.predict_proba", "probability", classes
    if (classes or margin) and hasattr(predict, "decision_function"):
        quantity = decision_quantity(predict, classes or ())
        return predict.decision_function, f"{kind}.decision_function", quantity, classes
    if hasattr(predict, "predict"):
        if classes:
            raise TypeError(
                f"{kind} has classes but neither predict_proba nor decision_function; give a "
                "function of rows that returns numbers"
            )
        # A booster of XGBoost takes rows only by inplace_predict.
        method = "inplace_predict" if hasattr(predict, "inplace_predict") else "predict"
        # Boosters do not say whether they predict a number or a probability.
        quantity = "prediction" if hasattr(predict, "fit") else f"output of {kind}.{method}"
        return getattr(predict, method), f"{kind}.{method}", quantity, None
    if not callable(predict):
        raise TypeError(f"a fitted model or a function of rows is needed; {kind} was given")
    name = _name(predict)
    if is_module(predict):
        return Network(predict), name, f"output of {name}", None
    if back is not None and not hasattr(getattr(predict, "__self__", None), "predict"):
        return lambda rows: predict(back(rows)), name, f"output of {name}", None
    if getattr(predict, "__name__", "") == "predict_proba":
        classes = classes_of(getattr(predict, "__self__", None))
    return predict, name, "probability" if classes else f"output of {name}", classes


def _name(function: Any) -> str:
    """What a function is called, without the functions around it; a method by its own model."""
    owner, own = getattr(function, "__self__", None), getattr(function, "__name__", "")
    if own and hasattr(owner, "predict"):
        return f"{type(owner).__name__}.{own}"
    name: str = getattr(function, "__qualname__", type(function).__name__)
    return name.rpartition("<locals>.")[2]


def _taking(function: Function, row: Any, back: Function) -> Function:
    """A model's method for rows in pandas or NumPy, which it may take only as they were given."""
    for taking in (function, lambda rows: function(back(rows))):
        with suppress(Exception):  # its own words are those of the first call that counts
            taking(lent(row))
            return taking
    return function


def link_of(link: str | Function | None) -> Function | None:
    """The function that mean outputs go through, by name or as it is.

    >>> float(link_of("logit")(0.5))
    0.0
    """
    if link is None or callable(link):
        return link
    if link == "logit":
        return logit
    raise ValueError(f"there is no link {link!r}; give 'logit' or a function of the mean output")


def linked_name(what: Explained, link: Function | None) -> Explained:
    """What an output is called behind a link, and its unit.

    >>> linked_name(Explained("probability of class 1", "probability"), link_of("logit"))[:2]
    ('logit of the probability of class 1', 'log-odds')
    """
    if link is None:
        return what
    log_odds = link is logit and what.unit == "probability"
    called = getattr(link, "__name__", "link")
    return what._replace(name=f"{called} of the {what.name}", unit="log-odds" if log_odds else "")


def linked(means: FloatArray, link: Function | None) -> FloatArray:
    """Mean outputs behind a link."""
    if link is None:
        return means
    # A copy, since a link may return the same array at every call.
    found = np.array(link(means), dtype=float)
    if found.shape != means.shape:
        raise ValueError(
            f"the link returned shape {found.shape} for {means.shape}; it must work cell by cell"
        )
    return found
