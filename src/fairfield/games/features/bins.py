"""Values that no split of a tree model tells apart.

A model of trees reads of a number only on which side of its thresholds it lies. Two values
on the same side of all of them are one value to the model, and a column without a split has
only one; so rows and background agree far more often than their numbers do. Behind a pipeline the
same holds of all that its transformers make of one column.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from fairfield.core.arrays import FloatArray, IntArray
from fairfield.games.features.model_output import ModelOutput
from fairfield.games.features.pipelines import Encoding, Inside, look_inside
from fairfield.games.features.rows import Matrix, Tabular
from fairfield.games.outputs import asks_all, classes_of
from fairfield.games.trees.model import COMPARED, TreeModel
from fairfield.games.trees.readers.registry import read_model, reader_of

# Outputs of values that are one value to the model differ by rounding, relative to the largest.
ROUNDING = 1e-6
# Tables of fewer model rows are sooner asked for than columns are followed through a pipeline.
FEW_ROWS = 2**20


class Trees(NamedTuple):
    """The trees of all outputs of a model, and what happens to rows before they reach them."""

    model: TreeModel
    inside: Inside

    def pays(self, tabular: Tabular) -> bool:
        """Whether these are rows of the trees, or many enough behind a pipeline."""
        width = len(tabular.columns)
        if not self.inside.transforms:
            return self.model.columns == width
        return len(tabular.rows) * len(tabular.background) << width > FEW_ROWS

    def codes(self, tabular: Tabular, cells: Matrix) -> IntArray:
        """Numbers (k, columns) of rows, equal where the trees cannot tell the values of a column apart."""
        whole = tabular.decode(cells.copy())
        if not self.inside.transforms:
            return bins(self.model, self.model.encode(whole))
        rows, others = (tabular.decode(own.copy()) for own in (tabular.rows, tabular.background))
        encoding = Encoding(
            self.inside, lambda given: self.model.encode(self.inside.encoded(given)), rows, others
        )
        seen = bins(self.model, np.concatenate([encoding(rows), encoding(others)]))
        found = np.zeros(cells.shape, dtype=np.int64)
        for j in range(cells.shape[1]):
            made = seen[:, encoding.owners == j]
            if made.shape[1]:
                found[:, j] = np.unique(made, axis=0, return_inverse=True)[1].ravel()
        return found


def binned(tabular: Tabular, trees: Trees | None, output: ModelOutput) -> Tabular:
    """The same rows, with codes that agree where the model's trees cannot tell values apart.

    What was read is not taken on trust: where the outputs of some rows change as every value makes
    room for another one of its bin, the codes stay as they were.
    """
    if trees is None or not trees.pays(tabular):
        return tabular
    cells, own = np.concatenate([tabular.rows, tabular.background]), len(tabular.rows)
    try:
        codes = trees.codes(tabular, cells)
    except (TypeError, ValueError):  # not rows that these trees take, or columns that are mixed
        return tabular
    # Each value replaced by the one of its bin that comes first in the column.
    others = np.empty_like(cells)
    for j, column in enumerate(codes.T):
        _, first, inverse = np.unique(column, return_index=True, return_inverse=True)
        others[:, j] = cells[first[inverse], j]
    some = np.unique(np.linspace(0, len(cells) - 1, COMPARED).astype(int))
    before, after = (output(tabular.decode(each[some])) for each in (cells, others))
    if not np.allclose(after, before, rtol=0, atol=ROUNDING * np.abs(before).max()):
        return tabular
    return replace(tabular, row_codes=codes[:own], background_codes=codes[own:])


def bins(trees: TreeModel, rows: FloatArray) -> IntArray:
    """Which bin of its column each cell of encoded rows (k, columns) is in.

    Missing values are in the bin of the numbers with which they go at every split, or in one of
    their own. Values of a column with categorical splits have a bin each.
    """
    nodes, codes = trees.nodes, np.zeros(rows.shape, dtype=np.int64)
    splits = np.flatnonzero(nodes.left >= 0)
    splits = splits[np.argsort(nodes.feature[splits], kind="stable")]
    columns, starts = np.unique(nodes.feature[splits], return_index=True)
    for j, own in zip(columns.tolist(), np.split(splits, starts[1:]), strict=False):
        if (nodes.category[own] >= 0).any():
            codes[:, j] = np.unique(rows[:, j], return_inverse=True)[1]
            continue
        edges, at = np.unique(nodes.threshold[own], return_inverse=True)
        # Up to the threshold is left of it.
        codes[:, j] = np.searchsorted(edges, rows[:, j])
        left = nodes.missing_left[own]
        # Numbers of bin k go left at the edges from the k-th on.
        k = len(np.unique(at[~left]))
        codes[np.isnan(rows[:, j]), j] = k if (left == (at >= k)).all() else -1
    return codes


def trees_of(predict: Any) -> Trees | None:
    """The trees of a model, of what is inside, or of the model whose method this is; None if unread."""
    inside = look_inside(getattr(predict, "__self__", predict))
    model = inside.model
    if inside.refusal or reader_of(model) is None:
        return None
    try:
        # A probability depends on the trees of all classes.
        every = asks_all("all", classes_of(model))
        return Trees(read_model(model, "all"), inside) if every else None
    except (TypeError, ValueError):
        return None
