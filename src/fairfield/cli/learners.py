"""Models for ``fairfield data``: by name, or imported from a module."""

from __future__ import annotations

import sys
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from fairfield.cli.messages import InputError

if TYPE_CHECKING:
    import pandas as pd

LEARNERS = ("logistic", "forest", "boosting", "knn", "mlp")
# Models that compare distances or slopes, so that columns must have one scale.
SCALED = ("logistic", "knn", "mlp")


def learner(name: str, X: pd.DataFrame, classifies: bool) -> Any:
    """An unfitted model that takes the table as it is; text is one-hot encoded."""
    from sklearn.pipeline import make_pipeline

    if ":" in name:
        return _imported(name)
    if name not in LEARNERS:
        raise InputError(
            f"there is no model {name!r}; choose from {', '.join(LEARNERS)}, or name your own as "
            "package.module:object"
        )
    return make_pipeline(encoder(X, scale=name in SCALED), _named(name, classifies))


def encoder(X: pd.DataFrame, *, scale: bool) -> Any:
    """A transformer that keeps or scales numbers and one-hot encodes text."""
    from sklearn.compose import ColumnTransformer
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numbers = [name for name in X.columns if X[name].dtype.kind in "iufb"]
    texts = [name for name in X.columns if name not in numbers]
    parts = [
        ("numbers", StandardScaler() if scale else "passthrough", numbers),
        ("texts", OneHotEncoder(handle_unknown="ignore", sparse_output=False), texts),
    ]
    return ColumnTransformer([part for part in parts if part[2]])


def _named(name: str, classifies: bool) -> Any:
    from sklearn import ensemble, linear_model, neighbors, neural_network

    mlp = {"hidden_layer_sizes": (50,), "max_iter": 500}
    classifier, regressor = {
        "logistic": (linear_model.LogisticRegression(max_iter=1000), linear_model.Ridge()),
        "forest": (ensemble.RandomForestClassifier(), ensemble.RandomForestRegressor()),
        "boosting": (
            ensemble.HistGradientBoostingClassifier(),
            ensemble.HistGradientBoostingRegressor(),
        ),
        "knn": (neighbors.KNeighborsClassifier(), neighbors.KNeighborsRegressor()),
        "mlp": (neural_network.MLPClassifier(**mlp), neural_network.MLPRegressor(**mlp)),
    }[name]
    return classifier if classifies else regressor


def _imported(name: str) -> Any:
    """The estimator ``package.module:object``; a class is called without arguments."""
    sys.path.insert(0, "")
    try:
        found = resolve_name(name)
    except (ImportError, AttributeError, ValueError) as reason:
        raise InputError(f"--model {name} could not be found ({reason})") from None
    finally:
        sys.path.remove("")
    return found() if isinstance(found, type) else found
