"""Importance of features where it is known."""

import numpy as np
from numpy.testing import assert_allclose
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LinearRegression

import fairfield as ff


def test_independent_features_of_a_linear_model_explain_their_variance():
    """SAGE's own example: β_i² Var(X_i), where y is the model's output."""
    grid = np.stack(np.meshgrid([0, 1], [0, 1, 2], [-1, 0, 4]), axis=-1).reshape(-1, 3) * 1.0
    slopes = np.array([2.0, -1.0, 0.5])
    found = ff.importance(lambda X: X @ slopes, grid, grid @ slopes)
    assert_allclose(found.values, slopes**2 * grid.var(axis=0), rtol=0, atol=1e-12)


def test_a_score_linear_in_outputs_leaves_out_what_permuting_does(rng):
    """There the mean over permuted rows is the mean over the background."""
    X = rng.integers(0, 3, size=(30, 5)).astype(float)
    y = X[:, 0] * X[:, 1] - X[:, 2] + rng.normal(size=30)
    model = LinearRegression().fit(np.column_stack([X, X[:, 0] * X[:, 1]]), y)

    class Product:
        def fit(self, X, y):
            return self

        def predict(self, X):
            return model.predict(np.column_stack([X, X[:, 0] * X[:, 1]]))

    def score(fitted, X, y):
        return float(np.mean(y * fitted.predict(X)))

    exact = ff.importance(Product(), X, y, None, "leave_one_out", scoring=score).values
    found = permutation_importance(Product(), X, y, scoring=score, n_repeats=400, random_state=0)
    errors = found.importances_std / np.sqrt(400)
    assert (np.abs(found.importances_mean - exact) <= 5 * errors + 1e-12).all()
