"""Reading the trees of XGBoost."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np

from fairfield.core.arrays import FloatArray
from fairfield.games.outputs import choose_outputs, classes_of, margin_quantity
from fairfield.games.trees.model import ELSEWHERE, TreeModel, as_numbers, in_single, picked
from fairfield.games.trees.nodes import Tree
from fairfield.games.trees.readers.registry import reads

# Objectives whose margin is the prediction itself.
AS_IS = ("reg:squarederror", "reg:absoluteerror", "reg:pseudohuber", "reg:quantile")


@reads("xgboost", "XGBModel", "Booster", models="XGBoost", absent=np.nan)
def read_xgboost(model: Any, output: Any) -> TreeModel:
    """A booster or an estimator of XGBoost: its raw margin."""
    booster = model.get_booster() if hasattr(model, "get_booster") else model
    learner = json.loads(booster.save_raw("json"))["learner"]
    boosting = learner["gradient_booster"]
    if boosting["name"] not in ("gbtree", "dart"):
        raise TypeError(f"an XGBoost booster {boosting['name']} has no trees; {ELSEWHERE}")
    forest = boosting.get("gbtree", boosting)["model"]
    sizes, objective = learner["learner_model_param"], learner["objective"]["name"]
    width = max(1, int(sizes["num_class"]), int(sizes.get("num_target", 1)))
    classes = classes_of(model)
    if classes is None and objective.startswith("binary"):
        classes = [0, 1]
    quantity = margin_quantity(
        classes, log_odds="logi" in objective, predicted=objective.startswith(AS_IS)
    )
    chosen = choose_outputs(type(model).__name__, output, quantity, classes, width)
    # A wrapper that stopped early predicts with the rounds up to the best one.
    rounds = 0 if model is booster else model._get_iteration_range(None)[1]
    ends = forest["iteration_indptr"]
    weights = boosting.get("weight_drop", np.ones(len(forest["trees"])))
    last = ends[rounds or -1]
    own = [
        (at, number, each.sign)
        for number, each in enumerate(chosen)
        for at in range(last)
        if forest["tree_info"][at] == each.column
    ]
    trees = [_tree(forest["trees"][at], sign * weights[at], number) for at, number, sign in own]
    # Before version 3.1 a model does not keep the categories of its columns.
    listed = [_categories(column) for column in forest.get("cats", {}).get("enc", [])]
    categories = [names for names in listed if names]
    missing = getattr(model, "missing", np.nan)
    types = {"feature_names": booster.feature_names, "feature_types": booster.feature_types}

    def encode(rows: Any) -> FloatArray:
        numbers = as_numbers(rows, categories)
        numbers[numbers == missing] = np.nan
        return in_single(numbers)

    def raw(rows: Any, rounds: int = rounds) -> Any:
        about = {"enable_categorical": True} if hasattr(rows, "columns") else types
        matrix = import_module("xgboost").DMatrix(rows, missing=missing, nthread=1, **about)
        return booster.predict(matrix, output_margin=True, iteration_range=(0, rounds))

    # The constant is written in many ways and on many scales; it follows from the output of
    # the first round for a row of which everything is missing.
    columns = int(sizes["num_feature"])
    start = picked(raw(np.full((1, columns), missing), rounds=1), chosen)[0]
    for tree, (at, number, _) in zip(trees, own, strict=True):
        if at < ends[1]:
            start[number] -= _where_missing(tree)
    names = booster.feature_names and tuple(booster.feature_names)
    return TreeModel(model, chosen, trees, start, columns, names, encode, raw, bool(categories))


def _tree(tree: Mapping[str, Any], weight: float, output: int) -> Tree:
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
        output,
    )


def _categories(column: Mapping[str, Any]) -> list[Any]:
    """The categories of a column: numbers, or the bytes of strings end to end."""
    values = column["values"]
    if "offsets" not in column:
        return list(values)
    text, ends = np.asarray(values, dtype=np.int64).astype(np.uint8).tobytes(), column["offsets"]
    return [text[a:b].decode() for a, b in pairwise(ends)]


def _where_missing(tree: Tree) -> float:
    """The leaf of a row of which everything is missing."""
    node = 0
    while tree.left[node] >= 0:
        node = tree.left[node] if tree.missing_left[node] else tree.right[node]
    return float(tree.value[node])
