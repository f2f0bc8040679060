"""Predictions in every form a user may have them, as votes."""

from __future__ import annotations

import numpy as np
import pytest

import fairfield as ff
from fairfield.core.coalitions import enumerate_coalitions
from games.ensembles.examples import rng, votes
from games.examples import assert_same


def test_ways_to_give_the_same_predictions() -> None:
    chances, truth = votes(5, 30)
    everyone = enumerate_coalitions(5)
    words = np.array(["no", "yes"])
    worths = ff.EnsembleGame(chances, None, truth).worths(everyone)
    assert_same(ff.EnsembleGame(chances[..., 1], None, truth).worths(everyone), worths)
    assert_same(ff.EnsembleGame(chances, None, words[truth]).worths(everyone), worths)
    hard = ff.EnsembleGame(chances, None, truth, vote="hard").worths(everyone)
    labels = words[chances.argmax(axis=-1)]
    assert_same(ff.EnsembleGame(labels, None, words[truth], vote="hard").worths(everyone), hard)


def test_fitted_models_are_asked_once_each() -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    tree = pytest.importorskip("sklearn.tree")
    X, y = rng.normal(size=(200, 4)), rng.integers(0, 3, 200)
    models = {
        "linear": linear_model.LogisticRegression().fit(X[:100], y[:100]),
        "tree": tree.DecisionTreeClassifier(max_depth=3).fit(X[:100], y[:100]),
        # It has never seen class 2.
        "narrow": tree.DecisionTreeClassifier(max_depth=2).fit(X[:100], y[:100] % 2),
    }
    game = ff.EnsembleGame(models, X[100:], y[100:])
    assert game.players == ("linear", "tree", "narrow")
    hard = ff.EnsembleGame(list(models.values()), X[100:], y[100:], vote="hard")
    alone = np.eye(3, dtype=bool)
    scores = [model.score(X[100:], y[100:]) for model in models.values()]
    assert_same(hard.worths(alone), scores)
    # Leaves of a tree may hold ties, which are wrong; a linear model has none.
    assert game.worths(alone)[0] == pytest.approx(scores[0])
    for unable in (linear_model.RidgeClassifier().fit(X, y), linear_model.LogisticRegression()):
        with pytest.raises(ValueError, match=r"no predict_proba or is not fitted.*'mean' numbers"):
            ff.EnsembleGame([unable], X, y)
    with pytest.raises(ValueError, match="give the rows to predict"):
        ff.EnsembleGame(models, None, y)


@pytest.mark.parametrize("vote", ["soft", "hard"])
@pytest.mark.parametrize("names", [["a", "b"], [1, 2], [5, 7]])
def test_members_of_a_forest_number_their_classes(vote: str, names: list[object]) -> None:
    forests = pytest.importorskip("sklearn.ensemble")
    X = rng.normal(size=(80, 3))
    y = np.array(names)[(X[:, 0] > 0).astype(int)]
    forest = forests.RandomForestClassifier(4, max_depth=3, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="number those of y_test likewise"):
        ff.EnsembleGame(forest.estimators_, X, y, vote=vote)
    numbered = ff.EnsembleGame(
        forest.estimators_, X, np.searchsorted(forest.classes_, y), vote=vote
    )
    assert numbered.worths(np.ones((1, 4), dtype=bool))[0] > 0.8


@pytest.mark.parametrize("vote", ["soft", "hard"])
def test_members_of_a_forest_are_refused_where_a_class_is_not_tested(vote: str) -> None:
    forests = pytest.importorskip("sklearn.ensemble")
    X = np.random.default_rng(0).normal(size=(90, 3))
    y = 1 + np.digitize(X[:, 0], [-0.5, 0.5])
    forest = forests.RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, y)
    some = y != 3
    with pytest.raises(ValueError, match=r"classes \{0.*name all classes in labels="):
        ff.EnsembleGame(forest.estimators_, X[some], y[some], vote=vote)
    numbered = np.searchsorted(forest.classes_, y[some])
    with pytest.raises(ValueError, match="name all classes in labels="):
        ff.EnsembleGame(forest.estimators_, X[some], numbered, vote=vote)
    game = ff.EnsembleGame(forest.estimators_, X[some], numbered, vote=vote, labels=range(3))
    assert game.worths(np.ones((1, 5), dtype=bool))[0] > 0.8


@pytest.mark.parametrize("labels", [[1, 2, 3], [3, 1, 2], ["a", "b", "c"], ["c", "a", "b"]])
def test_columns_stand_for_the_labels_that_are_named(labels: list[object]) -> None:
    truth = np.array(labels)[[0, 1, 0, 1, 1]]
    perfect = np.stack([(truth[:, None] == labels).astype(float)])
    game = ff.EnsembleGame(perfect, None, truth, labels=labels)
    assert game.worths(np.array([[True]])) == 1
    # Without names the three columns are not guessed from two labels.
    with pytest.raises(ValueError, match=r"3 classes were given for the labels.*labels="):
        ff.EnsembleGame(perfect, None, truth)


def test_one_model_is_no_list_of_models() -> None:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
    from sklearn.linear_model import LogisticRegression

    X, y = rng.normal(size=(30, 2)), rng.integers(0, 2, 30)
    forest = RandomForestClassifier(2).fit(X, y)
    for model, sentence in (
        (forest, r"pass model.estimators_, and np.searchsorted\(model.classes_, y_test\)"),
        (RandomForestRegressor(2).fit(X, y), "pass model.estimators_$"),
        (LogisticRegression().fit(X, y), "give a list of models"),
    ):
        with pytest.raises(TypeError, match=sentence):
            ff.EnsembleGame(model, X, y)


@pytest.mark.parametrize("kind", [object, float, "category", "Int64"])
def test_labels_are_equal_however_they_are_stored(kind: object) -> None:
    pandas = pytest.importorskip("pandas")
    linear_model = pytest.importorskip("sklearn.linear_model")
    chances, truth = votes(4, 30, 3)
    everyone = enumerate_coalitions(4)
    stored = pandas.Series(truth, dtype=kind)
    for vote in ("soft", "hard"):
        wanted = ff.EnsembleGame(chances, None, truth, vote=vote)
        found = ff.EnsembleGame(chances, None, stored, vote=vote)
        assert_same(found.worths(everyone), wanted.worths(everyone))
    labels = chances.argmax(axis=-1)
    wanted = ff.EnsembleGame(labels, None, truth, vote="hard").worths(everyone)
    objects = labels.astype(object)
    assert_same(ff.EnsembleGame(objects, None, stored, vote="hard").worths(everyone), wanted)
    X = rng.normal(size=(30, 2))
    fitted = linear_model.LogisticRegression().fit(X, truth)
    # Its classes are objects, as those of a model that was fitted on a column of objects.
    odd = linear_model.LogisticRegression().fit(X, truth)
    odd.classes_ = odd.classes_.astype(object)
    for vote in ("soft", "hard"):
        both = [
            ff.EnsembleGame([model], X, y, vote=vote)
            for model, y in ((fitted, truth), (odd, stored))
        ]
        assert_same(both[1].worths(everyone[:2, :1]), both[0].worths(everyone[:2, :1]))


def test_a_text_is_no_number_among_classes() -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    X, y = rng.normal(size=(30, 2)), rng.integers(0, 2, 30)
    with pytest.raises(ValueError, match="has the classes"):
        ff.EnsembleGame([linear_model.LogisticRegression().fit(X, y.astype(str))], X, y)
