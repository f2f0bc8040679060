"""Reading the trees of CatBoost."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from fairfield.core.arrays import FloatArray
from fairfield.core.coalitions import spell
from fairfield.games.outputs import choose_outputs, classes_of, margin_quantity
from fairfield.games.trees.model import ELSEWHERE, TreeModel, in_single
from fairfield.games.trees.nodes import Tree, unfold
from fairfield.games.trees.readers.registry import reads

# Losses whose raw value is the prediction itself.
AS_IS = (
    "RMSE", "MAE", "Quantile", "GroupQuantile", "MultiQuantile", "Huber", "Lq", "LogCosh", "MAPE",
    "Expectile", "MultiRMSE", "MultiRMSEWithMissingValues",
)  # fmt: skip

SEVERAL_LABELS = ("MultiLogloss", "MultiCrossEntropy")


@reads("catboost", "CatBoost", models="CatBoost")
def read_catboost(model: Any, output: Any) -> TreeModel:
    """A model of CatBoost: its raw value, for classes a margin.

    It is read from the JSON that CatBoost writes: splits of numbers, where a number above the
    border goes right, and splits that ask for one category.
    """
    for kind, found in (
        ("text", model.get_text_feature_indices()),
        ("embedding", model.get_embedding_feature_indices()),
    ):
        if found:
            seen = spell([model.feature_names_[at] for at in found])
            raise TypeError(f"CatBoost does not write splits of {kind}, {seen}; {ELSEWHERE}")
    dumped = _dump(model)
    splits = _Splits.of(dumped["features_info"])
    scale, bias = dumped["scale_and_bias"]
    # A sum of models does not say how they were fitted.
    loss = dumped["model_info"].get("params", {}).get("loss_function", {}).get("type", "")
    # A regression has an empty list of classes, and a model of several labels lists these.
    classes = None if loss in SEVERAL_LABELS else classes_of(model) or None
    quantity = margin_quantity(
        classes, log_odds=loss in ("Logloss", "CrossEntropy"), predicted=loss in AS_IS
    )
    chosen = choose_outputs(type(model).__name__, output, quantity, classes, len(bias))
    weights = np.zeros((len(bias), len(chosen)))
    for number, each in enumerate(chosen):
        weights[each.column, number] = each.sign
    symmetric = map(_expanded, dumped.get("oblivious_trees", ()))
    roots = [*symmetric, *dumped.get("trees", ())]
    trees = [_tree(root, splits, scale * weights) for root in roots]
    called = tuple(model.feature_names_)
    names = None if called == tuple(map(str, range(len(called)))) else called

    def encode(rows: Any) -> FloatArray:
        return in_single(splits.coded(model, rows))

    def raw(rows: Any) -> Any:
        # By the class that all have in common: a ranker's own method does not take the type.
        library = import_module("catboost")
        return library.CatBoost.predict(model, rows, "RawFormulaVal", thread_count=1)

    return TreeModel(model, chosen, trees, bias @ weights, len(called), names, encode, raw)


def _dump(model: Any, pool: Any = None) -> Mapping[str, Any]:
    """What CatBoost writes of a model, with the hashes of the categories in the pool."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "model.json")
        model.save_model(str(path), format="json", pool=pool)
        dumped: Mapping[str, Any] = json.loads(path.read_text())
    return dumped


class _Splits(NamedTuple):
    """What the splits of a model are about.

    A number's feature is (column, whether missing values go left), a category's (column, the
    hashes that splits ask for), both by CatBoost's own index; ``ctrs`` are the names of the
    categories that are replaced by statistics.
    """

    numbers: dict[int, tuple[int, bool]]
    categories: dict[int, tuple[int, list[int]]]
    ctrs: list[str]

    @classmethod
    def of(cls, info: Mapping[str, Any]) -> _Splits:
        listed = info.get("categorical_features", ())
        numbers = {
            each["feature_index"]: (
                each["flat_feature_index"],
                each["nan_value_treatment"] != "AsTrue",
            )
            for each in info.get("float_features", ())
        }
        categories = {
            each["feature_index"]: (each["flat_feature_index"], each.get("values", []))
            for each in listed
        }
        names = {each["feature_index"]: each["feature_id"] for each in listed}
        used = (part for ctr in info.get("ctrs", ()) for part in ctr["elements"])
        found = {part["cat_feature_index"] for part in used if "cat_feature_index" in part}
        return cls(
            numbers, categories, [names[at] or str(categories[at][0]) for at in sorted(found)]
        )

    def read(self, split: Mapping[str, Any]) -> tuple[int, float, bool, int | None]:
        """Column, border, whether missing values go left, and the code that goes right, if any."""
        kind = split["split_type"]
        if kind == "FloatFeature":
            column, missing_left = self.numbers[split["float_feature_index"]]
            return column, split["border"], missing_left, None
        if kind == "OneHotFeature":
            column, hashes = self.categories[split["cat_feature_index"]]
            return column, 0.0, True, hashes.index(split["value"])
        raise TypeError(
            f"CatBoost's {kind} splits replace the categories of {spell(self.ctrs)} by statistics of "
            f"the training rows (ctr); fit with a larger one_hot_max_size=; {ELSEWHERE}"
        )

    def coded(self, model: Any, rows: Any) -> Any:
        """Rows in which a category is the place of its hash among those of its column."""
        if not self.categories:
            return rows
        columns = [column for column, _ in self.categories.values()]
        pool = import_module("catboost").Pool(rows, cat_features=columns)
        # CatBoost writes the hash of every category of a pool.
        hashes = {
            each["value"]: each["hash"]
            for each in _dump(model, pool)["features_info"]["cat_features_hash"]
        }
        cells = np.array(rows, dtype=object)
        for column, known in self.categories.values():
            spelt = [_text(cell) for cell in cells[:, column]]
            if lost := {*spelt} - {*hashes}:
                raise ValueError(
                    f"CatBoost has no hash for the categories {spell(sorted(lost))} of column {column}; "
                    f"give strings or whole numbers; {ELSEWHERE}"
                )
            # Hashes are written with a sign in the one place and without it in the other.
            places = {hashed % 2**32: at for at, hashed in enumerate(known)}
            cells[:, column] = [places.get(hashes[text], len(known)) for text in spelt]
        return cells


def _text(cell: Any) -> str:
    """A category as CatBoost spells it."""
    return str(int(cell)) if isinstance(cell, (bool, np.bool_)) else str(cell)


def _expanded(tree: Mapping[str, Any]) -> Mapping[str, Any]:
    """A symmetric tree as nested nodes: its i-th split decides bit i of the number of a leaf."""
    weights = tree["leaf_weights"]
    values = np.reshape(tree["leaf_values"], (len(weights), -1))
    nodes: list[dict[str, Any]] = [
        {"value": value, "weight": weight} for value, weight in zip(values, weights, strict=True)
    ]
    for split in tree["splits"]:
        nodes = [
            {"split": split, "left": left, "right": right}
            for left, right in zip(nodes[::2], nodes[1::2], strict=True)
        ]
    return nodes[0]


def _tree(root: Mapping[str, Any], splits: _Splits, scale: FloatArray) -> Tree:
    """A tree from nested nodes; ``scale`` (values of a leaf, outputs) picks the outputs."""
    nothing = np.zeros(scale.shape[1])
    nodes, left, right = unfold(root, "left", "right")
    rows: list[list[Any]] = []
    categories = {}
    for at, node in enumerate(nodes):
        if left[at] < 0:
            value = np.atleast_1d(node["value"]) @ scale
            rows.append([0, 0.0, True, value, float(node["weight"])])
            continue
        column, border, missing_left, code = splits.read(node["split"])
        if code is not None:
            categories[at] = [code], False
        rows.append([column, border, missing_left, nothing, 0.0])
    columns, borders, missing, values, covers = map(list, zip(*rows, strict=True))
    for at in reversed(range(len(rows))):  # children come behind their parents
        if left[at] >= 0:
            covers[at] = covers[left[at]] + covers[right[at]]
    return Tree(left, right, columns, borders, missing, values, covers, categories)
