"""Reading the decision trees, forests and boosted trees of scikit-learn."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfield.core.arrays import FloatArray
from fairfield.games.outputs import (
    Output,
    choose_outputs,
    classes_of,
    decision_quantity,
    names_quantity,
)
from fairfield.games.trees.model import (
    ELSEWHERE,
    TreeModel,
    as_numbers,
    in_single,
    picked,
    quietly,
)
from fairfield.games.trees.nodes import Tree
from fairfield.games.trees.readers.registry import reads


@reads(
    "sklearn", "ForestClassifier", "ForestRegressor", "BaseDecisionTree",
    models="decision trees and forests of scikit-learn", probabilities=True,
)  # fmt: skip
def read_forest(model: Any, output: Any) -> TreeModel:
    """A decision tree or a forest: the mean over its trees of a class's share, or of numbers."""
    check_fitted(model)
    members = [tree.tree_ for tree in getattr(model, "estimators_", [model])]
    if not hasattr(model, "classes_"):
        chosen = _choose(model, output, "prediction", model.n_outputs_)
        values = [tree.value[:, :, 0] for tree in members]
        raw = model.predict
    else:
        chosen = _choose(model, output, "probability")
        values = [
            tree.value[:, 0] / tree.value[:, 0].sum(axis=1, keepdims=True) for tree in members
        ]
        raw = model.predict_proba
    columns = [each.column for each in chosen]
    trees = [
        tree_of(tree, value[:, columns] / len(members))
        for tree, value in zip(members, values, strict=True)
    ]
    return TreeModel(model, chosen, trees, 0.0, *columns_of(model), in_single, raw)


@reads("sklearn", "IsolationForest", models="isolation forests of scikit-learn")
def read_isolation_forest(model: Any, output: Any) -> TreeModel:
    """An isolation forest: log2 of its anomaly score, -(mean path length) / c(max_samples).

    The score, 2 to that power, is no sum over trees. A path is as long as its leaf is deep,
    plus what c(samples of the leaf) more splits would add on average.
    """
    check_fitted(model)
    if names_quantity(output, None):
        raise ValueError(
            f"output={output!r} was asked for, and {type(model).__name__}.decision_function is 2 to "
            "the power of a sum over trees and no such sum; leave out output= for log2 of the "
            f"anomaly score; {ELSEWHERE}"
        )
    chosen = choose_outputs(type(model).__name__, output, "log2 of the anomaly score", None, 1)
    members = [each.tree_ for each in model.estimators_]
    whole = _mean_path(np.array([model.max_samples_]))[0]
    trees = []
    for tree, columns in zip(members, model.estimators_features_, strict=True):
        # Of single samples all paths have length 0, and scikit-learn takes 0 / 0 for 1.
        relative = _path_lengths(tree) / whole if whole else np.ones(tree.node_count)
        read = tree_of(tree, -relative / len(members))
        trees.append(replace(read, feature=columns[read.feature]))

    def raw(rows: Any) -> Any:
        return np.log2(-model.score_samples(rows))

    return TreeModel(model, chosen, trees, 0.0, *columns_of(model), in_single, raw)


def _path_lengths(tree: Any) -> FloatArray:
    """The length of the path to each node, and what splitting its samples would add on average."""
    depth = np.zeros(tree.node_count)
    for node in np.flatnonzero(tree.children_left >= 0):  # parents come before their children
        for child in (tree.children_left[node], tree.children_right[node]):
            depth[child] = depth[node] + 1
    return depth + _mean_path(tree.n_node_samples)


def _mean_path(samples: NDArray[np.int64]) -> FloatArray:
    """c(m), the mean length of a path in a tree that isolates m samples."""
    many = np.maximum(samples, 3)
    found = 2 * (np.log(many - 1.0) + np.euler_gamma) - 2 * (many - 1.0) / many
    return np.where(samples <= 1, 0.0, np.where(samples == 2, 1.0, found))


@reads("sklearn", "BaseGradientBoosting", models="gradient boosting of scikit-learn")
def read_gradient_boosting(model: Any, output: Any) -> TreeModel:
    """Gradient boosting: its raw margin, or its prediction of a number."""
    check_fitted(model)
    if model.init is not None and model.init != "zero":
        raise TypeError(
            f"{type(model).__name__} starts from another model (init={model.init!r}), which is not "
            f"a tree; {ELSEWHERE}"
        )
    stages = model.estimators_
    chosen = _choose(model, output, "prediction", stages.shape[1])
    trees = [
        tree_of(stage.tree_, each.sign * model.learning_rate * stage.tree_.value[:, 0, 0], at)
        for at, each in enumerate(chosen)
        for stage in stages[:, each.column]
    ]
    starts = model._raw_predict_init(np.zeros((1, model.n_features_in_), dtype=np.float32))
    start = picked(starts, chosen)[0]
    raw = model.decision_function if hasattr(model, "classes_") else model.predict
    return TreeModel(model, chosen, trees, start, *columns_of(model), in_single, raw)


@reads("sklearn", "BaseHistGradientBoosting", models="histogram gradient boosting of scikit-learn")
def read_histogram_boosting(model: Any, output: Any) -> TreeModel:
    """Histogram gradient boosting: its raw margin."""
    check_fitted(model)
    quantity = "raw margin" if model.loss in ("poisson", "gamma") else "prediction"
    chosen = _choose(model, output, quantity, model.n_trees_per_iteration_)
    order = np.arange(model.n_features_in_)
    if model.is_categorical_ is not None:
        # Inside, the model puts its categorical columns first.
        order = np.argsort(~model.is_categorical_, kind="stable")
    known, row_of = model._bin_mapper.make_known_categories_bitsets()
    trees = []
    for (output_number, each), stage in product(enumerate(chosen), model._predictors):
        nodes, to_left = stage[each.column].nodes, stage[each.column].raw_left_cat_bitsets
        splits = nodes["is_leaf"] == 0
        categories = {}
        for node in np.flatnonzero(splits & (nodes["is_categorical"] == 1)).tolist():
            at = nodes[node]
            listed = _bits(to_left[at["bitset_idx"]])
            if at["missing_go_to_left"]:
                # Unknown categories count as missing, so the known ones that go right are listed.
                listed = sorted({*_bits(known[row_of[at["feature_idx"]]])} - {*listed})
            categories[node] = listed, not at["missing_go_to_left"]
        trees.append(
            Tree(
                np.where(splits, nodes["left"].astype(np.int64), -1),
                np.where(splits, nodes["right"].astype(np.int64), -1),
                order[np.where(splits, nodes["feature_idx"], 0)],
                nodes["num_threshold"],
                nodes["missing_go_to_left"],
                each.sign * nodes["value"],
                nodes["count"],
                categories,
                output_number,
            )
        )

    def encode(rows: Any) -> FloatArray:
        if not (isinstance(rows, np.ndarray) or hasattr(rows, "columns")):
            return as_numbers(rows)  # on a device, where no split is by categories
        inside = quietly(lambda given: model._preprocess_X(given, reset=False), rows)
        inside = np.asarray(inside, dtype=float)
        return np.asarray(inside[:, np.argsort(order)])

    start = picked(np.reshape(model._baseline_prediction, (1, -1)), chosen)[0]
    return TreeModel(model, chosen, trees, start, *columns_of(model), encode, model._raw_predict)


def check_fitted(model: Any) -> None:
    """Raise scikit-learn's own error for a model that was not fitted."""
    import_module("sklearn.utils.validation").check_is_fitted(model)


def _choose(
    model: Any, output: Any, quantity: str, columns: int | None = None
) -> tuple[Output, ...]:
    """The chosen outputs: a probability, a margin of a classifier, else the ``quantity``."""
    classes = classes_of(model)
    if classes is not None and quantity != "probability":
        quantity = decision_quantity(model, classes)
    return choose_outputs(type(model).__name__, output, quantity, classes, columns)


def tree_of(tree: Any, value: FloatArray, output: int = 0) -> Tree:
    """A tree of scikit-learn with these values at its leaves."""
    return Tree(
        tree.children_left,
        tree.children_right,
        np.maximum(tree.feature, 0),
        tree.threshold,
        tree.missing_go_to_left,
        value,
        tree.weighted_n_node_samples,
        output=output,
    )


def columns_of(model: Any) -> tuple[int, tuple[str, ...] | None]:
    """The number of columns that the model takes, and their names, if it has any."""
    names = getattr(model, "feature_names_in_", None)
    return model.n_features_in_, None if names is None else tuple(map(str, names))


def _bits(words: NDArray[np.uint32]) -> list[int]:
    """The places of the bits that are set in words of 32."""
    return [at for at in range(32 * len(words)) if int(words[at // 32]) >> (at % 32) & 1]
