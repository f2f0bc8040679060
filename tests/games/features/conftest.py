"""What the tests of feature games share."""

import warnings

import numpy as np
import pytest


@pytest.fixture(scope="module")
def census():
    """A small table with the ties of a census, a label, and models fitted to it."""
    xgboost = pytest.importorskip("xgboost")
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier

    rng = np.random.default_rng(3)
    X = np.column_stack(
        [
            rng.integers(18, 70, 400), rng.integers(0, 7, 400), rng.integers(0, 2, 400),
            rng.choice([0, 0, 0, 0, 500, 2000], 400), rng.choice([40, 40, 40, 20, 60], 400),
            rng.choice([1, 1, 1, 2, 3], 400), rng.standard_normal(400),
        ]
    ).astype(float)  # fmt: skip
    y = (X[:, 0] / 50 + X[:, 2] + X[:, 3] / 1000 + X[:, 6] + rng.standard_normal(400) > 2).astype(
        int
    )
    models = {
        "xgboost": xgboost.XGBClassifier(n_estimators=20, max_depth=4, n_jobs=1),
        "logistic": LogisticRegression(max_iter=2000),
        "mlp": MLPClassifier((16,), max_iter=30, random_state=0),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fits need not have converged
        return X, y, {name: model.fit(X, y) for name, model in models.items()}


@pytest.fixture
def frame(rng):
    """A table with columns of many dtypes."""
    pd = pytest.importorskip("pandas")
    return pd.DataFrame(
        {
            "age": rng.integers(20, 25, 30),
            "height": rng.standard_normal(30),
            "job": pd.Categorical(rng.choice(["clerk", "baker", "smith"], 30)),
            "town": pd.Series(rng.choice(["Rome", "Oslo"], 30), dtype=object),
            "member": rng.random(30) < 0.5,
            "since": pd.to_datetime(rng.choice(["2020-01-01", "2021-05-05"], 30)),
        }
    )
