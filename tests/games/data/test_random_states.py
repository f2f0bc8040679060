"""Every random state of a model is seeded, those that the user set are not."""

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import (
    BaggingClassifier,
    RandomForestClassifier,
)
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier

import brute
import fairfield as ff
from games.data.examples import PLAYERS


def test_a_seed_set_by_the_user_stays(sets, groups):
    model = RandomForestClassifier(3, random_state=5)
    S = np.ones((1, PLAYERS), dtype=bool)
    X, y, X_test, y_test = sets
    wanted = clone(model).fit(X, y).score(X_test, y_test)
    for seed in range(3):
        assert ff.DataGame(model, *sets, groups=groups, seed=seed).worths(S) == wanted


def test_every_random_state_inside_is_seeded(sets, groups):
    drawn = []

    def scoring(model, X, y):
        drawn.append((model.random_state, model.estimator.random_state))
        return 0.0

    model = BaggingClassifier(DecisionTreeClassifier(random_state=np.random.RandomState(0)), 2)
    game = ff.DataGame(model, *sets, groups=groups, scoring=scoring, fallback=0)
    game.worths(brute.coalitions(PLAYERS)[1:])
    assert len(set(np.ravel(drawn).tolist())) == 2 * 31
    assert model.random_state is None


def test_splitters_and_the_models_of_a_grid_are_seeded_too(sets, groups):
    drawn = []

    def scoring(search, X, y):
        drawn.append((search.cv.random_state, search.param_grid["e"][1].random_state))
        return 0.0

    tree, cv = DecisionTreeClassifier(), KFold(3, shuffle=True)
    near = KNeighborsClassifier(1)
    search = GridSearchCV(Pipeline([("e", near)]), {"e": [near, tree]}, cv=cv)
    game = ff.DataGame(search, *sets, groups=groups, scoring=scoring, fallback=0)
    S = brute.coalitions(PLAYERS)[16:]
    game.worths(S)
    assert len(set(np.ravel(drawn).tolist())) == 32
    assert (cv.random_state, tree.random_state) == (None, None)
    first, drawn[:] = list(drawn), []
    ff.DataGame(search, *sets, groups=groups, scoring=scoring, fallback=0).worths(S)
    assert drawn == first
