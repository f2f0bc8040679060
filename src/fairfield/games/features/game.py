"""The features behind the output of any model."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.coalitions import members, spell
from fairfield.core.fingerprint import digest, text_of
from fairfield.core.game import Game, GameInfo, Traits
from fairfield.evaluation.progress import bar
from fairfield.evaluation.workers import WorthError
from fairfield.games.features.corners import Tables, most_rows
from fairfield.games.features.model_output import link_of, output_of, unit_of
from fairfield.games.features.rows import (
    Groups,
    Matrix,
    Tabular,
    as_table,
    group_columns,
    row_labels,
)
from fairfield.games.features.subcubes import Cubes

# Runs expected to take longer than this, in seconds, say so when they begin.
LONG = 10.0
# Models that TreeGame reads, by the names of their base classes.
TREES = {
    "BaseForest", "BaseDecisionTree", "BaseGradientBoosting", "BaseHistGradientBoosting",
    "XGBModel", "LGBMModel", "Booster",
}  # fmt: skip
TREE_ADVICE = "use TreeGame, which has a closed form for this model"


class FeatureGame(Game):
    """A model's output at each explained row, played by the features.

    The worth of S for the row x is the mean over all background rows b of
    predict(x on S, b elsewhere), then passed through ``link`` (None, "logit" or a function).
    One row (a 1-D array or a Series) is one game, a table of m rows a batch of m.

    - ``predict``: a fitted estimator or any function of a table of rows. ``output`` names
      the class of a classifier (by default the second of two) or the column of a function;
      ``output="label"`` plays for the probability of each row's true class in ``y``.
    - ``background``: rows, one baseline row, or a function ``(row, kept, rng) -> rows`` that
      draws replacements given the columns that are ``kept`` (a boolean per column); it gets
      the row as it was given (a frame of one row, or a 1-D array), and what it says of kept
      columns is ignored. The same coalition always sees the same ``rng``.
    - ``groups``: {player: columns}, or one label per column; such columns play as one.

    All 2^n worths cost Σ_b 2^d(x, b) model rows, d the players in which b differs from x,
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
        link: str | Callable[[Any], Any] | None = None,
    ) -> None:
        drawn = callable(background)
        if background is None:
            raise ValueError(
                "no background was given; pass rows to take other values from, one baseline row, "
                "or a function that draws them"
            )
        others = None if drawn else as_table(background, rows)[1]
        single, explained = as_table(rows, others)
        for table, what in ((explained, "rows"), (others, "background")):
            if table is not None and 0 in table.shape:
                raise ValueError(f"{what} of shape {table.shape} were given; give at least one row")
        self.draw: Callable[..., Any] | None = background if drawn else None
        self.given = explained
        self.tabular = Tabular.of(explained, explained if others is None else others)
        self.players, self.player_of = group_columns(self.tabular.columns, groups)
        self.batch = () if single else (len(explained),)
        self.output = output_of(predict, output, y, len(explained))
        self.link = link_of(link)
        meaning = _linked_name(self.output.meaning, self.link)
        self.info = GameInfo(
            labels=None if single else row_labels(explained),
            worth_name=meaning,
            unit=unit_of(meaning),
            data=_shown(explained, self.player_of).reshape((*self.batch, -1)),
            noun="feature",
            row_noun="row",
            advice=TREE_ADVICE if is_tree_model(predict) else GameInfo.advice,
        )
        if not drawn:
            cubes = self._cubes
            nulls = [(cubes.codes == own).all(axis=0) for own in cubes.row_codes]
            self.traits = Traits(nulls=np.stack(nulls).reshape((*self.batch, -1)))

    def worths(self, coalitions: BoolArray) -> FloatArray:
        """Mean outputs by the definition: m model rows for each explained row and coalition."""
        if self.draw is not None:
            return self._linked(self._drawn_worths(coalitions))
        rows, background = self.tabular.rows, self.tabular.background
        keep = coalitions[:, self.player_of]
        shape = (len(rows), len(coalitions), len(background))
        total, step = int(np.prod(shape)), most_rows(rows)
        sums = np.zeros(shape[0] * shape[1])
        for start in range(0, total, step):
            number = np.arange(start, min(start + step, total))
            x, s, b = np.unravel_index(number, shape)
            mixed = np.where(keep[s], rows[x], background[b])
            outputs = self._ask(mixed)[np.arange(len(number)), self.output.column[x]]
            sums += np.bincount(x * shape[1] + s, weights=outputs, minlength=len(sums))
        means = sums / len(background)
        return self._linked(means.reshape((*self.batch, len(coalitions))))

    def table(self, progress: bool | None = None) -> FloatArray | None:
        """All worths (*batch, 2^n) by sub-cubes; None where replacements are drawn."""
        if self.draw is not None:
            return None
        cubes = self._cubes
        total = cubes.model_rows()
        with bar(total, "model rows", progress) as shown:
            started, seen = time.perf_counter(), 0

            def done(count: int) -> None:
                nonlocal seen
                if not seen and count < total:
                    seconds = (time.perf_counter() - started) * total / count
                    if seconds > LONG and not shown.disable:
                        told = f"{self!r}: {total:,} model rows, about {seconds:,.0f} s"
                        shown.write(told, file=sys.stderr)
                seen += count
                shown.update(count)

            tables = Tables(cubes, self._ask, self.output.column, done).fill()
        return self._linked(tables.reshape((*self.batch, -1)))

    def model_rows(self) -> int:
        """How many rows the table asks of the model, at most."""
        return self._cubes.model_rows()

    def describe(self) -> dict[str, Any]:
        known = self.tabular
        parts: list[NDArray[Any]] = [self.output.column, self.player_of]
        for rows in (known.rows,) if self.draw else (known.rows, known.background):
            # A model is known by what it answers here; it gets a copy, which it may change.
            answers = self.output(known.decode(rows.copy())).astype(np.float32)
            parts += [answers, _texts(known.decode(rows))]
        return {
            **super().describe(),
            "model": self.output.name,
            "columns": [str(c) for c in known.columns],
            "link": None if self.link is None else text_of(self.link),
            "drawn": None if self.draw is None else text_of(self.draw),
            "data": digest(*parts),
        }

    @cached_property
    def _cubes(self) -> Cubes:
        """Explained and background rows by player; equal background rows are one, weighted."""
        known = self.tabular
        of_rows, of_background = known.row_codes, known.background_codes
        owned = np.arange(len(self.players))[:, None] == self.player_of
        if len(self.players) < len(self.player_of):
            joint = np.concatenate([of_rows, of_background])
            codes = [
                np.unique(joint[:, own], axis=0, return_inverse=True)[1].ravel() for own in owned
            ]
            of_rows, of_background = np.split(np.stack(codes, axis=1), [len(of_rows)])
        else:
            # Players may be in another order than their columns.
            column = np.argsort(self.player_of)
            of_rows, of_background = of_rows[:, column], of_background[:, column]
        distinct, first, counts = np.unique(
            of_background, axis=0, return_index=True, return_counts=True
        )
        return Cubes(
            self.players,
            known.rows,
            known.background[first],
            counts.astype(float),
            of_rows,
            distinct,
            owned,
        )

    def _ask(self, mixed: Matrix) -> FloatArray:
        return self.output(self.tabular.decode(mixed))

    def _linked(self, means: FloatArray) -> FloatArray:
        if self.link is None:
            return means
        # A copy, since a link may answer in one buffer again and again.
        linked = np.array(self.link(means), dtype=float)
        if linked.shape != means.shape:
            raise ValueError(
                f"the link returned shape {linked.shape} for {means.shape}; it must work cell by cell"
            )
        return linked

    def _drawn_worths(self, coalitions: BoolArray) -> FloatArray:
        """Mean outputs over what the sampler draws for each explained row and coalition."""
        means = np.empty((len(self.given), len(coalitions)))
        for x in range(len(means)):
            for s, coalition in enumerate(coalitions):
                kept = coalition[self.player_of]
                rng = np.random.default_rng([x, *np.packbits(coalition).tolist()])
                outputs = self.output(_replaced(self.draw, self.given, x, kept, rng))
                means[x, s] = outputs[:, self.output.column[x]].mean()
                if not np.isfinite(means[x, s]):
                    raise WorthError(
                        f"the model's output is {means[x, s]} where row {x} keeps "
                        f"{spell(members(coalition, self.players))} and the others are drawn; every "
                        "output must be a finite number"
                    )
        return means.reshape((*self.batch, len(coalitions)))


def _linked_name(meaning: str, link: Callable[[Any], Any] | None) -> str:
    if link is None:
        return meaning
    return f"{getattr(link, '__name__', 'link').lstrip('_')} of the {meaning}"


def is_tree_model(model: Any) -> bool:
    """Whether this is a model of trees, which ``TreeGame`` may read."""
    return bool(TREES & {base.__name__ for base in type(model).__mro__})


def _replaced(draw: Any, given: Any, x: int, kept: BoolArray, rng: np.random.Generator) -> Any:
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


def _shown(given: Any, player_of: NDArray[np.int64]) -> NDArray[Any]:
    """The values of the players (N, n), those of several columns joined as text."""
    table = np.asarray(given)
    owned = [np.flatnonzero(player_of == i) for i in range(int(player_of.max()) + 1)]
    if all(len(own) == 1 for own in owned):
        return table[:, np.concatenate(owned)]
    columns = [
        table[:, own[0]] if len(own) == 1 else [", ".join(map(str, row)) for row in table[:, own]]
        for own in owned
    ]
    shown = np.empty((len(table), len(owned)), dtype=object)
    for i, column in enumerate(columns):
        shown[:, i] = column
    return shown


def _texts(table: Any) -> NDArray[Any]:
    """A table as bytes that tell it from others."""
    values = np.asarray(table)
    return values if values.dtype != object else values.astype(str)
