"""Reading the trees of XGBoost."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np

from fairfield.core.arrays import FloatArray
from fairfield.games.trees.nodes import (
    ELSEWHERE,
    Tree,
    TreeModel,
    as_numbers,
    choose_margin,
    in_single,
    join,
    margin_named,
    own_answers,
)

# Objectives whose margin is the prediction itself.
AS_IS = ("reg:squarederror", "reg:absoluteerror", "reg:pseudohuber", "reg:quantile")


def read_xgboost(model: Any, output: Any) -> TreeModel:
    """A booster or an estimator of XGBoost: its raw margin."""
    booster = model.get_booster() if hasattr(model, "get_booster") else model
    drawn = json.loads(booster.save_raw("json"))["learner"]
    boosting = drawn["gradient_booster"]
    if boosting["name"] not in ("gbtree", "dart"):
        raise TypeError(f"an XGBoost booster {boosting['name']} has no trees; {ELSEWHERE}")
    forest = boosting.get("gbtree", boosting)["model"]
    sizes = drawn["learner_model_param"]
    width = max(1, int(sizes["num_class"]), int(sizes.get("num_target", 1)))
    classes = getattr(model, "classes_", None)
    objective = drawn["objective"]["name"]
    if classes is None and objective.startswith("binary"):
        classes = range(2)
    column, sign = choose_margin(output, width, classes)
    # A wrapper that stopped early predicts with the rounds up to the best one.
    rounds = 0 if model is booster else model._get_iteration_range(None)[1]
    ends = forest["iteration_indptr"]
    weights = boosting.get("weight_drop", np.ones(len(forest["trees"])))
    chosen = [at for at in range(ends[rounds or -1]) if forest["tree_info"][at] == column]
    trees = [_tree(forest["trees"][at], sign * weights[at]) for at in chosen]
    nodes, centre = join(trees)
    # Before version 3.1 a model does not keep the categories of its columns.
    listed = [_categories(column) for column in forest.get("cats", {}).get("enc", [])]
    categories = [names for names in listed if names]
    missing = getattr(model, "missing", np.nan)
    known = {"feature_names": booster.feature_names, "feature_types": booster.feature_types}

    def encode(rows: Any) -> FloatArray:
        numbers = as_numbers(rows, categories)
        numbers[numbers == missing] = np.nan
        return in_single(numbers)

    def raw(rows: Any, rounds: int = rounds) -> Any:
        about = {"enable_categorical": True} if hasattr(rows, "columns") else known
        matrix = import_module("xgboost").DMatrix(rows, missing=missing, nthread=1, **about)
        return booster.predict(matrix, output_margin=True, iteration_range=(0, rounds))

    # The constant is written in many ways and on many scales; what the first round says of
    # a row of which everything is missing gives it away.
    columns = int(sizes["num_feature"])
    nothing = np.full((1, columns), missing)
    start = float(own_answers(partial(raw, rounds=1), column, sign)(nothing)[0])
    start -= sum(_where_missing(trees[k]) for k, at in enumerate(chosen) if at < ends[1])
    meaning = margin_named(
        classes, column, sign, log_odds="logi" in objective, as_is=objective.startswith(AS_IS)
    )
    return TreeModel(
        type(model).__name__,
        meaning,
        nodes,
        start + centre,
        columns,
        booster.feature_names and tuple(booster.feature_names),
        encode,
        own_answers(raw, column, sign),
        knows_categories=bool(categories),
    )


def _tree(tree: Mapping[str, Any], weight: float) -> Tree:
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
