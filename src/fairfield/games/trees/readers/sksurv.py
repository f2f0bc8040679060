"""Reading the survival trees and forests of scikit-survival."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfield.games.outputs import Output, choose_outputs
from fairfield.games.trees.model import TreeModel, in_single
from fairfield.games.trees.readers.registry import reads
from fairfield.games.trees.readers.sklearn import check_fitted, columns_of, tree_of

# What a forest tells of a time: its quantity, unit, method, and place in the values of a leaf.
FUNCTIONS = {
    "survival": ("survival probability", "probability", "predict_survival_function", 1),
    "cumulative hazard": ("cumulative hazard", "", "predict_cumulative_hazard_function", 0),
}


@reads(
    "sksurv", "RandomSurvivalForest", "ExtraSurvivalTrees", "SurvivalTree",
    models="survival forests of scikit-survival", timed=True,
)  # fmt: skip
def read_survival_forest(model: Any, output: Any, times: Any = None) -> TreeModel:
    """A survival tree or forest: its risk score, or a function of time at some ``times``.

    The risk score is what it predicts, the cumulative hazard summed over the times of events.
    At ``times`` it is the survival probability, or the cumulative hazard if ``output`` says so.
    """
    check_fitted(model)
    members = [each.tree_ for each in getattr(model, "estimators_", [model])]
    kind = type(model).__name__
    if times is None:
        chosen = choose_outputs(kind, output, "risk score", None, 1)
        # With little memory a forest keeps the sums alone.
        events = [True] if model.low_memory else model.is_event_time_
        values = [tree.value[:, events, 0].sum(axis=1) for tree in members]
        raw = model.predict
    else:
        asked = "survival" if output is None else output
        if not isinstance(asked, str) or asked not in FUNCTIONS:
            raise ValueError(
                f"output={output!r} was given with times=; give 'survival', the default, or "
                "'cumulative hazard'"
            )
        quantity, unit, method, part = FUNCTIONS[asked]
        at = _places(model, np.atleast_1d(np.asarray(times, dtype=float)))
        chosen = tuple(
            Output(number, 1.0, f"{quantity} at time {time:g}", unit)
            for number, time in enumerate(np.ravel(times))
        )
        values = [tree.value[:, at, part] for tree in members]

        def raw(rows: Any) -> Any:
            return getattr(model, method)(rows, return_array=True)[:, at]

    trees = [
        tree_of(tree, value / len(members)) for tree, value in zip(members, values, strict=True)
    ]
    return TreeModel(model, chosen, trees, 0.0, *columns_of(model), in_single, raw)


def _places(model: Any, times: Any) -> NDArray[np.int64]:
    """Where the steps of the functions that hold at these times stand among all steps."""
    kind, steps = type(model).__name__, model.unique_times_
    if model.low_memory:
        raise TypeError(
            f"{kind}(low_memory=True) keeps no functions of time; fit with low_memory=False, or leave "
            "out times= for its risk score"
        )
    if times.ndim > 1 or not times.size or not ((times >= 0) & (times <= steps[-1])).all():
        raise ValueError(
            f"times={times.tolist()} were given; {kind} needs a number, or a list of them, from 0 to "
            f"{steps[-1]:g}, the last time that it has seen"
        )
    # Before the first step the library takes that one.
    return np.asarray(np.maximum(np.searchsorted(steps, times, side="right") - 1, 0))
