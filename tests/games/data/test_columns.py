"""A worth of columns is the mean of scikit-learn's own cross-validation of them."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import TimeSeriesSplit, cross_val_score

import brute
import fairfield as ff

SCORES = {"hits": "accuracy", "log": "neg_log_loss"}


@pytest.fixture
def frame(rng):
    X = pd.DataFrame(rng.standard_normal((43, 4)), columns=list("abcd"))
    return X, np.where(X["a"] - X["c"] + 0.5 * rng.standard_normal(43) > 0, "yes", "no")


def test_worths_are_those_of_cross_validation(frame, tmp_path):
    X, y = frame
    game = ff.ColumnGame(LogisticRegression(), X, y, scoring=SCORES, groups={"pair": ["b", "d"]})
    assert game.players == ("pair", "a", "c")
    owned = [["b", "d"], ["a"], ["c"]]
    for coalition, worths in zip(
        brute.coalitions(3), game.worths(brute.coalitions(3)).T, strict=True
    ):
        columns = [
            name for own, inside in zip(owned, coalition, strict=True) if inside for name in own
        ]
        model = LogisticRegression() if columns else DummyClassifier()
        wanted = [
            cross_val_score(model, X[columns or ["a"]], y, scoring=s).mean()
            for s in SCORES.values()
        ]
        assert_allclose(worths, wanted, atol=1e-12)
    store = tmp_path / "columns.db"
    found = ff.shapley(game, store=store)
    assert found["hits"].players == game.players
    assert (ff.banzhaf(game, store=store).evaluations, found.evaluations) == (0, 8)
    by_row = game.measure(brute.coalitions(3)).by_row
    assert_allclose(by_row.mean(axis=-1), game.worths(brute.coalitions(3)), atol=1e-12)
    assert (found.stderr > 0).all()


def test_folds_may_be_those_of_time_and_chance_is_that_of_the_coalition(frame):
    X, y = frame
    game = ff.ColumnGame(Ridge(), X.to_numpy(), X["a"] + X["b"], cv=TimeSeriesSplit(3))
    wanted = cross_val_score(Ridge(), X[["a", "b"]], X["a"] + X["b"], cv=TimeSeriesSplit(3)).mean()
    assert_allclose(game.worths(np.array([[True, True, False, False]])), wanted)
    forest = ff.ColumnGame(RandomForestClassifier(3), X, y, cv=2, repeats=2)
    some = brute.coalitions(4)[[3, 9]]
    assert_array_equal(forest.worths(some), forest.worths(some[::-1])[::-1])
    with pytest.raises(ValueError, match="cv=60 does not divide the 43 rows"):
        ff.ColumnGame(Ridge(), X, X["a"], cv=60)
