"""Reading the tree models of scikit-learn, XGBoost and LightGBM."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfield.games.tree_nodes import (
    ELSEWHERE,
    Nodes,
    Read,
    Tree,
    TreeModel,
    as_numbers,
    choose,
    choose_class,
    choose_margin,
    in_single,
    join,
    own_answers,
)
from fairfield.multilinear import FloatArray

# LightGBM takes numbers up to this size for zero.
ZERO = 1e-35


def read_model(model: Any, output: Any = None) -> TreeModel:
    """The trees of a fitted model, for one of its outputs.

    ``output`` is a class, by label or else by position, or a column of a regression; a
    binary classifier stands for its second class where nothing is said.
    """
    names = {base.__name__ for base in type(model).__mro__}
    libraries = {base.__module__.partition(".")[0] for base in type(model).__mro__}
    for library, family, read in (
        ("xgboost", {"XGBModel", "Booster"}, _xgboost),
        ("lightgbm", {"LGBMModel", "Booster"}, _lightgbm),
        ("sklearn", {"BaseHistGradientBoosting"}, _histogram_boosting),
        ("sklearn", {"BaseGradientBoosting"}, _gradient_boosting),
        ("sklearn", {"ForestClassifier", "ForestRegressor", "BaseDecisionTree"}, _forest),
    ):
        if library in libraries and names & family:
            if library == "sklearn":
                import_module("sklearn.utils.validation").check_is_fitted(model)
            return read(model, output)
    raise TypeError(
        f"{type(model).__name__} is not a tree model that can be read: decision trees, forests, "
        "gradient boosting and histogram gradient boosting of scikit-learn, XGBoost and LightGBM "
        f"are; {ELSEWHERE}"
    )


# ---------------------------------------------------------------------- scikit-learn


def _forest(model: Any, output: Any) -> TreeModel:
    members = [tree.tree_ for tree in getattr(model, "estimators_", [model])]
    if not hasattr(model, "classes_"):
        column = choose(output, range(model.n_outputs_))
        values = [tree.value[:, column, 0] for tree in members]
        own = own_answers(model.predict, column)
    elif model.n_outputs_ == 1:
        column = choose_class(output, model.classes_)
        values = [tree.value[:, 0, column] / tree.value[:, 0].sum(axis=1) for tree in members]
        own = own_answers(model.predict_proba, column)
    else:
        raise TypeError(
            f"{type(model).__name__} predicts {model.n_outputs_} labels at once; fit one model per "
            f"label; {ELSEWHERE}"
        )
    weighed = [value / len(members) for value in values]
    return _sklearn(model, [*map(_sklearn_tree, members, weighed)], 0.0, in_single, own)


def _gradient_boosting(model: Any, output: Any) -> TreeModel:
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
    trees = [*map(_sklearn_tree, members, values)]
    return _sklearn(
        model, trees, sign * start[0, column], in_single, own_answers(raw, column, sign)
    )


def _histogram_boosting(model: Any, output: Any) -> TreeModel:
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
    return _sklearn(model, trees, start, encode, own_answers(model._raw_predict, column, sign))


def _sklearn_tree(tree: Any, value: FloatArray) -> Tree:
    return Tree(
        tree.children_left,
        tree.children_right,
        np.maximum(tree.feature, 0),
        tree.threshold,
        tree.missing_go_to_left,
        value,
        tree.weighted_n_node_samples,
    )


def _sklearn(model: Any, trees: list[Tree], start: float, encode: Read, own: Read) -> TreeModel:
    nodes, centre = join(trees)
    names = getattr(model, "feature_names_in_", None)
    return TreeModel(
        type(model).__name__,
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


# ---------------------------------------------------------------------- XGBoost


def _xgboost(model: Any, output: Any) -> TreeModel:
    booster = model.get_booster() if hasattr(model, "get_booster") else model
    drawn = json.loads(booster.save_raw("json"))["learner"]
    boosting = drawn["gradient_booster"]
    if boosting["name"] not in ("gbtree", "dart"):
        raise TypeError(f"an XGBoost booster {boosting['name']} has no trees; {ELSEWHERE}")
    forest = boosting.get("gbtree", boosting)["model"]
    sizes = drawn["learner_model_param"]
    width = max(1, int(sizes["num_class"]), int(sizes.get("num_target", 1)))
    classes = getattr(model, "classes_", None)
    if classes is None and drawn["objective"]["name"].startswith("binary"):
        classes = range(2)
    column, sign = choose_margin(output, width, classes)
    # A wrapper that stopped early predicts with the rounds up to the best one.
    rounds = 0 if model is booster else model._get_iteration_range(None)[1]
    count = forest["iteration_indptr"][rounds] if rounds else len(forest["trees"])
    weights = boosting.get("weight_drop", np.ones(len(forest["trees"])))
    nodes, _ = join(
        [
            _xgboost_tree(tree, sign * weight)
            for tree, weight, of in zip(
                forest["trees"][:count], weights, forest["tree_info"], strict=False
            )
            if of == column
        ]
    )
    listed = [_xgboost_categories(column) for column in forest.get("cats", {}).get("enc", [])]
    missing = getattr(model, "missing", np.nan)
    known = {"feature_names": booster.feature_names, "feature_types": booster.feature_types}

    def encode(rows: Any) -> FloatArray:
        numbers = as_numbers(rows, [names for names in listed if names])
        numbers[numbers == missing] = np.nan
        return in_single(numbers)

    def raw(rows: Any) -> Any:
        about = {"enable_categorical": True} if hasattr(rows, "columns") else known
        matrix = import_module("xgboost").DMatrix(rows, missing=missing, nthread=1, **about)
        return booster.predict(matrix, output_margin=True, iteration_range=(0, rounds))

    own = own_answers(raw, column, sign)
    # The constant is written in many ways and on many scales; what the model says where
    # everything is missing gives it away.
    nothing = np.full((1, int(sizes["num_feature"])), missing)
    return TreeModel(
        type(model).__name__,
        nodes,
        float(own(nothing)[0]) - _where_missing(nodes),
        int(sizes["num_feature"]),
        booster.feature_names and tuple(booster.feature_names),
        encode,
        own,
    )


def _xgboost_tree(tree: Mapping[str, Any], weight: float) -> Tree:
    if int(tree["tree_param"]["size_leaf_vector"]) > 1:
        raise TypeError(
            "XGBoost's multi_strategy='multi_output_tree' has vectors at its leaves, not numbers; "
            f"fit with 'one_output_per_tree'; {ELSEWHERE}"
        )
    split = np.asarray(tree["split_conditions"], dtype=np.float32)
    firsts, sizes = tree["categories_segments"], tree["categories_sizes"]
    return Tree(
        tree["left_children"],
        tree["right_children"],
        tree["split_indices"],
        # Numbers below the threshold go left, so those up to the number before it.
        np.nextafter(split, np.float32(-np.inf)),
        tree["default_left"],
        weight * split.astype(float),
        tree["sum_hessian"],
        {
            node: (tree["categories"][first : first + size], False)
            for node, first, size in zip(tree["categories_nodes"], firsts, sizes, strict=True)
        },
    )


def _xgboost_categories(column: Mapping[str, Any]) -> list[Any]:
    """The categories of a column: numbers, or the bytes of strings end to end."""
    values = column["values"]
    if "offsets" not in column:
        return list(values)
    text, ends = np.asarray(values, dtype=np.int64).astype(np.uint8).tobytes(), column["offsets"]
    return [text[a:b].decode() for a, b in pairwise(ends)]


def _where_missing(nodes: Nodes) -> float:
    """What the trees add up to on a row of which everything is missing."""
    at = nodes.roots
    while (nodes.left[at] >= 0).any():
        below = np.where(nodes.missing_left[at], nodes.left[at], nodes.right[at])
        at = np.where(nodes.left[at] >= 0, below, at)
    return float(nodes.value[at].sum())


# ---------------------------------------------------------------------- LightGBM


def _lightgbm(model: Any, output: Any) -> TreeModel:
    booster = getattr(model, "booster_", model)
    drawn = booster.dump_model()
    width = drawn["num_tree_per_iteration"]
    classes = getattr(model, "classes_", None)
    if classes is None and str(drawn.get("objective")).startswith("binary"):
        classes = range(2)
    column, sign = choose_margin(output, width, classes)
    chosen = drawn["tree_info"][column::width]
    # A random forest averages its trees, but not where it is asked for raw outputs.
    scale = sign / len(chosen) if drawn["average_output"] else sign
    zeros: set[int] = set()
    nodes, centre = join([_lightgbm_tree(tree["tree_structure"], scale, zeros) for tree in chosen])
    names = booster.feature_name()

    def encode(rows: Any) -> FloatArray:
        numbers = as_numbers(rows, booster.pandas_categorical)
        for at in zeros:
            numbers[np.abs(numbers[:, at]) <= ZERO, at] = np.nan
        return numbers

    def raw(rows: Any) -> Any:
        return booster.predict(rows, raw_score=True)

    return TreeModel(
        type(model).__name__,
        nodes,
        centre,
        len(names),
        None if names == [f"Column_{at}" for at in range(len(names))] else tuple(names),
        encode,
        own_answers(raw, column, scale),
    )


def _lightgbm_tree(root: Mapping[str, Any], scale: float, zeros: set[int]) -> Tree:
    """A tree from nested nodes; columns whose zeros count as missing join ``zeros``."""
    rows: list[list[Any]] = []
    categories = {}
    waiting = [(root, 0, 0)]
    while waiting:
        node, parent, side = waiting.pop()
        at = len(rows)
        if at:
            rows[parent][side] = at
        if "leaf_value" in node:
            if "leaf_coeff" in node:
                raise TypeError(
                    f"LightGBM's linear_tree has models at its leaves, not numbers; {ELSEWHERE}"
                )
            cover = node.get("leaf_count", 1)
            rows.append([-1, -1, 0, 0.0, False, scale * node["leaf_value"], cover])
            continue
        column, threshold, missing_left = (
            node[name] for name in ("split_feature", "threshold", "default_left")
        )
        if node["decision_type"] == "==":
            categories[at] = [int(code) for code in threshold.split("||")], True
            threshold, missing_left = 0.0, False
        elif node["decision_type"] != "<=":
            raise TypeError(
                f"LightGBM's split {node['decision_type']!r} cannot be read; {ELSEWHERE}"
            )
        elif node["missing_type"] == "None":
            missing_left = threshold >= 0  # a missing value is a zero then
        elif node["missing_type"] == "Zero":
            zeros.add(column)
        rows.append([0, 0, column, threshold, missing_left, 0.0, node["internal_count"]])
        waiting += [(node["right_child"], at, 1), (node["left_child"], at, 0)]
    left, right, column_of, split, missing, value, cover = zip(*rows, strict=True)
    return Tree(left, right, column_of, split, missing, value, cover, categories)
