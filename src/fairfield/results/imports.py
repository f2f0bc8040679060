"""Explanations of shap as valuations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairfield.results.exports import REMAINDER
from fairfield.results.valuation import NORMAL, Valuation, as_number
from fairfield.results.words import Words

if TYPE_CHECKING:
    import shap


def from_shap(explanation: shap.Explanation, criterion: str = "shapley") -> Valuation:
    """The valuation of a ``shap.Explanation``: the values of features, rows and outputs by name.

    Base values are F(∅), and with all values of a row F(N); values to show beside the features
    (``display_data``, else ``data``) are kept, bounds become standard errors. ``criterion`` names
    what the values are: shap computes Shapley values.

    >>> from types import SimpleNamespace as Explanation
    >>> shown = Explanation(values=np.array([[1.0, 2.0]]), base_values=0.5,
    ...                     feature_names=["age", "debt"], data=np.array([[41.0, 7.0]]))
    >>> from_shap(shown)[0]["debt"]
    2.0
    """

    def held(name: str) -> Any:
        found = getattr(explanation, name, None)
        return None if found is None else np.asarray(found)

    values, data = np.asarray(explanation.values, dtype=float), held("display_data")
    data = held("data") if data is None else data
    several = values.ndim == 3 if data is None else values.ndim > data.ndim
    low, high = held("lower_bounds"), held("upper_bounds")
    stderr = None if low is None or high is None else (high - low) / (2 * NORMAL)
    if several:  # shap has outputs last
        values = np.moveaxis(values, -1, -2)
        stderr = None if stderr is None else np.moveaxis(stderr, -1, -2)
        data = None if data is None else np.repeat(data[..., None, :], values.shape[-2], axis=-2)
    batch, count = values.shape[:-1], values.shape[-1]
    names = held("feature_names")
    players = list(range(count)) if names is None else names.tolist()
    if len(players) != count:
        raise ValueError(
            f"the explanation has {count} values and {len(players)} feature names a row; give a "
            "shap.Explanation of features, rows × features × outputs at most"
        )
    base = np.broadcast_to(np.asarray(explanation.base_values, dtype=float), batch)
    kept = [i for i, player in enumerate(players) if player != REMAINDER]
    outputs = held("output_names") if several else None
    if several and (outputs is None or outputs.shape != batch[-1:]):
        outputs = np.arange(batch[-1])
    return Valuation(
        criterion,
        tuple(players[i] for i in kept),
        values[..., kept],
        method="shap",
        game="an explanation of shap",
        stderr=None if stderr is None else stderr[..., kept],
        empty=as_number(base.copy()),
        grand=as_number(np.asarray(base + values.sum(axis=-1))),
        data=None if data is None else data[..., kept],
        stops=np.full(batch, "as shap has it"),
        outputs=None if outputs is None else tuple(outputs.tolist()),
        words=Words("feature", "row", "output"),
    )
