"""The features behind the output of any model."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.coalitions import members, spell
from fairfield.core.fingerprint import digest, text_of
from fairfield.core.game import Game, GameInfo, Traits
from fairfield.core.parts import Division
from fairfield.evaluation.outcomes import WorthError
from fairfield.evaluation.progress import bar
from fairfield.games.features.background.weights import weighted_rows
from fairfield.games.features.bins import Trees, binned, trees_of
from fairfield.games.features.corners import Tables, most_rows
from fairfield.games.features.frames import as_given
from fairfield.games.features.groups import Groups, group_columns, shown_values
from fairfield.games.features.model_output import (
    Function,
    ModelOutput,
    link_of,
    linked,
    linked_name,
    output_of,
)
from fairfield.games.features.parts import divide
from fairfield.games.features.rows import (
    Matrix,
    Tabular,
    as_table,
    batch_of_rows,
    info_of_rows,
    replaced,
    sparse_rows,
)
from fairfield.games.features.subcubes import Cubes, Sums
from fairfield.games.trees.readers.registry import absent_entries

# Rows on which the outputs for a sparse matrix and for its dense form are compared.
COMPARED = 256
# A notice is printed when a table is expected to take longer than this, in seconds.
LONG = 10.0
TREE_ADVICE = "use TreeGame, which has a closed form for this model"


class FeatureGame(Game):
    """A model's output at each explained row; the players are the features.

    The worth of S for the row x is the mean over all background rows b of
    predict(x on S, b elsewhere), then passed through ``link`` (None, "logit" or a function).
    One row (a 1-D array or a Series) is one game, a table of m rows a batch of m.

    - ``predict``: a fitted estimator or any function of a table of rows. ``output`` names
      the class of a classifier (by default the second of two) or the column of a function;
      "all" has all of them, from the same evaluations of the model, in a last axis of the
      batch, "margin" asks for the ``decision_function``, "label" for the probability of each row's
      true class in ``y``.
    - ``background``: rows, each counting as much as its ``sample_weight`` says (as those of
      ``shap.kmeans`` do), one baseline row, or a function ``(row, kept, rng) -> rows`` that
      draws replacements given the columns that are ``kept`` (a boolean per column); it gets
      the row as it was given (a frame of one row, or a 1-D array), and what it returns in kept
      columns is ignored. The same coalition always sees the same ``rng``.
    - A function gets rows in the library of those that were given: frames of pandas, Polars or
      PyArrow, arrays of NumPy or PyTorch. A module of PyTorch is asked in batches, without gradients.
    - Sparse rows reach the model as a dense array, with a missing value where there is no entry
      if the model is XGBoost's and a zero otherwise; a model that answers differently is refused.
    - ``groups``: {name: columns}, or one label per column; such columns are one feature.

    All 2^n worths cost Σ_b 2^d(x, b) model rows, d the features in which b differs from x,
    and fewer where background rows agree among themselves.

    >>> game = FeatureGame(lambda X: X[:, 0] * X[:, 1], rows=[2.0, 3.0, 5.0],
    ...                    background=[[0.0, 1.0, 5.0], [1.0, 1.0, 5.0]])
    >>> game.table()
    array([0.5, 2. , 1.5, 6. , 0.5, 2. , 1.5, 6. ])
    """

    def __init__(
        self,
        predict: Any,
        rows: Any,
        background: Any,
        *,
        output: Any = None,
        y: Any = None,
        groups: Groups | None = None,
        link: str | Function | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> None:
        background, self._weights = weighted_rows(background, sample_weight)
        if background is None:
            raise ValueError(
                "no background was given; pass rows to take other values from, one baseline row, "
                "or a function that draws them"
            )
        self.draw: Callable[..., Any] | None = background if callable(background) else None
        self._trees = trees_of(predict) if self.draw is None else None
        self._absent, self.link = absent_entries(predict), link_of(link)
        self._given = predict, background, output, groups
        self._take(rows, y)

    def explaining(self, rows: Any, y: Any = None) -> FeatureGame:
        """The game of other rows, with what was read of the model.

        >>> game = FeatureGame(lambda X: X[:, 0] * X[:, 1], [2.0, 3.0], background=[0.0, 1.0])
        >>> game.explaining([1.0, 1.0]).table()
        array([0., 1., 0., 1.])
        """
        if "_given" not in self.__dict__:
            raise ValueError(
                "this game came from another process without its background; make a FeatureGame here"
            )
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._take(rows, y)
        return other

    def __getstate__(self) -> dict[str, Any]:
        # What other rows would need, and not these, does not travel.
        left = ("_given", "_trees")
        return {name: held for name, held in self.__dict__.items() if name not in left}

    def _take(self, rows: Any, y: Any) -> None:
        """Take the rows to explain."""
        predict, background, output, groups = self._given
        others = None if self.draw else as_table(background, rows, self._absent)[1]
        single, explained = as_table(rows, others, self._absent)
        for table, whose in ((explained, "rows"), (others, "background")):
            if table is not None and 0 in table.shape:
                raise ValueError(
                    f"{whose} of shape {table.shape} were given; give at least one row"
                )
        self.given = explained
        self.tabular = Tabular.of(explained, explained if others is None else others, predict)
        self.columns = self.tabular.columns
        self.players, self.player_of = group_columns(self.columns, groups)
        back = as_given(rows) or as_given(background)
        self.output = output_of(predict, output, y, explained, back)
        for given, table in ((rows, explained), (background, others)):
            _compare(self.output, sparse_rows(given), table)
        what = linked_name(self.output.what, self.link)
        self.batch = batch_of_rows(explained, single, what)
        data = shown_values(explained, self.player_of)
        trees = self._trees
        advice = GameInfo.advice if trees is None or self.link else _advice(trees)
        self.info = info_of_rows(explained, single, what, data, advice)
        if (draws := getattr(self.draw, "draws", None)) is not None:
            drawn = f"worths are means over {draws} draws of the features that are removed"
            self.info = replace(self.info, note=drawn)
        tabular = binned(self.tabular, trees, self.output)
        self._cubes = cubes = Cubes.of(tabular, self.players, self.player_of, self._weights)
        if self.draw is None:
            nulls = np.ones((len(cubes.row_codes), len(self.players)), dtype=bool)
            for x, own in enumerate(nulls):
                own[cubes.mattering(x)] = False
            nulls = np.repeat(nulls, self.output.column.shape[1], axis=0)
            self.traits = Traits(nulls=nulls.reshape((*self.batch, -1)))

    def worths(self, coalitions: BoolArray) -> FloatArray:
        """Mean outputs by the definition: m model rows for each explained row and coalition."""
        if self.draw is not None:
            return linked(self._drawn_worths(coalitions), self.link)
        cubes = self._cubes
        rows, background, weights = cubes.rows, cubes.background, cubes.weights
        keep = coalitions[:, self.player_of]
        shape = (len(rows), len(coalitions), len(background))
        total, step = int(np.prod(shape)), most_rows(rows)
        sums = np.zeros((self.output.column.shape[1], shape[0] * shape[1]))
        for start in range(0, total, step):
            number = np.arange(start, min(start + step, total))
            x, s, b = np.unravel_index(number, shape)
            mixed = np.where(keep[s], rows[x], background[b])
            outputs = np.take_along_axis(self._predict(mixed), self.output.column[x], axis=1)
            for own, column in zip(sums, (outputs * weights[b, None]).T, strict=True):
                own += np.bincount(x * shape[1] + s, weights=column, minlength=len(own))
        means = (sums / weights.sum()).reshape(-1, *shape[:2]).swapaxes(0, 1)
        return linked(means.reshape((*self.batch, len(coalitions))), self.link)

    def table(self, progress: bool | None = None) -> FloatArray | None:
        """All worths (*batch, 2^n) by sub-cubes; None where replacements are drawn."""
        if self.draw is not None:
            return None
        with self._asking(progress) as tables:
            worths = tables.fill()
        return linked(worths.reshape((*self.batch, -1)), self.link)

    def division(self) -> Division | None:
        """The sum of tables over the features in which rows differ; None where these are drawn."""
        if self.draw is not None:
            return None
        return divide(self._cubes, self.output.column.shape[1], self.link, self._summed)

    def model_rows(self, coalitions: int | None = None) -> int:
        """The number of rows that the table needs from the model, or so many single worths, at most."""
        if self.draw is None and coalitions is None:
            return self._cubes.model_rows()
        each = len(self._cubes.background) if self.draw is None else getattr(self.draw, "draws", 1)
        count = 2 ** len(self.players) if coalitions is None else coalitions
        return len(self.given) * int(each) * count

    def _summed(self, progress: bool | None) -> Iterator[tuple[int, Sums]]:
        with self._asking(progress) as tables:
            yield from tables.summed()

    @contextmanager
    def _asking(self, progress: bool | None) -> Iterator[Tables]:
        """Tables to be filled while a bar, or a notice that it takes long, is shown."""
        total = self.model_rows()
        with bar(total, "model rows", progress) as shown:
            started = time.perf_counter()

            def done(count: int) -> None:
                if not shown.disable and not shown.n and count < total:
                    seconds = (time.perf_counter() - started) * total / count
                    if seconds > LONG:
                        notice = f"{self!r}: {total:,} model rows, about {seconds:,.0f} s"
                        shown.write(notice, file=sys.stderr)
                shown.update(count)

            yield Tables(self._cubes, self._predict, self.output.column, done)

    def describe(self) -> dict[str, Any]:
        tabular = self.tabular
        parts: list[NDArray[Any]] = [self.output.column, self.player_of]
        if self._weights is not None:
            parts.append(self._weights)
        for rows in (tabular.rows,) if self.draw else (tabular.rows, tabular.background):
            # A model is identified by its outputs here; it gets a copy, which it may change.
            outputs = self.output(tabular.decode(rows.copy())).astype(np.float32)
            cells = np.asarray(tabular.decode(rows))
            parts += [outputs, cells.astype(str) if cells.dtype == object else cells]
        return {
            **super().describe(),
            "model": self.output.name,
            "columns": [str(c) for c in tabular.columns],
            "link": None if self.link is None else text_of(self.link),
            "drawn": None if self.draw is None else text_of(self.draw),
            "data": digest(*parts),
        }

    def _predict(self, mixed: Matrix) -> FloatArray:
        return self.output(self.tabular.decode(mixed))

    def _drawn_worths(self, coalitions: BoolArray) -> FloatArray:
        """Mean outputs over what the function draws for each explained row and coalition."""
        means = np.empty((*self.output.column.shape, len(coalitions)))
        for x, s in np.ndindex(len(self.given), len(coalitions)):
            kept = coalitions[s, self.player_of]
            rng = np.random.default_rng([x, *np.packbits(kept).tolist()])
            outputs = self.output(replaced(self.draw, self.given, x, kept, rng))
            found = means[x, :, s] = outputs[:, self.output.column[x]].mean(axis=0)
            if not np.isfinite(found).all():
                raise WorthError(
                    f"the model's output is {found[~np.isfinite(found)][0]} where row {x} keeps "
                    f"{spell(members(coalitions[s], self.players))} and the others are drawn; every "
                    "output must be a finite number"
                )
        return means.reshape((*self.batch, len(coalitions)))


def _compare(output: ModelOutput, sparse: Any, table: Any) -> None:
    """Refuse a model that answers otherwise to a sparse matrix than to its dense form."""
    if sparse is None:
        return
    try:
        own = output(sparse[:COMPARED])
    except Exception:
        return  # it takes dense rows only, and says so in its own way
    apart = np.abs(own - output(table[:COMPARED].copy())).max()
    if apart > 1e-6 * max(1.0, np.abs(own).max()):
        raise ValueError(
            f"{output.name} returns other numbers for the sparse matrix than for its dense form, by up "
            f"to {apart:.3g}, so an absent entry is no zero to it; give dense rows with the values "
            "that are meant"
        )


def _advice(trees: Trees) -> str:
    """What there is for a model with these trees, which may sum to another quantity."""
    summed = trees.model.outputs[0]
    margin = summed.unit == "log-odds" or "margin" in summed.name
    if not trees.inside.alone:
        return "explain the margin, which has a closed form" if margin else GameInfo.advice
    return f"{TREE_ADVICE}'s margin" if margin else TREE_ADVICE
