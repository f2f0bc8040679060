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

import warnings
from collections.abc import Hashable
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray, elsewhere, on_host
from fairfield.core.coalitions import spell
from fairfield.core.fingerprint import digest
from fairfield.core.game import Game
from fairfield.core.imports import needed_for
from fairfield.games.features.groups import Groups, group_columns
from fairfield.games.features.rows import as_table, batch_of_rows, info_of_rows, sparse_rows
from fairfield.games.outputs import Explained, classes_of, explained
from fairfield.games.trees.model import ELSEWHERE, TreeModel, categorical, picked
from fairfield.games.trees.readers.registry import absent_entries, read_model

if TYPE_CHECKING:
    from fairfield.core.extension import Extension
    from fairfield.games.trees.extension import AlongDiagonal, Forest

# Rows on which what was read is compared with the model's own output.
COMPARED = 256


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
        from fairfield.games.trees.terms import MOST
        from fairfield.games.trees.worths import extent

        trees = read_model(model, output, times)
        self._trees, self._absent = trees, absent_entries(model)
        self._what = explained(trees.outputs, output, classes_of(model))
        if np.ndim(times):
            name = trees.outputs[0].name.partition(" at time ")[0]
            labels = tuple(np.asarray(times).tolist())
            self._what = Explained(name, trees.outputs[0].unit, labels, "time")
        self.kind = trees.kind
        given = self._take(rows, background, groups)
        names = _columns(given)
        forest: type[Forest] = Forest
        others: Any = np.empty((trees.columns, 0))
        if elsewhere(given):
            from fairfield.games.trees.device import DeviceForest
            from fairfield.games.trees.device_tables import DeviceRows

            forest, others = DeviceForest, DeviceRows(trees, given[:0])
        if background is not None:
            _, table = self._table(background, given)
            if names is not None and set(_columns(table) or ()) == set(names):
                table = table[list(names)]
            _check_columns(trees, table, "background", names)
            _check_categories(trees, given, table)
            others = _encode(trees, table, sparse_rows(background))
        player_of = group_columns(names or tuple(range(trees.columns)), groups)[1]
        nodes = trees.nodes._replace(player=player_of[trees.nodes.feature])
        depth, degree = extent(nodes)
        if degree.max() > MOST:
            raise ValueError(
                f"a path of the {self.kind} splits on {degree.max()} features, and at most {MOST} can be "
                f"followed; join columns by groups=, or limit the depth; {ELSEWHERE}"
            )
        self.forest = forest(nodes, trees.intercept, len(self.players), others, depth, degree)

    def _take(self, rows: Any, like: Any, groups: Groups | None) -> Any:
        """Take the rows to explain; answers them as a table."""
        trees = self._trees
        single, given = self._table(rows, like)
        _check_columns(trees, given, "rows")
        names = _columns(given) or tuple(range(trees.columns))
        self.batch = batch_of_rows(given, single, self._what)
        self.players, _ = group_columns(names, groups)
        data = on_host(given, None) if groups is None else None
        self.info = info_of_rows(given, single, self._what, data)
        self.rows = _encode(trees, given, sparse_rows(rows))
        self._like, self._groups = given[:1], groups
        return given

    def _table(self, rows: Any, like: Any) -> tuple[bool, Any]:
        """Whether a single row was given, and a table, on a device where one of the two is there."""
        if not (elsewhere(rows) or elsewhere(like)):
            return as_table(rows, like, self._absent)
        if (self._trees.nodes.category >= 0).any():
            # Splits by categories are followed on the host.
            rows, like = (on_host(each, None) if elsewhere(each) else each for each in (rows, like))
            return as_table(rows, like, self._absent)
        from fairfield.games.trees.device import device_table

        return device_table(rows, like)

    def explaining(self, rows: Any) -> TreeGame:
        """The game of other rows, with what was read and counted of the model and the background.

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
        other = copy(self)
        other._trees = self._trees
        given = other._take(rows, self._like, self._groups)
        _check_categories(self._trees, given, self._like)
        if _columns(given) != _columns(self._like):
            raise ValueError(
                "the rows have other columns than those explained before; give the same in that order"
            )
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
        from fairfield.games.trees.interventional import InterventionalExtension
        from fairfield.games.trees.outputs import OutputsExtension

        kind = DependentExtension if self.forest.dependent else InterventionalExtension

        def closed(forest: Forest) -> AlongDiagonal:
            if self.info.outputs is not None:
                return OutputsExtension(kind, forest, np.asarray(self.rows), self.batch)
            return kind(forest, np.asarray(self.rows), self.batch)

        if isinstance(self.rows, np.ndarray):
            return closed(self.forest)
        from fairfield.games.trees.device import DeviceExtension

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


def _encode(trees: TreeModel, table: Any, sparse: Any) -> Any:
    """Rows as the splits see them, (columns, rows).

    On the first rows the trees that were read are compared with the model's own output, for
    the ``sparse`` matrix itself where the rows were given as one. Rows on a device stay there.
    """
    if elsewhere(table):
        from fairfield.games.trees.device_tables import DeviceRows

        _encode(trees, on_host(table[:COMPARED], None), None)
        return DeviceRows(trees, table)
    from fairfield.games.trees.extension import Forest
    from fairfield.games.trees.worths import extent

    with warnings.catch_warnings():
        # scikit-learn warns where only one of model and rows has names, which is fine here.
        warnings.filterwarnings("ignore", message="X (has|does not have valid) feature names")
        rows = np.ascontiguousarray(trees.encode(table).T)
        given = table if sparse is None else sparse
        own = picked(trees.raw(given[:COMPARED]), trees.outputs)
    first = np.ascontiguousarray(rows[:, :COMPARED])
    forest = Forest(
        trees.nodes, trees.intercept, len(rows), first[:, :1].copy(), *extent(trees.nodes)
    )
    ours = forest.outputs(first)
    apart = np.abs(ours - own).max(axis=1)
    # A library may add up its trees in single precision, rounding once for each.
    largest = np.maximum.reduceat(np.abs(trees.nodes.value).max(axis=1), trees.nodes.roots)
    rounding = 4 * np.finfo(np.float32).eps * np.sqrt(len(largest))
    if not apart.max() <= rounding * (np.abs(trees.intercept).max() + largest.sum()):
        worst = apart.argmax()
        raise ValueError(
            f"the {trees.kind} was not read as it is: its output for row {worst} is {own[worst]}, and "
            f"that of the trees that were read {ours[worst]}; {ELSEWHERE}"
        )
    return rows


def _columns(table: Any) -> tuple[Hashable, ...] | None:
    return tuple(table.columns) if hasattr(table, "columns") else None


def _check_columns(
    trees: TreeModel, table: Any, what: str, others: tuple[Hashable, ...] | None = None
) -> None:
    """A table has as many columns as the model and, where both have names, the same names."""
    if np.ndim(table) != 2 or not len(table) or table.shape[1] != trees.columns:
        raise ValueError(
            f"{what} of shape {tuple(np.shape(table))} were given; the {trees.kind} needs at least one "
            f"row of {trees.columns} columns"
        )
    names = _columns(table)
    for expected, whose in ((trees.names, f"the {trees.kind}"), (others, "the rows")):
        if names is None or expected is None:
            continue
        # LightGBM writes the blanks of a name as underscores.
        seen, wanted = ([str(n).replace(" ", "_") for n in each] for each in (names, expected))
        differ = [f"{a} for {b}" for a, b in zip(seen, wanted, strict=True) if a != b]
        if differ:
            raise ValueError(
                f"the columns of {what} are not those of {whose}: {spell(differ)}; give the same "
                "columns in the same order"
            )


def _check_categories(trees: TreeModel, rows: Any, background: Any) -> None:
    """Codes mean the same in both tables."""
    others = categorical(background)
    differ = [name for name, own in categorical(rows).items() if others.get(name, own) != own]
    if differ and not trees.keeps_categories:
        raise ValueError(
            f"rows and background list different categories in {spell(differ)}, and the "
            f"{trees.kind} does not keep those it was fitted to; give both that dtype"
        )
