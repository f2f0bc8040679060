"""Weighted background rows: every game counts a row as often as its weight says."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import fairfield as ff
from fairfield.games.features.background.weights import copies

COUNTS = np.array([3, 1, 2, 0, 4])


def curved(X):
    return np.sin(X).prod(axis=1) + X[:, 0] * X[:, 1]


@pytest.mark.parametrize(
    "model",
    [
        None,
        GradientBoostingRegressor(n_estimators=5),
        Ridge(),
        make_pipeline(StandardScaler(), GradientBoostingRegressor(n_estimators=5)),
    ],
)
def test_weights_are_repeated_rows(rng, model):
    X = rng.standard_normal((40, 4))
    model = curved if model is None else model.fit(X, curved(X))
    others = X[10:15]
    want = ff.explain(model, X[:3], np.repeat(others, COUNTS, axis=0), "shapley")
    found = ff.explain(model, X[:3], others, "shapley", sample_weight=COUNTS)
    assert found.game == want.game
    assert_allclose(found.values, want.values, atol=1e-12)
    explainer = ff.Explainer(model, others, criterion="shapley", sample_weight=COUNTS / 7)
    assert_allclose(explainer(X[:3]).values, want.values, atol=1e-12)


def test_one_row_has_one_weight(rng):
    X = rng.standard_normal((3, 2))
    want = ff.explain(curved, X[:2], X[2], "shapley")
    found = ff.explain(curved, X[:2], X[2], "shapley", sample_weight=[2.0])
    assert_allclose(found.values, want.values)


def test_the_rows_of_kmeans_bring_their_weights(rng):
    shap = pytest.importorskip("shap")
    X = rng.standard_normal((60, 3))
    means = shap.kmeans(X, 4)
    want = ff.explain(curved, X[:2], means.data, "shapley", sample_weight=means.weights)
    assert_allclose(ff.explain(curved, X[:2], means, "shapley").values, want.values)
    theirs = shap.KernelExplainer(curved, means).shap_values(X[:2], silent=True)
    assert_allclose(want.values, theirs, atol=1e-6)


def test_weights_that_are_no_counts(rng):
    """Trees count rows, so other weights are left to the table; each is part of the identity."""
    X = rng.standard_normal((30, 3))
    weights = rng.random(5) ** 2
    model = GradientBoostingRegressor(n_estimators=3).fit(X, curved(X))
    with pytest.warns(UserWarning, match="TreeGame refused: these weights are no counts"):
        found = ff.explain(model, X[0], X[:5], "shapley", sample_weight=weights)
    base = np.average(model.predict(X[:5]), weights=weights)
    assert_allclose(found.empty, base)
    one, two = (ff.FeatureGame(curved, X[0], X[:2], sample_weight=w) for w in ([1, 2], [2, 1]))
    assert one.describe() != two.describe()
    assert copies(np.array([1.0, 0.0])).tolist() == [1, 0]
    with pytest.raises(ValueError, match="no counts"):  # without a common multiple of all of them
        copies(rng.dirichlet(np.ones(5000)))


@pytest.mark.parametrize(
    ("weights", "background", "reason"),
    [
        ([1, 2], np.zeros((3, 2)), r"shape \(2,\) for a background of 3 rows"),
        ([1, -1], np.zeros((2, 2)), "from 0 on"),
        ([0, 0], np.zeros((2, 2)), "one above 0"),
        ([1], lambda row, kept, rng: row[None], "without background rows"),
    ],
)
def test_refusals(weights, background, reason):
    with pytest.raises(ValueError, match=reason):
        ff.explain(curved, np.ones((1, 2)), background, sample_weight=weights)
