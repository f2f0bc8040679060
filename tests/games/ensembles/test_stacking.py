"""Stacked models valued by what the final estimator makes of those that are there."""

from __future__ import annotations

import numpy as np
import pytest

import fairfield as ff
from fairfield.core.coalitions import enumerate_coalitions
from games.examples import assert_same

pytest.importorskip("sklearn")
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import StackingClassifier, StackingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor


@pytest.mark.parametrize("passthrough", [False, True])
@pytest.mark.parametrize("classes", [2, 3])
def test_missing_models_tell_their_means(classes: int, passthrough: bool) -> None:
    X, y = load_iris(return_X_y=True)
    some = y < classes if classes == 3 else y > 0
    X, y = X[some], np.array(["a", "b", "c"])[y[some]]
    members = [
        ("bayes", GaussianNB()),
        ("gone", "drop"),
        ("ridge", RidgeClassifier()),
        ("tree", DecisionTreeClassifier(max_depth=2, random_state=0)),
    ]
    stack = StackingClassifier(
        members, LogisticRegression(max_iter=500), cv=2, passthrough=passthrough
    ).fit(X[::2], y[::2])
    game = ff.EnsembleGame(stack, X[1::2], y[1::2], vote="stack", fallback=0.1)
    assert game.players == ("bayes", "ridge", "tree")
    assert game.worths(np.ones((1, 3), dtype=bool)) == stack.score(X[1::2], y[1::2])
    inputs = stack.transform(X[1::2])
    width = 1 if classes == 2 else 3
    inputs[:, width : 2 * width] = inputs[:, width : 2 * width].mean(axis=0)
    wanted = (stack.classes_[stack.final_estimator_.predict(inputs)] == y[1::2]).mean()
    assert game.worths(np.array([[True, False, True]])) == wanted
    assert game.worths(np.zeros((1, 3), dtype=bool)) == 0.1
    assert game.describe() != ff.EnsembleGame(stack, X[::2], y[::2], vote="stack").describe()
    with pytest.raises(TypeError, match="vote='stack'"):
        ff.EnsembleGame(stack, X, y)


def test_stacked_numbers() -> None:
    X, y = load_diabetes(return_X_y=True)
    members = [("line", LinearRegression()), ("tree", DecisionTreeRegressor(max_depth=3))]
    stack = StackingRegressor(members, LinearRegression(), cv=2).fit(X[::2], y[::2])
    game = ff.EnsembleGame(stack, X[1::2], y[1::2], vote="stack")
    inputs, final = stack.transform(X[1::2]), stack.final_estimator_
    means = [np.where(S, inputs, inputs.mean(axis=0)) for S in enumerate_coalitions(2)[1:]]
    wanted = [game.empty, *(final.score(each, y[1::2]) for each in means)]
    assert_same(game.worths(enumerate_coalitions(2)), np.array(wanted))
    for given, sentence in (
        ((members, X, y), "a fitted StackingClassifier"),
        ((stack, None, y), "no rows"),
        ((stack, X, y[:9]), "the same rows"),
    ):
        with pytest.raises(ValueError, match=sentence):
            ff.EnsembleGame(*given, vote="stack")
    with pytest.raises(ValueError, match="its own weights"):
        ff.EnsembleGame(stack, X, y, vote="stack", weights=[1, 2])
