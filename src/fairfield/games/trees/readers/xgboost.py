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

# What the margins of survival models are.
SURVIVAL = {"survival:cox": "log hazard ratio", "survival:aft": "log of the time"}


@reads("xgboost", "XGBModel", "Booster", models="XGBoost", absent=np.nan)
def read_xgboost(model: Any, output: Any) -> TreeModel:
    """A booster or an estimator of XGBoost: its raw margin.

    A wrapper that stopped early predicts with the rounds up to the best one, a bare booster
    with all of them, and so they are explained. Trees of a DART booster are weighted as it
    predicts, with none dropped.
    """
    booster = model.get_booster() if hasattr(model, "get_booster") else model
    learner = json.loads(booster.save_raw("json"))["learner"]
    boosting = learner["gradient_booster"]
    if boosting["name"] not in ("gbtree", "dart"):
        raise TypeError(f"an XGBoost booster {boosting['name']} has no trees; {ELSEWHERE}")
    forest = boosting.get("gbtree", boosting)["model"]
    if not forest["trees"]:
        raise TypeError(f"the XGBoost booster has no rounds, so no trees; {ELSEWHERE}")
    sizes, objective = learner["learner_model_param"], learner["objective"]["name"]
    width = max(1, int(sizes["num_class"]), int(sizes.get("num_target", 1)))
    classes = classes_of(model)
    if classes is None and objective.startswith("binary"):
        classes = [0, 1]
    quantity = SURVIVAL.get(objective) or margin_quantity(
        classes, log_odds="logi" in objective, predicted=objective.startswith(AS_IS)
    )
    chosen = choose_outputs(type(model).__name__, output, quantity, classes, width)
    rounds = 0 if model is booster else model._get_iteration_range(None)[1]
    ends = forest["iteration_indptr"]
    weights = boosting.get("weight_drop", np.ones(len(forest["trees"])))
    trees, first = [], 0
    for at in range(ends[rounds or -1]):
        tree, column = forest["trees"][at], forest["tree_info"][at]
        values = weights[at] * _leaf_values(tree)
        if values.shape[1] > 1:  # one tree for all outputs
            trees.append(
                _tree(tree, np.stack([e.sign * values[:, e.column] for e in chosen], 1), 0)
            )
        else:
            found = [number for number, each in enumerate(chosen) if each.column == column]
            trees += [_tree(tree, chosen[number].sign * values, number) for number in found]
        if at < ends[1]:
            first = len(trees)
    # Before version 3.1 a model does not keep the categories of its columns.
    listed = [_categories(column) for column in forest.get("cats", {}).get("enc", [])]
    categories = [names for names in listed if names]
    missing = getattr(model, "missing", np.nan)
    types = {"feature_names": booster.feature_names, "feature_types": booster.feature_types}

    def encode(rows: Any) -> FloatArray:
        numbers = in_single(as_numbers(rows, categories))
        numbers[numbers == float(np.float32(missing))] = np.nan  # compared in single precision
        return numbers

    def raw(rows: Any, rounds: int = rounds) -> Any:
        about = {"enable_categorical": True} if hasattr(rows, "columns") else types
        matrix = import_module("xgboost").DMatrix(rows, missing=missing, nthread=1, **about)
        return booster.predict(matrix, output_margin=True, iteration_range=(0, rounds))

    # The constant is written in many ways and on many scales; it follows from the output of
    # the first round for a row of which everything is missing.
    columns = int(sizes["num_feature"])
    start = picked(raw(np.full((1, columns), missing), rounds=1), chosen)[0]
    for read in trees[:first]:
        leaf = _where_missing(read)
        start[read.output : read.output + len(leaf)] -= leaf
    names = booster.feature_names and tuple(booster.feature_names)
    return TreeModel(model, chosen, trees, start, columns, names, encode, raw, bool(categories))


def _leaf_values(tree: Mapping[str, Any]) -> FloatArray:
    """The values of leaves, (nodes, values): one, or one for each output (multi_output_tree)."""
    width, nodes = int(tree["tree_param"]["size_leaf_vector"]), len(tree["left_children"])
    if width <= 1:
        # At a leaf the place of the threshold holds its value.
        return np.asarray(tree["split_conditions"], dtype=np.float32).astype(float)[:, None]
    if "leaf_weights" not in tree:
        raise TypeError(
            "XGBoost before version 3.2 does not write the cover of trees with "
            "multi_strategy='multi_output_tree'; fit with a newer one, or with 'one_output_per_tree'; "
            f"{ELSEWHERE}"
        )
    values = np.zeros((nodes, width))
    leaf = np.asarray(tree["left_children"]) < 0
    vectors = np.reshape(tree["leaf_weights"], (-1, width)).astype(np.float32)
    # At a leaf the place of the right child holds the number of its vector.
    values[leaf] = vectors[np.asarray(tree["right_children"])[leaf]]
    return values


def _tree(tree: Mapping[str, Any], values: FloatArray, output: int) -> Tree:
    split = np.asarray(tree["split_conditions"], dtype=np.float32)
    firsts, sizes = tree["categories_segments"], tree["categories_sizes"]
    return Tree(
        tree["left_children"],
        tree["right_children"],
        tree["split_indices"],
        # Numbers below the threshold go left, so those up to the number before it.
        np.nextafter(split, np.float32(-np.inf)),
        tree["default_left"],
        values,
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


def _where_missing(tree: Tree) -> FloatArray:
    """The values of the leaf of a row of which everything is missing."""
    node = 0
    while tree.left[node] >= 0:
        node = tree.left[node] if tree.missing_left[node] else tree.right[node]
    return np.asarray(tree.value[node])
