"""Values and interactions as DataFrames, and as shap and shapiq have them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairfield.core.arrays import FloatArray
from fairfield.core.runtime.imports import needed_for

if TYPE_CHECKING:
    import pandas as pd
    import shap
    import shapiq

    from fairfield.results.batched import Batched
    from fairfield.results.interactions import Interactions
    from fairfield.results.valuation import Valuation

REMAINDER = "(remainder)"
# A remainder below this share of the outputs and values is rounding.
ROUNDING = 1e-9


def frame(v: Batched, columns: dict[str, FloatArray | None], noun: str) -> pd.DataFrame:
    """A DataFrame with one line per player or coalition, game of a batch and output, by their names."""
    with needed_for("to_frame"):
        import pandas as pd
    known = {name: each.ravel() for name, each in columns.items() if each is not None}
    index = pd.Index(v.names, name=noun, tupleize_cols=False)
    if not v.batch:
        return pd.DataFrame(known, index=index)
    named = len(v.lead) == 1 and v.labels is not None
    levels: list[Any] = [v.labels] if named else [range(size) for size in v.lead]
    names = [f"{v.words.row_noun}{i or ''}" for i in range(len(levels))]
    if v.outputs is not None:
        levels.append(v.outputs)
        names.append("output")
    return pd.DataFrame(
        known, index=pd.MultiIndex.from_product([*levels, index], names=[*names, noun])
    )


# What shapiq calls the criteria that it has too: their values, and their interactions.
SHAPIQ_VALUES = {"shapley": "SV", "banzhaf": "BV"}
SHAPIQ = {
    "shapley": "SII", "banzhaf": "BII", "moebius": "Moebius", "k_sii": "k-SII", "stii": "STII",
    "fsii": "FSII", "fbii": "FBII",
}  # fmt: skip


def interaction_values(found: Interactions) -> shapiq.InteractionValues:
    """shapiq's ``InteractionValues``, players by their places, the baseline as the empty tuple's."""
    place = {player: i for i, player in enumerate(found.players)}
    sets = [tuple(sorted(place[player] for player in each)) for each in found.coalitions]
    return _as_shapiq(found, sets, SHAPIQ, found.baseline)


def player_values(found: Valuation) -> shapiq.InteractionValues:
    """The same of the values of players, each a set of one."""
    sets: list[tuple[int, ...]] = [(i,) for i in range(len(found.players))]
    return _as_shapiq(found, sets, SHAPIQ_VALUES, found.empty)


def _as_shapiq(
    found: Interactions | Valuation, sets: list[tuple[int, ...]], known: dict[str, str], base: Any
) -> shapiq.InteractionValues:
    if found.criterion not in known:
        what = "values" if known is SHAPIQ_VALUES else "interactions"
        raise ValueError(
            f"shapiq has no {what} by {found.criterion}; it has those by {', '.join(known)}"
        )
    with needed_for("to_shapiq"):
        import shapiq
    base = 0.0 if base is None else float(base)
    return shapiq.InteractionValues(
        values=np.append(found.values, base),
        index=known[found.criterion],
        min_order=0,
        max_order=max(map(len, sets)),
        n_players=len(found.players),
        interaction_lookup={each: k for k, each in enumerate([*sets, ()])},
        estimated=found.stderr is not None and bool(found.stderr.any()),
        baseline_value=base,
    )


def remainder(
    values: NDArray[np.float64], empty: ArrayLike, grand: ArrayLike
) -> NDArray[np.float64]:
    """F(N) - F(∅) - Σ values of each game, 0 where it is only rounding.

    >>> remainder(np.array([[1e9, -1e9], [1.0, 2.0]]), 0.0, [1e-7, 4.0]).tolist()
    [0.0, 1.0]
    """
    low, high = np.asarray(empty, dtype=float), np.asarray(grand, dtype=float)
    rest = high - low - values.sum(axis=-1)
    scale = np.abs(low) + np.abs(high) + np.abs(values).sum(axis=-1)
    return np.where(np.abs(rest) > ROUNDING * scale, rest, 0.0)


def explanation(valuation: Valuation, normal: float) -> shap.Explanation:
    """A ``shap.Explanation`` whose base value and values sum to F(N).

    Where the values do not sum to F(N) - F(∅), as those of a criterion that is not
    efficient, the rest is a last entry named "(remainder)". Bounds are value ± normal · stderr.
    Outputs come last, as shap has them: (rows, features, outputs).
    """
    v = valuation
    if v.empty is None or v.grand is None:
        raise ValueError(f"{v.criterion} does not know F(∅) and F(N), which shap needs")
    values, data = v.values, v.data
    if data is not None and v.outputs is not None:
        data = data[..., 0, :]
    if len(v.lead) > 1:
        raise ValueError(
            f"values of shape {values.shape} were given; shap draws one game, or a batch of one axis"
        )
    with needed_for("to_shap"):
        import shap
    names = [str(player) for player in v.players]
    rest = remainder(values, v.empty, v.grand)
    half = None if v.stderr is None else normal * v.stderr
    about: dict[str, Any] = {}
    if data is not None and not np.issubdtype(data.dtype, np.number):
        about["display_data"], data = data.astype(object), _coded(data)
    if rest.any():
        names.append(REMAINDER)
        values = _with_column(values, rest)
        half = None if half is None else _with_column(half, np.zeros(rest.shape))
        if data is not None:
            shape = data.shape[:-1]
            shown = about.get("display_data", data.astype(object))
            about["display_data"] = _with_column(shown, np.full(shape, "", dtype=object))
            # Colours need numbers; the remainder has none.
            data = _with_column(data, np.full(shape, np.nan))
    if v.outputs is not None:
        values = np.moveaxis(values, -2, -1)
        half = None if half is None else np.moveaxis(half, -2, -1)
        about["output_names"] = [str(name) for name in v.outputs]
    if half is not None:
        about |= {"lower_bounds": values - half, "upper_bounds": values + half}
    base = np.asarray(v.empty, dtype=float)
    return shap.Explanation(
        values,
        base_values=base if values.ndim > 1 else float(base),
        data=data,
        feature_names=names,
        **about,
    )


def _coded(data: NDArray[Any]) -> FloatArray:
    """Numbers to colour values by: those of a column of texts are their places in order.

    >>> _coded(np.array([["b", 2.5], ["a", None]], dtype=object)).tolist()
    [[1.0, 2.5], [0.0, nan]]
    """
    numbers = np.empty(data.shape)
    for j in range(data.shape[-1]):
        column = data[..., j]
        try:
            numbers[..., j] = column.astype(float)
        except (TypeError, ValueError):
            texts = np.array([str(each) for each in column.ravel()])
            places = np.unique(texts, return_inverse=True)[1]
            numbers[..., j] = places.reshape(column.shape)
    return numbers


def _with_column(table: NDArray[Any], column: NDArray[Any]) -> NDArray[Any]:
    return np.concatenate([table, column[..., None]], axis=-1)
