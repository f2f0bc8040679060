"""Errors over test rows: exact covariances from the same fits, whatever was stored or shared out."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import r2_score, roc_auc_score

import brute
import fairfield as ff
from fairfield.games.data.by_row import row_scorers
from noisy import linear

SCORES = {"hits": None, "log": "neg_log_loss", "auc": "roc_auc"}


@pytest.fixture
def game(sets, groups):
    return ff.DataGame(LogisticRegression(), *sets, groups=groups % 4, scoring=SCORES)


def covariances(by_row, coefficients):
    """Those of means over rows of Σ_S c_i(S) F(S), game by game."""
    return [
        np.cov((coefficients @ each).reshape(len(coefficients), -1)) / each.shape[-1]
        for each in by_row
    ]


def test_rows_say_on_average_what_the_score_says(game, rng):
    found = game.measure(brute.coalitions(4))
    assert_allclose(found.by_row.mean(axis=-1), found.worths, atol=1e-12)
    y = rng.standard_normal(30)
    X = np.column_stack([y + rng.standard_normal(30)])
    model = LinearRegression().fit(X, y)
    (score,) = row_scorers(model, [None], y)
    assert_allclose(score(model, X, y).mean(), r2_score(y, model.predict(X)))


def test_rows_move_a_score_as_leaving_them_out_does(rng):
    """Influences of R² and the area, against n (score - score without the row)."""
    y, X = rng.standard_normal(300), rng.standard_normal((300, 2))
    y += X @ [1.0, 0.5]
    sign = (y > 0).astype(int)
    line, log = LinearRegression().fit(X, y), LogisticRegression().fit(X, sign)
    cases = [
        (line, "r2", y, lambda rest: r2_score(y[rest], line.predict(X[rest]))),
        (
            log,
            "roc_auc",
            sign,
            lambda rest: roc_auc_score(sign[rest], log.decision_function(X[rest])),
        ),
    ]
    for model, name, target, score in cases:
        (by_row,) = row_scorers(model, [name], target)
        every = np.arange(300)
        left = np.array([299 * (score(every) - score(np.delete(every, k))) for k in every[:40]])
        found = by_row(model, X, target)
        assert_allclose(found[:40] - found.mean(), left, rtol=0.03, atol=0.01 * found.std())


def test_covariances_of_linear_criteria_are_exact(game, tmp_path):
    by_row = game.measure(brute.coalitions(4)).by_row
    readings = {
        "shapley": lambda e: e.shapley(),
        "banzhaf": lambda e: e.gradient(np.full(4, 0.5)),
        "leave_one_out": lambda e: e.gradient(np.ones(4)),
    }
    for name, reading in readings.items():
        found = getattr(ff, name)(game, store=tmp_path / f"{name}.db")
        assert_allclose(found.covariance, covariances(by_row, linear(reading, 4)), atol=1e-12)
        # From the store, and from other processes, the same errors come.
        again = getattr(ff, name)(game, store=tmp_path / f"{name}.db", n_jobs=2)
        assert again.evaluations == 0
        assert_allclose(again.covariance, found.covariance, atol=1e-16)
    beta = ff.semivalue(game, ff.beta(2, 3))
    weights = ff.beta(2, 3).by_size(4)
    inside = brute.coalitions(4).T
    size = inside.sum(axis=0)
    held, left = np.r_[0, weights], np.r_[weights, 0]
    assert_allclose(
        beta.covariance, covariances(by_row, np.where(inside, held[size], -left[size])), atol=1e-12
    )
    assert "± over 30 test rows" in beta.method


def test_the_index_has_errors_through_its_fixed_point(game):
    """Against the index itself with each test row left out in turn: the jackknife."""
    found = ff.variational_index(game, temperature=0.3)
    by_row, rows = game.measure(brute.coalitions(4)).by_row, game.traits.test_rows
    kept = (by_row.sum(axis=-1, keepdims=True) - by_row) / (rows - 1)
    left = ff.variational_index(ff.TableGame(np.moveaxis(kept, -1, 0)), temperature=0.3)
    spread = left.values - left.values.mean(axis=0)
    jackknife = (rows - 1) / rows * np.einsum("rgi,rgj->gij", spread, spread)
    assert_allclose(found.covariance, jackknife, atol=0.05 * np.abs(jackknife).max())


def test_a_limit_of_time_keeps_the_errors(game):
    timed = ff.shapley(game, seconds=60.0)
    assert_allclose(timed.covariance, ff.shapley(game).covariance, atol=1e-16)


def test_scores_that_are_no_means_have_no_errors(sets, groups):
    game = ff.DataGame(
        LogisticRegression(), *sets, groups=groups, scoring={"hits": None, "f1": "f1"}
    )
    assert ff.shapley(game).stderr is None


def test_a_number_to_fall_back_to_has_no_error(sets, groups):
    game = ff.DataGame(LogisticRegression(), *sets, groups=groups, fallback=0.5)
    assert_array_equal(game.measure(np.zeros((1, 5), dtype=bool)).by_row, 0)


def test_scores_that_do_not_fit_are_left_out_and_said_to_be(game, monkeypatch):
    monkeypatch.setattr("fairfield.evaluation.by_row.MOST_BYTES", 100)
    with pytest.warns(UserWarning, match="no errors over test rows"):
        assert ff.shapley(game["log"]).stderr is None
