"""Which numbers of a model are explained, and what it must return."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import brute
import fairfield as ff


def test_a_links_worths_are_linked_means(census):
    X, _, models = census
    plain = ff.FeatureGame(models["logistic"], X[7], X[:20])
    for link, wanted in (("logit", lambda p: np.log(p / (1 - p))), (np.square, np.square)):
        linked = ff.FeatureGame(models["logistic"], X[7], X[:20], link=link)
        assert_allclose(linked.table(), wanted(plain.table()), atol=1e-12)
        S = brute.coalitions(7)[::9]
        assert_allclose(linked.worths(S), wanted(plain.worths(S)), atol=1e-12)
    with pytest.raises(ValueError, match="no link 'probit'"):
        ff.FeatureGame(models["logistic"], X[7], X[:20], link="probit")
    with pytest.raises(ValueError, match="cell by cell"):
        ff.FeatureGame(models["logistic"], X[7], X[:20], link=np.sum).table()


def test_outputs_are_chosen_by_class(census):
    X, y, models = census
    model, background = models["logistic"], X[:20]
    second = ff.FeatureGame(model, X[:4], background).table()
    first = ff.FeatureGame(model, X[:4], background, output=0).table()
    assert_allclose(first + second, 1.0)
    true = ff.FeatureGame(model, X[:4], background, output="label", y=y[:4])
    wanted = np.where(y[:4, None] == 1, second, first)
    assert_allclose(true.table(), wanted)
    assert_allclose(true.worths(brute.coalitions(7)[::5]), wanted[:, ::5])
    one = ff.FeatureGame(model.predict_proba, X[0], background, output="label", y=y[0])
    assert_allclose(one.table(), wanted[0])
    probability = ff.FeatureGame(model, X[:4], background, output="probability")
    assert_allclose(probability.table(), second)


def test_margins_of_models_without_probabilities(census):
    from sklearn.svm import LinearSVC

    X, y, _ = census
    model = LinearSVC().fit(X, y)
    margin = ff.FeatureGame(model, X[0], X[:9]).table()
    assert_allclose(margin[-1], model.decision_function(X[:1])[0])
    assert_allclose(ff.FeatureGame(model, X[0], X[:9], output=0).table(), -margin)
    with pytest.raises(ValueError, match="needs probabilities"):
        ff.FeatureGame(model, X[0], X[:9], output="label", y=[1])


def test_several_classes_must_be_named(census):
    from sklearn.naive_bayes import GaussianNB

    X, _, _ = census
    letters = np.array(["a", "b", "c"])[X[:, 5].astype(int) - 1]
    model = GaussianNB().fit(X, letters)
    with pytest.raises(ValueError, match=r"3 classes, \{a, b, c\}; pass output="):
        ff.FeatureGame(model, X[0], X[:9])
    with pytest.raises(ValueError, match="output='d' is no class"):
        ff.FeatureGame(model, X[0], X[:9], output="d")
    with pytest.raises(ValueError, match="y holds the label 'z'"):
        ff.FeatureGame(model, X[0], X[:9], output="label", y=["z"])
    with pytest.raises(ValueError, match="one label each"):
        ff.FeatureGame(model, X[:3], X[:9], output="label", y=["a"])
    with pytest.raises(ValueError, match="go together"):
        ff.FeatureGame(model, X[:3], X[:9], y=["a", "b", "c"])
    game = ff.FeatureGame(model, X[:3], X[:9], output="label", y=letters[:3])
    place = [list("abc").index(letter) for letter in letters[:3]]
    assert_allclose(game.table()[:, -1], model.predict_proba(X[:3])[range(3), place])


def test_boosters_and_regressors_are_played(census):
    import lightgbm
    import xgboost

    X, y, models = census
    booster = models["xgboost"].get_booster()
    assert_allclose(
        ff.FeatureGame(booster, X[0], X[:9]).table(),
        ff.FeatureGame(models["xgboost"], X[0], X[:9]).table(),
        atol=1e-6,
    )
    for regressor in (
        lightgbm.LGBMRegressor(n_estimators=5, verbose=-1).fit(X, y),
        xgboost.XGBRegressor(n_estimators=5).fit(X, y),
    ):
        grand = ff.FeatureGame(regressor, X[0], X[:9]).table()[-1]
        assert_allclose(grand, regressor.predict(X[:1])[0], atol=1e-6)


@pytest.mark.parametrize(
    ("predict", "sentence"),
    [
        (lambda X: 1.0, r"<lambda> returned shape \(\) for 8 rows"),
        (lambda X: X[1:, 0], r"returned shape \(7,\) for 8 rows"),
        (lambda X: X, "returned 3 columns; pass output="),
        (lambda X: np.full(len(X), "yes"), "returned values of type <U3; numbers are needed"),
        (3.0, "a fitted model or a function of rows is needed; float was given"),
    ],
)
def test_a_predict_that_returns_the_wrong_thing_is_reported(predict, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence):
        ff.FeatureGame(predict, np.ones(3), np.zeros((1, 3))).table()


def test_a_column_that_is_not_there_is_reported():
    game = ff.FeatureGame(lambda X: X, np.ones(3), np.zeros((1, 3)), output=5)
    with pytest.raises(ValueError, match="3 columns and column 5 was asked for"):
        game.table()
    with pytest.raises(
        ValueError, match="has output columns, counted from 0; output='five' was given"
    ):
        ff.FeatureGame(lambda X: X, np.ones(3), np.zeros((1, 3)), output="five")
