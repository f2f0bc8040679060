"""Reading the trees of CatBoost."""

import numpy as np
import pandas as pd
import pytest

import fairfield as ff
from conftest import needs
from fairfield.core.coalitions import enumerate_coalitions
from fairfield.games.trees.game import TreeGame
from games.trees import models
from games.trees.models import BACKGROUND, CATBOOST, COLUMNS, LETTERS, ROWS, SIGNS, X, Y, fitted

FEW = {"iterations": 8, "verbose": 0, "thread_count": 1, "allow_writing_files": False}


@pytest.mark.parametrize("gaps", [False, True], ids=["complete", "with gaps"])
@pytest.mark.parametrize("name", CATBOOST)
def test_every_model(name, gaps, rng):
    models.check_model(name, gaps, rng)


def frame_of_categories(rows=300):
    rng = np.random.default_rng(4)
    city = rng.choice(["rome", "oslo", "bonn", "kyiv"], rows)
    size = rng.integers(-1, 3, rows)
    frame = pd.DataFrame({"a": X[:rows, 0], "city": city, "b": X[:rows, 2], "size": size})
    y = (
        X[:rows, 0] * (city == "rome")
        + 2 * (city == "oslo") * (size == 1)
        + X[:rows, 2] * (size < 0)
    )
    return frame, y


@pytest.mark.parametrize("policy", ["SymmetricTree", "Depthwise", "Lossguide"])
@pytest.mark.parametrize("form", ["texts", "categories", "objects"])
def test_one_category_against_the_others(policy, form, rng):
    catboost = needs("catboost", "catboost")
    frame, y = frame_of_categories()
    model = catboost.CatBoostRegressor(grow_policy=policy, one_hot_max_size=9, **FEW)
    model.fit(frame, y, cat_features=["city", "size"])
    frame.loc[1, "city"] = "elsewhere"  # unknown to the model
    if form == "categories":
        frame["city"] = frame["city"].astype("category")
    table = frame.to_numpy(object) if form == "objects" else frame
    rows, background = table[:5], table[50:80]
    game = TreeGame(model, rows, background)
    coalitions = enumerate_coalitions(4)
    mixed = [
        np.where(inside, row, other)
        for row in frame.to_numpy(object)[:5]
        for inside in coalitions
        for other in frame.to_numpy(object)[50:80]
    ]
    means = model.predict(np.array(mixed, dtype=object)).reshape(5, 16, 30).mean(axis=2)
    np.testing.assert_allclose(game.worths(coalitions), means, rtol=0, atol=1e-10)
    models.assert_is_its_table(game, rng)
    models.assert_is_its_table(TreeGame(model, rows), rng)


def test_what_was_explained_is_said():
    for name, output, meaning in (
        ("catboost", None, "prediction"),
        ("catboost of counts", None, "raw margin"),
        ("catboost of two classes", None, "log-odds of class yes"),
        ("catboost of three classes", "b", "margin of class b"),
        ("catboost of two answers", 0, "prediction, column 0"),
        ("catboost of two labels", 1, "raw margin, column 1"),
    ):
        model, _, _, _ = fitted(name)
        assert TreeGame(model, X[ROWS], output=output).info.worth_name == meaning


def test_all_classes_at_once():
    model, _, _, _ = fitted("catboost of three classes")
    together = TreeGame(model, X[ROWS], X[BACKGROUND], output="all").extension().shapley()
    assert together.shape == (4, 3, COLUMNS)
    for at, letter in enumerate("abc"):
        alone = TreeGame(model, X[ROWS], X[BACKGROUND], output=letter).extension().shapley()
        np.testing.assert_allclose(together[:, at], alone, rtol=0, atol=1e-12)


def test_absent_entries_are_zeros():
    from scipy.sparse import csr_matrix

    model, _, _, _ = fitted("catboost")
    dense = np.where(np.abs(X) > 0.7, X, 0.0)
    model.fit(csr_matrix(dense), Y)
    game = TreeGame(model, csr_matrix(dense[ROWS]), csr_matrix(dense[BACKGROUND]))
    grand = game.worths(np.ones((1, COLUMNS), bool))[:, 0]
    np.testing.assert_allclose(grand, model.predict(csr_matrix(dense[ROWS])), atol=1e-12)
    np.testing.assert_array_equal(game.info.data, dense[ROWS])


def test_sums_scales_and_rankers():
    catboost = needs("catboost", "catboost")
    scaled = catboost.CatBoostRegressor(**FEW).fit(X, Y)
    second = catboost.CatBoostRegressor(random_seed=3, **FEW).fit(X, Y)
    both = catboost.sum_models([scaled, second], weights=[0.3, 0.7])
    scaled.set_scale_and_bias(2.5, [1.25])
    groups = np.repeat(np.arange(30), 10)
    ranker = catboost.CatBoostRanker(**FEW).fit(X, SIGNS, group_id=groups)
    for model, meaning in (
        (scaled, "prediction"), (both, "raw margin"), (ranker, "raw margin"),
    ):  # fmt: skip
        game = TreeGame(model, X[ROWS], X[BACKGROUND])
        assert game.info.worth_name == meaning
        grand = game.worths(np.ones((1, COLUMNS), bool))[:, 0]
        np.testing.assert_allclose(grand, model.predict(X[ROWS]), atol=1e-12)


def test_names_are_those_of_the_model():
    catboost = needs("catboost", "catboost")
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = catboost.CatBoostClassifier(**FEW).fit(frame, LETTERS)
    assert TreeGame(model, frame[:3], output="a").players == tuple("abcdef")
    with pytest.raises(
        ValueError, match=r"of rows are not those of the CatBoostClassifier: {b for a"
    ):
        TreeGame(model, frame[list("bacdef")], output="a")


def test_what_its_json_does_not_tell_is_refused_by_name():
    catboost = needs("catboost", "catboost")
    frame, y = frame_of_categories()
    counted = catboost.CatBoostRegressor(one_hot_max_size=2, **FEW)
    counted.fit(frame, y, cat_features=["city", "size"])
    with pytest.raises(
        TypeError, match=r"OnlineCtr splits .* of {city, size} by statistics.*one_hot"
    ):
        TreeGame(counted, frame)
    with pytest.warns(UserWarning, match="TreeGame refused: CatBoost's OnlineCtr splits"):
        found = ff.explain(counted, frame[:3], frame[50:60], "shapley")
    np.testing.assert_allclose(found.grand, counted.predict(frame[:3]), atol=1e-12)
    frame["words"] = np.where(Y[: len(frame)] > 0, "warm and red", "cold and blue")
    worded = catboost.CatBoostRegressor(**FEW).fit(
        frame[["a", "words"]], y, text_features=["words"]
    )
    with pytest.raises(TypeError, match=r"does not write splits of text, {words}; FeatureGame"):
        TreeGame(worded, frame[["a", "words"]])
    other = catboost.CatBoostRegressor(one_hot_max_size=9, **FEW)
    other.fit(frame[["a", "size"]], y, cat_features=["size"])
    assert TreeGame(other, frame[["a", "size"]].assign(size=True)).batch == (len(frame),)
