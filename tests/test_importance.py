"""Importance of features where it is known."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_diabetes
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


def test_what_is_out_of_reach_is_estimated_with_errors(rng, monkeypatch):
    """A line of 30 independent features; then a table that would ask the model too often."""
    X = rng.integers(0, 2, size=(8, 30)) * 2.0 - 1
    slopes = rng.normal(size=30)
    with pytest.warns(UserWarning, match="are out of reach, so these are estimated to within"):
        found = ff.importance(lambda X: X @ slopes, X, X @ slopes, np.zeros(30))
    # -(Σ β x over those removed)²: a feature has half of each of its pairs.
    expected = np.mean(X * slopes * (X @ slopes)[:, None], axis=0)
    assert (np.abs(found.values - expected) <= 5 * found.stderr + 1e-10).all()
    given = lambda X: X[:, :3].prod(axis=1) + X[:, 8], X[:, :9], X[:, 0], X[:4, :9]
    exact = ff.importance(*given)
    monkeypatch.setattr("fairfield.feature_values.MOST_ROWS", 2**8)
    with pytest.warns(UserWarning, match="exact values take .* model rows, which exact=True"):
        few = ff.importance(*given)
    assert few.evaluations < 2**9
    assert (np.abs(few.values - exact.values) <= 5 * few.stderr + 1e-10).all()


def test_values_are_those_of_the_authors_package():
    """A curved model on 64 rows of the diabetes data, by sage-importance 0.0.6.

    That is its PermutationEstimator of a MarginalImputer, "mse" and "cross entropy", random_state=0,
    thresh=0.003, and their standard deviations.
    """
    X, y = load_diabetes(return_X_y=True)
    X, y = 20 * X[::7, [1, 2, 3, 8]], (y[::7] - 150) / 75

    def margin(X):
        linear = 0.1 * X[:, 0] + 0.5 * X[:, 1] + 0.3 * X[:, 2] * X[:, 3]
        return linear + 0.4 * np.tanh(X[:, 3])

    class Classifier:
        classes_ = np.array([False, True])

        def predict_proba(self, X):
            return np.stack([1 / (1 + np.exp(side * margin(X))) for side in (1, -1)], axis=1)

    for model, true, theirs, spread in (
        (margin, y, [0.01130831, 0.24593151, 0.01466614, 0.18139338],
         [0.00017449, 0.00070378, 0.00032284, 0.00042311]),
        (Classifier(), y > 0, [0.00657745, 0.09104044, 0.01571198, 0.06217134],
         [6.04789192e-05, 2.53371530e-04, 1.29501612e-04, 1.55695062e-04]),
    ):  # fmt: skip
        found = ff.importance(model, X, true, X[::6])
        assert (np.abs(found.values - theirs) < 3 * np.array(spread)).all()
