"""Which reader a tree model needs: those of scikit-learn, XGBoost and LightGBM."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from fairfield.games.trees.nodes import ELSEWHERE, TreeModel
from fairfield.games.trees.readers.lightgbm import read_lightgbm
from fairfield.games.trees.readers.sklearn import (
    read_forest,
    read_gradient_boosting,
    read_histogram_boosting,
)
from fairfield.games.trees.readers.xgboost import read_xgboost


def read_model(model: Any, output: Any = None) -> TreeModel:
    """The trees of a fitted model, for one of its outputs.

    ``output`` is a class, by label or else by position, or a column of a regression; a
    binary classifier stands for its second class where nothing is said.
    """
    names = {base.__name__ for base in type(model).__mro__}
    libraries = {base.__module__.partition(".")[0] for base in type(model).__mro__}
    for library, family, read in (
        ("xgboost", {"XGBModel", "Booster"}, read_xgboost),
        ("lightgbm", {"LGBMModel", "Booster"}, read_lightgbm),
        ("sklearn", {"BaseHistGradientBoosting"}, read_histogram_boosting),
        ("sklearn", {"BaseGradientBoosting"}, read_gradient_boosting),
        ("sklearn", {"ForestClassifier", "ForestRegressor", "BaseDecisionTree"}, read_forest),
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
