"""Values and interactions as DataFrames, and as shap and shapiq have them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairfield.core.arrays import FloatArray
from fairfield.core.imports import needed_for

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


# What shapiq calls the criteria that it has too.
SHAPIQ = {
    "shapley": "SII", "banzhaf": "BII", "moebius": "Moebius", "k_sii": "k-SII", "stii": "STII",
    "fsii": "FSII", "fbii": "FBII",
}  # fmt: skip


def interaction_values(found: Interactions) -> shapiq.InteractionValues:
    """shapiq's ``InteractionValues``, players by their places, the baseline as the empty tuple's."""
    if found.criterion not in SHAPIQ:
        raise ValueError(
            f"shapiq has no interactions by {found.criterion}; it has those by {', '.join(SHAPIQ)}"
        )
    with needed_for("to_shapiq"):
        import shapiq
    place = {player: i for i, player in enumerate(found.players)}
    sets = [tuple(sorted(place[player] for player in each)) for each in found.coalitions]
    base = 0.0 if found.baseline is None else float(found.baseline)
    sizes = [len(each) for each in sets]
    return shapiq.InteractionValues(
        values=np.append(found.values, base),
        index=SHAPIQ[found.criterion],
        min_order=0,
        max_order=max(sizes),
        n_players=len(found.players),
        interaction_lookup={each: k for k, each in enumerate([*sets, ()])},
        estimated=bool(found.stderr.any()),
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
    if rest.any():
        names.append(REMAINDER)
        values = _with_column(values, rest)
        half = None if half is None else _with_column(half, np.zeros(rest.shape))
        if data is not None:
            shape = data.shape[:-1]
            shown = _with_column(data.astype(object), np.full(shape, "", dtype=object))
            about["display_data"] = shown
            # Colours need numbers; the remainder has none.
            numbers = np.issubdtype(data.dtype, np.number)
            data = _with_column(data, np.full(shape, np.nan)) if numbers else shown
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


def _with_column(table: NDArray[Any], column: NDArray[Any]) -> NDArray[Any]:
    return np.concatenate([table, column[..., None]], axis=-1)
