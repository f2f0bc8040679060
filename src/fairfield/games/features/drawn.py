"""Background rows that a function draws, given the columns that are kept."""

from __future__ import annotations

from typing import Any

import numpy as np

from fairfield.core.arrays import BoolArray


def replaced(draw: Any, given: Any, x: int, kept: BoolArray, rng: np.random.Generator) -> Any:
    """Rows drawn for explained row x, its own values back in the columns that are kept."""
    is_frame = hasattr(given, "iloc")
    drawn = draw(given.iloc[[x]] if is_frame else given[x].copy(), kept.copy(), rng)
    shape = np.shape(drawn)
    if len(shape) != 2 or shape[1] != len(kept) or not shape[0]:
        raise ValueError(
            f"the background function returned shape {shape}; it must return at least one row of "
            f"{len(kept)} columns"
        )
    if not is_frame:
        return np.where(kept, given[x], drawn)
    import pandas as pd

    own = given.iloc[np.full(shape[0], x)].reset_index(drop=True)
    table = pd.DataFrame(drawn, columns=None if hasattr(drawn, "columns") else own.columns)
    table = table[list(own.columns)].reset_index(drop=True)
    taken = {j: (own if keep else table).iloc[:, j] for j, keep in enumerate(kept)}
    return pd.DataFrame(taken).set_axis(own.columns, axis=1)
