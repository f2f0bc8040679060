"""Reading the trees of LightGBM."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np

from fairfield.core.arrays import FloatArray
from fairfield.games.outputs import choose_outputs, classes_of, margin_quantity
from fairfield.games.trees.model import ELSEWHERE, TreeModel, as_numbers
from fairfield.games.trees.nodes import Tree, unfold
from fairfield.games.trees.readers.registry import reads

# LightGBM takes numbers up to this size, in single precision, for zero.
ZERO = float(np.float32(1e-35))
# Objectives whose margin is the prediction itself.
AS_IS = ("regression", "regression_l1", "huber", "fair", "quantile", "mape")


@reads("lightgbm", "LGBMModel", "Booster", models="LightGBM")
def read_lightgbm(model: Any, output: Any) -> TreeModel:
    """A booster or an estimator of LightGBM: its raw margin.

    One that stopped early, estimator or bare booster, predicts with the rounds up to its
    ``best_iteration``, and these are explained. A booster saved then has no other rounds, and
    is explained with all that it has.
    """
    if hasattr(model, "__sklearn_is_fitted__"):
        import_module("sklearn.utils.validation").check_is_fitted(model)
    booster = getattr(model, "booster_", model)
    dumped = booster.dump_model()
    if any(_has_lines(tree["tree_structure"]) for tree in dumped["tree_info"]):
        raise TypeError(
            f"LightGBM's linear_tree has models at its leaves, not numbers; {ELSEWHERE}"
        )
    width, classes = dumped["num_tree_per_iteration"], classes_of(model)
    objective, _, details = str(dumped.get("objective")).partition(" ")
    if classes is None and objective == "binary":
        classes = [0, 1]
    quantity = margin_quantity(
        classes, log_odds=objective == "binary", predicted=objective in AS_IS
    )
    if "sqrt" in details.split():  # reg_sqrt, which squares the margin and keeps its sign
        quantity = "square root of the prediction"
    chosen = choose_outputs(type(model).__name__, output, quantity, classes, width)
    trees = dumped["tree_info"]
    if dumped["average_output"]:
        # A random forest averages its trees, but its raw scores are their sum.
        rounds = len(trees) // width
        chosen = tuple(each._replace(sign=each.sign / rounds) for each in chosen)
    zeros: set[int] = set()
    read = [
        _tree(tree["tree_structure"], each.sign, zeros, number)
        for number, each in enumerate(chosen)
        for tree in trees[each.column :: width]
    ]
    names = tuple(booster.feature_name())
    given = None if names == tuple(f"Column_{at}" for at in range(len(names))) else names

    def encode(rows: Any) -> FloatArray:
        numbers = as_numbers(rows, booster.pandas_categorical)
        numbers[abs(numbers) <= ZERO] = 0.0
        for at in zeros:
            numbers[numbers[:, at] == 0, at] = np.nan
        return numbers

    def raw(rows: Any) -> Any:
        return booster.predict(rows, raw_score=True)

    return TreeModel(model, chosen, read, 0.0, len(names), given, encode, raw)


def _has_lines(root: Mapping[str, Any]) -> bool:
    """Whether a tree has linear models at its leaves; they all have, or none."""
    while "left_child" in root:
        root = root["left_child"]
    return "leaf_coeff" in root


def _tree(root: Mapping[str, Any], scale: float, zeros: set[int], output: int) -> Tree:
    """A tree from nested nodes; columns whose zeros count as missing join ``zeros``."""
    nodes, left, right = unfold(root, "left_child", "right_child")
    rows: list[list[Any]] = []
    categories = {}
    for at, node in enumerate(nodes):
        if left[at] < 0:
            cover = node.get("leaf_count", 1)
            rows.append([0, 0.0, False, scale * node["leaf_value"], cover])
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
        rows.append([column, threshold, missing_left, 0.0, node["internal_count"]])
    column_of, split, missing, value, cover = zip(*rows, strict=True)
    return Tree(left, right, column_of, split, missing, value, cover, categories, output)
