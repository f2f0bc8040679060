"""Importance by a score against its definition, and what it must agree with."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import get_scorer, log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import brute
import fairfield as ff


def mean_outputs(predict, X, background, inside):
    """E_b f(x on S, b elsewhere), row by row."""
    return np.array([np.mean(predict(np.where(inside, x, background)), axis=0) for x in X])


@pytest.fixture
def data(rng):
    X = rng.integers(0, 3, size=(30, 5)).astype(float)
    noise = rng.normal(size=30)
    return X, X[:, 0] * X[:, 1] - X[:, 2] + noise


def test_log_loss_of_a_classifier_is_its_definition(data):
    X, margin = data
    y = np.digitize(margin, [-0.5, 1])
    model = LogisticRegression().fit(X, y)
    background = X[:7]
    table = [
        -log_loss(y, mean_outputs(model.predict_proba, X, background, S), labels=[0, 1, 2])
        for S in brute.coalitions(5)
    ]
    found = ff.importance(model, X, y, background)
    assert_allclose(found.values, brute.shapley(np.array(table)), rtol=0, atol=1e-12)
    assert_allclose([found.empty, found.grand], [table[0], table[-1]], atol=1e-12)
    pairs = ff.interactions(ff.ImportanceGame(model, X, y, background))
    assert_allclose(pairs[0, 1], brute.shapley_interaction(np.array(table), (0, 1)), atol=1e-12)


@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc", "neg_log_loss", "neg_brier_score"])
def test_scores_of_scikit_learn_see_the_mean_probabilities(scoring, data):
    X, margin = data
    y = np.where(margin > 0, "yes", "no")
    if scoring == "neg_brier_score":  # which takes no text
        y = (margin > 0).astype(int)
    model = LogisticRegression().fit(X, y)
    game = ff.ImportanceGame(model, X, y, X[:4], scoring=scoring)
    worths = game.worths(brute.coalitions(5))
    assert_allclose(worths[-1], get_scorer(scoring)(model, X, y), rtol=0, atol=1e-12)
    assert_allclose(game.table(), worths, rtol=0, atol=1e-12)


def test_cohorts_are_games_of_their_own_rows(data):
    pd = pytest.importorskip("pandas")
    X, y = data
    frame = pd.DataFrame(X, columns=list("abcde")).assign(g=np.where(X[:, 2] > 1, "high", "low"))
    own = (frame["g"] == "high").to_numpy()
    model = make_pipeline(FunctionTransformer(lambda t: t[list("abcde")]), LinearRegression())
    model.fit(frame, y)
    found = ff.importance(model, frame, y, frame[:6], by="g", scoring="r2")
    assert found.labels == ("high", "low")
    alone = ff.importance(model, frame[own], y[own], frame[:6], scoring="r2")
    assert_allclose(found["high"].values, alone.values, rtol=0, atol=1e-12)
    both = ff.importance(model, frame, y, frame[:6], by=own)
    whole = ff.importance(model, frame, y, frame[:6])
    shares = np.array([(~own).mean(), own.mean()])
    assert_allclose(shares @ both.values, whole.values, rtol=0, atol=1e-12)


def test_blocks_of_rows_estimates_and_drawn_backgrounds(data, monkeypatch):
    X, y = data
    model = LinearRegression().fit(X, y)
    exact = ff.importance(model, X, y, X[:5])
    monkeypatch.setattr("fairfield.games.features.importance.AT_ONCE", 100)
    assert_allclose(ff.importance(model, X, y, X[:5]).values, exact.values, rtol=0, atol=1e-12)
    drawn = ff.importance(model, X, y, lambda row, kept, rng: X[:5])
    assert_allclose(drawn.values, exact.values, rtol=0, atol=1e-12)
    found = ff.importance(model, X, y, X[:5], budget=28, sampler="permutation")
    assert (np.abs(found.values - exact.values) <= 5 * found.stderr + 1e-9).all()


def test_a_column_of_labels_and_frames_of_another_library(data, monkeypatch):
    pl = pytest.importorskip("polars")
    X, y = data
    frame = pl.DataFrame(X, schema=list("abcde"))

    def first(rows):
        assert isinstance(rows, pl.DataFrame)
        return rows["a"].to_numpy()

    found = ff.importance(first, frame, y[:, None], by="b")
    plain = ff.importance(lambda rows: rows[:, 0], X, y, by=X[:, 1])
    assert_allclose(found.values, plain.values, rtol=0, atol=1e-12)
    assert found.labels == plain.labels
    monkeypatch.setattr("fairfield.games.features.importance.AT_ONCE", 100)
    parts = ff.importance(first, frame, y, X, by="b")  # the background is of no library's own
    assert_allclose(parts.values, plain.values, rtol=0, atol=1e-12)


def test_rows_without_a_cohort_are_one(data):
    X, y = data
    by = np.array(["a", None, "b"], dtype=object)[np.arange(30) % 3]
    found = ff.importance(lambda rows: rows[:, 0], X, y, X[:4], by=by)
    assert found.labels == ("a", "b", "missing")
    alone = ff.importance(lambda rows: rows[:, 0], X[1::3], y[1::3], X[:4])
    assert_allclose(found["missing"].values, alone.values, rtol=0, atol=1e-12)


def test_what_does_not_fit_is_refused(data):
    X, y = data
    with pytest.raises(
        ValueError, match="by='sex' names a column, and X is an array; give a label"
    ):
        ff.importance(lambda X: X[:, 0], X, y, by="sex")
    with pytest.raises(ValueError, match=r"y has shape \(3,\) for 30 rows"):
        ff.importance(lambda X: X[:, 0], X, y[:3])
    with pytest.raises(ValueError, match="one row was given"):
        ff.importance(lambda X: X[:, 0], X[0], y[0])
    with pytest.raises(ValueError, match=r"by has shape \(2,\)"):
        ff.importance(lambda X: X[:, 0], X, y, by=[1, 2])
