"""Reading the decision trees, forests and boosted trees of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfield.core.arrays import FloatArray
from fairfield.games.trees.nodes import (
    ELSEWHERE,
    Read,
    Tree,
    TreeModel,
    choose,
    choose_class,
    choose_margin,
    in_single,
    join,
    margin_named,
    own_answers,
)


def read_forest(model: Any, output: Any) -> TreeModel:
    """A decision tree or a forest: the mean over its trees of a class's share, or of numbers."""
    members = [tree.tree_ for tree in getattr(model, "estimators_", [model])]
    if not hasattr(model, "classes_"):
        column = choose(output, range(model.n_outputs_))
        meaning = "prediction" if model.n_outputs_ == 1 else f"prediction of column {column}"
        values = [tree.value[:, column, 0] for tree in members]
        own = own_answers(model.predict, column)
    elif model.n_outputs_ == 1:
        column = choose_class(output, model.classes_)
        meaning = f"probability of class {model.classes_[column]}"
        values = [tree.value[:, 0, column] / tree.value[:, 0].sum(axis=1) for tree in members]
        own = own_answers(model.predict_proba, column)
    else:
        raise TypeError(
            f"{type(model).__name__} predicts {model.n_outputs_} labels at once; fit one model per "
            f"label; {ELSEWHERE}"
        )
    weighed = [value / len(members) for value in values]
    return _read(model, meaning, [*map(_tree, members, weighed)], 0.0, in_single, own)


def read_gradient_boosting(model: Any, output: Any) -> TreeModel:
    """Gradient boosting: its raw margin, or its prediction of a number."""
    if model.init is not None and model.init != "zero":
        raise TypeError(
            f"{type(model).__name__} starts from another model (init={model.init!r}), which is not "
            f"a tree; {ELSEWHERE}"
        )
    stages = model.estimators_
    column, sign = choose_margin(output, stages.shape[1], getattr(model, "classes_", None))
    members = [stage.tree_ for stage in stages[:, column]]
    values = [sign * model.learning_rate * tree.value[:, 0, 0] for tree in members]
    start = model._raw_predict_init(np.zeros((1, model.n_features_in_), dtype=np.float32))
    raw = model.decision_function if hasattr(model, "classes_") else model.predict
    meaning = margin_named(
        getattr(model, "classes_", None), column, sign, log_odds=model.loss == "log_loss"
    )
    trees = [*map(_tree, members, values)]
    own = own_answers(raw, column, sign)
    return _read(model, meaning, trees, sign * start[0, column], in_single, own)


def read_histogram_boosting(model: Any, output: Any) -> TreeModel:
    """Histogram gradient boosting: its raw margin."""
    width = model.n_trees_per_iteration_
    column, sign = choose_margin(output, width, getattr(model, "classes_", None))
    order = np.arange(model.n_features_in_)
    if model.is_categorical_ is not None:
        # Inside, the model puts its categorical columns first.
        order = np.argsort(~model.is_categorical_, kind="stable")
    known, row_of = model._bin_mapper.make_known_categories_bitsets()
    trees = []
    for stage in model._predictors:
        nodes, to_left = stage[column].nodes, stage[column].raw_left_cat_bitsets
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
                sign * nodes["value"],
                nodes["count"],
                categories,
            )
        )

    def encode(rows: Any) -> FloatArray:
        inside = np.asarray(model._preprocess_X(rows, reset=False), dtype=float)
        return np.asarray(inside[:, np.argsort(order)])

    start = sign * np.ravel(model._baseline_prediction)[column]
    meaning = margin_named(
        getattr(model, "classes_", None), column, sign,
        log_odds=model.loss == "log_loss", as_is=model.loss not in ("poisson", "gamma"),
    )  # fmt: skip
    own = own_answers(model._raw_predict, column, sign)
    return _read(model, meaning, trees, start, encode, own)


def _tree(tree: Any, value: FloatArray) -> Tree:
    return Tree(
        tree.children_left,
        tree.children_right,
        np.maximum(tree.feature, 0),
        tree.threshold,
        tree.missing_go_to_left,
        value,
        tree.weighted_n_node_samples,
    )


def _read(
    model: Any, meaning: str, trees: list[Tree], start: float, encode: Read, own: Read
) -> TreeModel:
    nodes, centre = join(trees)
    names = getattr(model, "feature_names_in_", None)
    return TreeModel(
        type(model).__name__,
        meaning,
        nodes,
        float(start) + centre,
        model.n_features_in_,
        None if names is None else tuple(map(str, names)),
        encode,
        own,
    )


def _bits(words: NDArray[np.uint32]) -> list[int]:
    """The places of the bits that are set in words of 32."""
    return [at for at in range(32 * len(words)) if int(words[at // 32]) >> (at % 32) & 1]
