"""Which output is explained: one meaning of ``output=``, and one sentence, in every game."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression, LogisticRegression, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, NuSVC

import fairfield as ff
from fairfield.explanations import game_of
from fairfield.games.outputs import choose_output, classes_of

X = np.random.default_rng(5).standard_normal((60, 4))
THIRD = np.argmax(X[:, :3], axis=1)
LETTERS, NUMBERS = np.array(list("abc"))[THIRD], THIRD + 1
ALL = np.ones((1, 4), dtype=bool)


def games(y):
    """Games of all kinds for classifiers of some labels, and their models' own answers."""
    forest = RandomForestClassifier(3, random_state=0).fit(X, y)
    histogram = HistGradientBoostingClassifier(max_iter=3).fit(X, y)
    boosted = GradientBoostingClassifier(n_estimators=3).fit(X, y)
    line = LogisticRegression().fit(X, y)
    return [
        (ff.TreeGame, forest, forest.predict_proba),
        (ff.TreeGame, histogram, histogram.decision_function),
        (ff.TreeGame, boosted, boosted.decision_function),
        (ff.LinearGame, line, line.decision_function),
        (ff.FeatureGame, line, line.predict_proba),
        (ff.FeatureGame, forest.predict_proba, forest.predict_proba),
        (ff.FeatureGame, OneVsRestClassifier(SVC()).fit(X, y), None),
        (ff.explain, forest, None),
    ]


def grand(game):
    return game.worths(ALL)[:, 0]


def refusal(play, model, output):
    with pytest.raises(ValueError, match="output=") as caught:
        play(model, X[:3], X[:9], output=output)
    return str(caught.value).partition(";")


def test_integers_are_labels_of_classes_and_never_positions():
    for play, model, own in games(NUMBERS):
        for label in (1, 2, 3) if own is not None else ():
            game = play(model, X[:3], X[:9], output=label)
            assert_allclose(grand(game), own(X[:3])[:, label - 1], atol=1e-12)
            assert game.info.worth_name.endswith(f"of class {label}")
        for output in (0, 4, -1, "1"):
            seen, _, needed = refusal(play, model, output)
            assert seen.startswith(f"output={output!r} is no class of ")
            assert needed == " its classes are {1, 2, 3}"
    lightgbm = pytest.importorskip("lightgbm")
    model = lightgbm.LGBMClassifier(n_estimators=3, verbose=-1, min_child_samples=2).fit(X, NUMBERS)
    first = ff.TreeGame(model, X[:3], output=1)
    assert_allclose(grand(first), model.predict(X[:3], raw_score=True)[:, 0])
    with pytest.raises(ValueError, match=r"output=0 is no class .* {1, 2, 3}"):
        ff.TreeGame(model, X[:3], output=0)


def test_texts_may_be_named_by_position():
    for play, model, own in games(LETTERS):
        if own is not None:
            for at, label in enumerate("abc"):
                for output in (label, at, np.int64(at), np.str_(label)):
                    game = play(model, X[:3], X[:9], output=output)
                    assert_allclose(grand(game), own(X[:3])[:, at], atol=1e-12)
                    assert game.info.worth_name.endswith(f"of class {label}")
        for output in ("z", 3, -1, True, "margins"):
            seen, _, needed = refusal(play, model, output)
            assert seen.startswith(f"output={output!r} is no class of ")
            assert needed == " its classes are {a, b, c}"


def test_one_of_several_must_be_named():
    for play, model, _ in games(LETTERS):
        seen, _, needed = refusal(play, model, None)
        assert seen.endswith(" has 3 classes, {a, b, c}")
        assert needed == " pass output= to name one"
    two = np.c_[X[:, 0], X[:, 1]]
    forest, line = RandomForestRegressor(2).fit(X, two), LinearRegression().fit(X, two)
    for play, model in ((ff.TreeGame, forest), (ff.LinearGame, line)):
        game = play(model, X[:3], X[:9], output=1)
        assert_allclose(grand(game), model.predict(X[:3])[:, 1])
        assert game.info.worth_name == "prediction, column 1"
        for output, needed in ((None, "pass output= to pick one"), (2, "output=2 was given")):
            with pytest.raises(ValueError, match=f"has output columns, 0 to 1; {needed}"):
                play(model, X[:3], X[:9], output=output)
    assert ff.FeatureGame(line, X[0], X[:9], output=1).info.worth_name == "prediction, column 1"


def test_a_quantity_that_is_not_explained_is_refused_in_one_sentence():
    y = LETTERS == "a"
    forest = RandomForestClassifier(3, random_state=0).fit(X, y)
    boosted = GradientBoostingClassifier(n_estimators=3).fit(X, y)
    line, level = LogisticRegression().fit(X, y), LinearRegression().fit(X, X[:, 0])
    for play, model, output, quantity in (
        (ff.TreeGame, forest, "margin", "probability"),
        (ff.TreeGame, boosted, "probability", "log-odds"),
        (ff.TreeGame, RandomForestRegressor(2).fit(X, X[:, 0]), "probability", "prediction"),
        (ff.LinearGame, line, "probability", "log-odds"),
        (ff.LinearGame, level, "probability", "prediction"),
        (ff.FeatureGame, level, "probability", "prediction"),
    ):
        seen, _, needed = refusal(play, model, output)
        assert seen.startswith(f"output={output!r} was asked for, and what is explained of ")
        assert seen.endswith(f" is its {quantity}")
        assert needed == " leave out output= for that, or give FeatureGame a function of rows"
    for play, model, output, own in (
        (ff.TreeGame, forest, "probability", forest.predict_proba(X[:3])[:, 1]),
        (ff.TreeGame, boosted, "margin", boosted.decision_function(X[:3])),
        (ff.LinearGame, line, "margin", line.decision_function(X[:3])),
        (ff.LinearGame, level, "margin", level.predict(X[:3])),
        (ff.FeatureGame, forest, "probability", forest.predict_proba(X[:3])[:, 1]),
        (ff.FeatureGame, line, "margin", line.decision_function(X[:3])),
        (ff.FeatureGame, lambda X: X[:, 0], "probability", X[:3, 0]),
    ):
        assert_allclose(grand(play(model, X[:3], X[:9], output=output)), own, atol=1e-9)


def test_a_class_may_be_called_margin():
    words = np.where(X[:, 0] > 0, "margin", "probability")
    line = LogisticRegression().fit(X, words)
    for play, own in ((ff.LinearGame, -line.decision_function(X[:3])), (ff.FeatureGame, None)):
        game = play(line, X[:3], X[:9], output="margin")
        own = line.predict_proba(X[:3])[:, 0] if own is None else own
        assert_allclose(grand(game), own, atol=1e-12)
        assert game.info.worth_name.endswith("of class margin")


@pytest.mark.parametrize("pairs", [SVC(kernel="linear"), NuSVC(nu=0.1, kernel="linear")])
def test_the_margin_of_a_pair_is_not_sold_as_that_of_a_class(pairs):
    """One-vs-one margins of three classes are three, too: those of a-b, a-c and b-c."""
    pairs.set_params(decision_function_shape="ovo").fit(X, LETTERS)
    assert pairs.decision_function(X).shape == (60, 3)
    sentence = (
        rf"{type(pairs).__name__}\(decision_function_shape='ovo'\) has a margin for each pair of classes "
        "and none for a class; set decision_function_shape='ovr', which needs no new fit"
    )
    for play in (ff.LinearGame, ff.FeatureGame, game_of):
        with pytest.raises(TypeError, match=sentence):
            play(pairs, X[:3], X[:9], output="c")
    for wrapped in (
        make_pipeline(StandardScaler(), pairs).fit(X, LETTERS),
        GridSearchCV(pairs, {"shrinking": [True]}, cv=2).fit(X, LETTERS),
    ):
        with pytest.raises(TypeError, match=sentence):
            ff.FeatureGame(wrapped, X[:3], X[:9], output="c")
    # As the sentence says; the margins of classes, votes of pairs, are no lines.
    pairs.decision_function_shape = "ovr"
    game = ff.FeatureGame(pairs, X[:3], X[:9], output="c")
    assert_allclose(grand(game), pairs.decision_function(X[:3])[:, 2])
    assert game.info.worth_name == "margin of class c"
    with pytest.raises(TypeError, match="not linear in its columns"):
        ff.LinearGame(pairs, X[:3], X[:9], output="c")
    with pytest.warns(UserWarning, match="not linear in its columns"):
        assert isinstance(game_of(pairs, X[:3], X[:9], output="c"), ff.FeatureGame)


def test_pairs_of_more_classes_are_refused_by_their_number():
    four = X[:, 0].argsort().argsort() * 4 // 60
    model = SVC(kernel="linear", decision_function_shape="ovr").fit(X, four)
    with pytest.raises(TypeError, match="6 lines for 4 classes"):
        ff.LinearGame(model, X[:3], X[:9], output=3)

    class Pairs:
        classes_ = model.classes_

        def decision_function(self, rows):
            return np.zeros((len(rows), 6))

    with pytest.raises(ValueError, match="returned 6 columns for 4 classes"):
        ff.FeatureGame(Pairs(), X[:3], X[:9], output=3).table()


def test_the_only_pair_of_two_classes_is_explained():
    y = X[:, 0] > 0
    model = SVC(kernel="linear", decision_function_shape="ovo").fit(X, y)
    for play in (ff.LinearGame, ff.FeatureGame):
        for output, sign in ((True, 1), (False, -1), (None, 1)):
            game = play(model, X[:3], X[:9], output=output)
            assert_allclose(grand(game), sign * model.decision_function(X[:3]), atol=1e-9)
            assert game.info.worth_name == f"margin of class {sign > 0}"


def test_log_odds_are_called_so():
    y = np.where(X[:, 0] > 0, "up", "down")
    for model, unit in (
        (LogisticRegression(), "log-odds"),
        (make_pipeline(StandardScaler(), LogisticRegression()), "log-odds"),
        (SGDClassifier(loss="log_loss", alpha=1.0), "log-odds"),
        (SGDClassifier(), "margin"),
        (GradientBoostingClassifier(n_estimators=2), "log-odds"),
        (GradientBoostingClassifier(n_estimators=2, loss="exponential"), "margin"),
    ):
        game = ff.FeatureGame(model.fit(X, y), X[:3], X[:9], output="margin")
        assert game.info.worth_name == f"{unit} of class up"
        if unit == "log-odds":
            chances = model.predict_proba(X[:3])
            assert_allclose(grand(game), np.log(chances[:, 1] / chances[:, 0]), atol=1e-9)


def test_a_margin_without_classes():
    model = IsolationForest(n_estimators=5, random_state=0).fit(X)
    game = ff.FeatureGame(model, X[:3], X[:9], output="margin")
    assert_allclose(grand(game), model.decision_function(X[:3]))
    assert game.info.worth_name == "margin"


def test_two_columns_for_two_classes_are_named_by_their_class():
    """LightGBM's multiclass objective has a margin for each of two classes, too."""
    lightgbm = pytest.importorskip("lightgbm")
    few = {"n_estimators": 3, "verbose": -1, "min_child_samples": 2, "n_jobs": 1}
    model = lightgbm.LGBMClassifier(objective="multiclass", num_class=2, **few)
    model.fit(X, np.where(X[:, 0] > 0, "up", "down"))
    for at, label in enumerate(("down", "up")):
        game = ff.TreeGame(model, X[:3], output=label)
        assert game.info.worth_name == f"margin of class {label}"
        assert_allclose(grand(game), model.predict(X[:3], raw_score=True)[:, at])


def test_several_labels_at_once_are_refused():
    both = RandomForestClassifier(2).fit(X, np.c_[X[:, 0] > 0, THIRD])
    for play in (ff.TreeGame, ff.FeatureGame):
        with pytest.raises(TypeError, match="predicts 2 labels at once"):
            play(both, X[:3], X[:9])
    assert classes_of(RandomForestClassifier(2).fit(X, LETTERS)) == ["a", "b", "c"]
    assert classes_of(len) is None


def test_units():
    assert choose_output("m", None, "probability", ["a", "b"]).unit == "probability"
    assert choose_output("m", None, "log-odds", ["a", "b"], 1)[:2] == (0, 1.0)
    assert choose_output("m", None, "prediction", columns=1)[2:] == ("prediction", "")
    assert choose_output("m", 0, "probability", [0]).column == 0
