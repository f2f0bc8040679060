"""The features behind the output of a tree model.

The worth of a coalition is the model's mean output when its features keep the values of
the explained row and the others come from a background row (interventional), or when a
split on any other feature sends the row both ways, by training weight (path-dependent).
Leaf by leaf both are products over the players on the path, so the multilinear extension
and all its derivatives are sums of products, for any number of features.

Prior work: TreeSHAP (Lundberg et al., 2020), Linear TreeSHAP, Banzhaf values of trees
(Karczmarz et al., 2022), and WOODELF, which collapses the background into patterns.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray, elsewhere, on_host
from fairfield.core.coalitions import spell
from fairfield.core.fingerprint import digest
from fairfield.core.game import Game
from fairfield.core.runtime.imports import needed_for
from fairfield.games.features.groups import Groups, group_columns, joins
from fairfield.games.features.rows import as_table, batch_of_rows, info_of_rows, sparse_rows
from fairfield.games.outputs import Explained, classes_of, explained
from fairfield.games.trees.model import ELSEWHERE, TreeModel, names_of, same_columns
from fairfield.games.trees.readers.registry import absent_entries, read_model

if TYPE_CHECKING:
    from fairfield.core.extension import Extension
    from fairfield.games.trees.extension import AlongDiagonal, Forest


class TreeGame(Game):
    """The output of a tree model at each explained row; the players are the features.

    ``rows`` has shape (features,) for one game or (m, features) for a batch of m. With a
    ``background`` the worth of S is the mean output over its rows b of the explained row on
    S and b elsewhere; without one it is path-dependent. The output is the raw margin of a
    boosted model and the average of a forest; ``output`` names a class, or a column of a
    regression by its number, and "all" has all of them in a last axis of the batch. Where a sparse
    matrix has no entry, XGBoost takes the value for missing and other libraries take it for zero,
    and so does the game. ``groups`` makes several columns one feature: {name: columns}, columns in
    no group staying features of their own, or one label per column. ``times`` asks a survival forest
    for its survival function at a time, or at several along one more axis of the batch; with
    ``output="cumulative hazard"`` for that. Rows and background may be arrays of PyTorch or CuPy on a GPU,
    where Shapley values, semivalues and pairs are then found. The first use on a machine compiles for
    some seconds.

    >>> from sklearn.tree import DecisionTreeRegressor
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]
    >>> game = TreeGame(DecisionTreeRegressor(random_state=0).fit(X, y), [1, 1], background=X)
    >>> game.extension().shapley()
    array([0.375, 0.375])
    """

    def __init__(
        self,
        model: Any,
        rows: Any,
        background: Any = None,
        *,
        output: Any = None,
        groups: Groups | None = None,
        times: Any = None,
    ) -> None:
        with needed_for("TreeGame"):
            import numba  # noqa: F401
        from fairfield.games.trees.extension import Forest
        from fairfield.games.trees.products.terms import MOST
        from fairfield.games.trees.worths import extent

        if callable(background):
            raise TypeError(
                "the background is a function, and trees need its rows; give rows, or use FeatureGame, "
                "for which a function may draw them"
            )
        trees = model if isinstance(model, TreeModel) else read_model(model, output, times)
        self._trees, self._absent = trees, absent_entries(trees.model)
        self._what = explained(trees.outputs, output, classes_of(trees.model))
        if np.ndim(times):
            name = trees.outputs[0].name.partition(" at time ")[0]
            labels = tuple(np.asarray(times).tolist())
            self._what = Explained(name, trees.outputs[0].unit, labels, "time")
        self.kind = trees.kind
        self._groups = groups
        given = self._take(rows, background)
        names = names_of(given)
        forest: type[Forest] = Forest
        others: Any = np.empty((trees.columns, 0))
        if elsewhere(given):
            from fairfield.games.trees.device.forest import DeviceForest
            from fairfield.games.trees.device.tables import DeviceRows

            forest, others = DeviceForest, DeviceRows(trees, given[:0])
        if background is not None:
            _, table = self._table(background, given)
            # A model without names takes columns by their places: their order is left as it is.
            if names is not None and trees.names and set(names_of(table) or ()) == set(names):
                table = table[list(names)]
            trees.check_columns(table, "background", names)
            names = names or names_of(table)
            others = trees.seen(table, sparse_rows(background), given)
        self.columns = names or tuple(range(trees.columns))
        self.players, player_of = group_columns(self.columns, groups)
        nodes = trees.nodes._replace(player=player_of[trees.nodes.feature])
        depth, degree = extent(nodes)
        if background is not None and degree.max() > MOST:
            raise ValueError(
                f"a path of the {self.kind} splits on {degree.max()} features, and at most {MOST} can be "
                "followed with a background; join columns by groups=, limit the depth, or give no "
                f"background; {ELSEWHERE}"
            )
        self.forest = forest(nodes, trees.intercept, len(self.players), others, depth, degree)

    def _take(self, rows: Any, like: Any, *, trusting: bool = False) -> Any:
        """Take the rows to explain; answers them as a table."""
        single, given = self._table(rows, like)
        if not trusting or not len(given) or given.shape[1] != self._trees.columns:
            self._trees.check_columns(given, "rows")
        elif not same_columns(given, like):
            raise ValueError(_other_columns(names_of(given), names_of(like)))
        self.batch = batch_of_rows(given, single, self._what)
        shown = given.to_numpy() if hasattr(given, "to_numpy") else on_host(given, None)
        data = None if joins(self._groups) else np.array(shown)  # rows may change after the call
        self.info = info_of_rows(given, single, self._what, data)
        before = like if trusting else None
        self.rows = self._trees.seen(given, sparse_rows(rows), before, trusting=trusting)
        self._like = before if trusting else given[:1]
        return given

    def _table(self, rows: Any, like: Any) -> tuple[bool, Any]:
        """Whether a single row was given, and a table, on a device where one of the two is there."""
        if not (elsewhere(rows) or elsewhere(like)):
            return as_table(rows, like, self._absent)
        if (self._trees.nodes.category >= 0).any():
            # Splits by categories are followed on the host.
            rows, like = (on_host(each, None) if elsewhere(each) else each for each in (rows, like))
            return as_table(rows, like, self._absent)
        from fairfield.games.trees.device.forest import device_table

        return device_table(rows, like)

    def explaining(self, rows: Any) -> TreeGame:
        """The game of other rows, with what was read and counted of the model and the background.

        Rows of the same dtypes as those before, without a missing value where there was none, are
        not compared with the model's own output once more.

        >>> from sklearn.tree import DecisionTreeRegressor
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]
        >>> game = TreeGame(DecisionTreeRegressor(random_state=0).fit(X, y), [1, 1], background=X)
        >>> game.explaining([0, 0]).extension().shapley()
        array([-0.125, -0.125])
        """
        if "_trees" not in self.__dict__:
            raise ValueError(
                "this game came from another process without its model; make a TreeGame here"
            )
        if elsewhere(rows) and not elsewhere(self._like):
            rows = on_host(rows, None)  # where the background is
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        given = other._take(rows, self._like, trusting=True)
        self.forest.diagonal.others += len(given)
        return other

    def __getstate__(self) -> dict[str, Any]:
        # The rows are encoded already; the model need not travel with them.
        return {
            name: held for name, held in self.__dict__.items() if name not in ("_trees", "_like")
        }

    def worths(self, coalitions: BoolArray) -> FloatArray:
        return self.forest.worths(self.rows, coalitions).reshape((*self.batch, -1))

    def extension(self) -> Extension:
        from fairfield.games.trees.extension import DependentExtension
        from fairfield.games.trees.outputs import OutputsExtension
        from fairfield.games.trees.products.interventional import InterventionalExtension

        kind = DependentExtension if self.forest.dependent else InterventionalExtension

        def closed(forest: Forest) -> AlongDiagonal:
            if self.info.outputs is not None:
                return OutputsExtension(kind, forest, np.asarray(self.rows), self.batch)
            return kind(forest, np.asarray(self.rows), self.batch)

        if isinstance(self.rows, np.ndarray):
            return closed(self.forest)
        from fairfield.games.trees.device.forest import DeviceExtension

        return DeviceExtension(closed, self.forest, self.rows, self.batch)

    def describe(self) -> dict[str, Any]:
        forest = self.forest
        arrays = digest(*forest.nodes, self.rows, forest.background)
        return {
            **super().describe(),
            "model": self.kind,
            "intercept": forest.intercept.tolist(),
            "arrays": arrays,
        }


def _other_columns(names: tuple[Hashable, ...] | None, before: tuple[Hashable, ...] | None) -> str:
    """What is wrong with rows whose columns are not those of the rows before."""
    seen = "an array, without names of columns" if names is None else "a frame"
    if names is not None and before is not None:
        seen = "a frame with other columns than those explained before"
    wanted = "an array" if before is None else f"a frame with {spell(before)} in that order"
    return f"the rows are {seen}; give {wanted}, as the first ones were"
