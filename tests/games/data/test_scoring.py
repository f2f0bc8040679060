"""Scores of fitted models: names, functions, several at once, and classes by name."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
)
from sklearn.linear_model import (
    LogisticRegression,
    LogisticRegressionCV,
    RidgeCV,
    SGDClassifier,
)
from sklearn.metrics import accuracy_score, get_scorer, log_loss, make_scorer, roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import fairfield as ff
from games.data.examples import PLAYERS


def test_a_dict_of_scorings_is_a_batch_from_one_fit(sets, groups):
    fits = []

    class Counted(LogisticRegression):
        def fit(self, X, y):
            fits.append(len(y))
            return super().fit(X, y)

    def errors(model, X, y):
        return -float((model.predict(X) != y).sum())

    scoring = {"own": None, "log": "neg_log_loss", "errors": errors}
    game = ff.DataGame(Counted(), *sets, groups=groups, scoring=scoring)
    fits.clear()
    found = ff.banzhaf(game)
    assert (game.batch, game.scorings) == ((3,), ("own", "log", "errors"))
    assert found.values.shape == (3, PLAYERS)
    assert len(fits) == 31  # the empty coalition needs none; the one-class group fails in its fit
    assert_allclose(30 * found[0].values, found[2].values, atol=1e-12)
    alone = ff.DataGame(Counted(), *sets, groups=groups, scoring="neg_log_loss")
    assert_allclose(ff.banzhaf(alone).values, found[1].values)


def test_a_scoring_that_gives_nan_names_the_coalition(sets, groups):
    game = ff.DataGame(
        LogisticRegression(), *sets, groups=groups, scoring=lambda model, X, y: np.nan
    )
    with pytest.raises(ff.WorthError, match=r"coalition \{\} is nan"):
        ff.shapley(game)


def test_a_search_must_say_its_scoring(sets, groups):
    model = GridSearchCV(LogisticRegression(), {"C": [1, 10]}, scoring="roc_auc", cv=2)
    inner = GridSearchCV(LogisticRegressionCV(scoring="roc_auc"), {"Cs": [1, 10]}, cv=2)
    for each in (model, make_pipeline(StandardScaler(), model), inner):
        with pytest.raises(ValueError, match=r"own scoring='roc_auc'; say the same"):
            ff.DataGame(each, *sets, groups=groups)
    game = ff.DataGame(model, *sets, groups=groups, scoring="roc_auc")
    assert game.worths(np.zeros((1, PLAYERS), dtype=bool)) == 0.5


@pytest.mark.parametrize(
    "model", [HistGradientBoostingClassifier(), RidgeCV(scoring="r2")], ids=str
)
def test_a_scoring_that_chooses_the_fit_is_no_own_score(model, sets, groups):
    game = ff.DataGame(make_pipeline(StandardScaler(), model), *sets, groups=groups)
    assert np.isfinite(game.worths(np.zeros((1, PLAYERS), dtype=bool))).all()


def test_probabilities_belong_to_classes_not_to_columns(rng):
    y, y_test = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 2, 0])
    X, X_test = rng.standard_normal((6, 2)), rng.standard_normal((4, 2))
    scorings = {"log": "neg_log_loss", "auc": "roc_auc_ovr"}
    game = ff.DataGame(LogisticRegression(), X, y, X_test, y_test, groups=y, scoring=scorings)
    known = LogisticRegression().fit(X[y != 1], y[y != 1]).predict_proba(X_test)
    spanned = np.column_stack([known[:, 0], np.zeros(4), known[:, 1]])
    wanted = [-log_loss(y_test, spanned), roc_auc_score(y_test, spanned, multi_class="ovr")]
    found = game.worths(np.array([[True, False, True]]))
    assert_allclose(found[:, 0], wanted)


def test_a_class_that_is_not_tested_is_not_taken_for_another(rng):
    y, y_test = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 1, 0])
    X, X_test = rng.standard_normal((6, 2)), rng.standard_normal((4, 2))
    for scoring in ("neg_log_loss", "roc_auc"):
        game = ff.DataGame(LogisticRegression(), X, y, X_test, y_test, groups=y, scoring=scoring)
        aligned = get_scorer(scoring)(LogisticRegression().fit(X[:4], y[:4]), X_test, y_test)
        assert game.worths(np.array([[True, True, False]])) == aligned
        with pytest.raises(ValueError, match="class"):
            game.worths(np.array([[True, False, True]]))


def test_a_metric_is_no_scorer(sets, groups):
    with pytest.raises(TypeError, match=r"scoring=accuracy_score .*make_scorer\(accuracy_score\)"):
        ff.DataGame(LogisticRegression(), *sets, groups=groups, scoring=accuracy_score)
    with pytest.raises(TypeError, match="log_loss compares true and predicted"):
        ff.DataGame(LogisticRegression(), *sets, scoring={"loss": log_loss})
    made = make_scorer(accuracy_score)
    assert ff.DataGame(LogisticRegression(), *sets, groups=groups, scoring=made).batch == ()


def test_several_scorings_have_names(sets, groups):
    scoring = {"hits": "accuracy", "loss": "neg_log_loss"}
    v = ff.banzhaf(ff.DataGame(LogisticRegression(), *sets, groups=groups, scoring=scoring))
    alone = ff.DataGame(LogisticRegression(), *sets, groups=groups, scoring="neg_log_loss")
    assert_allclose(v["loss"].values, ff.banzhaf(alone).values, atol=1e-12)


def test_scorers_may_write_into_what_they_get_and_use_their_answer_again(sets, groups):
    held = np.zeros(())

    def calm(model, X, y):
        return (model.predict(X) == y).mean() - X[0, 0]

    def reckless(model, X, y):
        held[...] = calm(model, X, y)
        X[:], y[:] = 0, 0
        return held

    model, given = SGDClassifier(max_iter=3, tol=None), [each.copy() for each in sets]
    games = [
        ff.DataGame(model, *given, groups=groups, scoring={"a": scorer, "b": "accuracy"}, repeats=3)
        for scorer in (reckless, calm)
    ]
    S = np.ones((2, PLAYERS), dtype=bool)
    S[0, 0] = False
    found, wanted = (game.measure(S) for game in games)
    assert_array_equal(found.worths, wanted.worths)
    assert_array_equal(found.variances, wanted.variances)
    empty = np.zeros((1, PLAYERS), dtype=bool)
    assert_array_equal(games[0].worths(empty), games[1].worths(empty))
    for ours, before in zip(given, sets, strict=True):
        assert_array_equal(ours, before)


def test_single_rows_of_a_classifier_are_scored_by_log_loss(rng):
    X, y = rng.normal(size=(8, 2)), np.arange(8) % 2
    rows = ff.DataGame(GaussianNB(), X, y, X, y)
    assert repr(rows) == "DataGame: 8 rows, for the negative log-loss"
    all_of_them = np.ones((1, 8), dtype=bool)
    wanted = -log_loss(y, GaussianNB().fit(X, y).predict_proba(X))
    assert rows.worths(all_of_them)[0] == pytest.approx(wanted, abs=1e-12)
    accuracy = GaussianNB().fit(X, y).score(X, y)
    vendors = ff.DataGame(GaussianNB(), X, y, X, y, groups=np.arange(8) // 2)
    given = ff.DataGame(GaussianNB(), X, y, X, y, fallback=0.5)
    for game in (vendors, given):
        assert "log-loss" not in repr(game)
        assert game.worths(np.ones((1, len(game.players)), dtype=bool))[0] == accuracy
    margins = ff.DataGame(LinearSVC(), X, y, X, y)  # gives no probabilities
    assert "log-loss" not in repr(margins)


def test_labels_that_occur_in_the_test_set_alone_are_warned_of(rng):
    X, y, y_test = rng.normal(size=(6, 2)), [0, 1, 0, 1, 0, 1], [0, 1, 2, 3, 2, 1]
    sentence = r"3 of 6 test rows have a label that no training row has \(2, 3\)"
    for make in (ff.NeighborGame, partial(ff.DataGame, GaussianNB())):
        with pytest.warns(UserWarning, match=sentence) as warned:
            make(X, y, X, y_test)
        assert warned[0].filename == __file__
