"""All outputs of a model at once are the outputs one by one."""

import numpy as np
import pytest

import fairfield as ff
from fairfield.games.trees.game import TreeGame
from games.trees.models import BACKGROUND, COLUMNS, X, corners, fitted

MODELS = {
    "forest of classes": ["a", "b", "c"],
    "forest of two answers": [0, 1],
    "boosting of two classes": ["no", "yes"],
    "boosting of three classes": ["a", "b", "c"],
}


@pytest.mark.parametrize("background", [X[BACKGROUND], None], ids=["interventional", "dependent"])
@pytest.mark.parametrize("name", MODELS)
def test_all_outputs_are_each_output(name, background, rng):
    model, outputs = fitted(name)[0], MODELS[name]
    game = TreeGame(model, X[:30], background, output="all")
    assert game.batch == (30, len(outputs))
    whole = game.extension()
    each = [TreeGame(model, X[:30], background, output=one).extension() for one in outputs]
    x = corners(rng, (2, 30, len(outputs), COLUMNS))
    for reading in ("value", "gradient", "hessian"):
        ours = getattr(whole, reading)(x)
        for at, one in enumerate(each):
            alone = getattr(one, reading)(x[:, :, at])
            np.testing.assert_allclose(ours[:, :, at], alone, atol=1e-11)
    for at, one in enumerate(each):
        np.testing.assert_allclose(whole.shapley()[:, at], one.shapley(), atol=1e-11)
        half = np.full(COLUMNS, 0.5)
        np.testing.assert_allclose(whole.gradient(half)[:, at], one.gradient(half), atol=1e-11)
        points = np.array([0.3, 0.9]), np.array([0.5, 0.5])
        np.testing.assert_allclose(
            whole.hessian_along_diagonal(*points)[:, at],
            one.hessian_along_diagonal(*points),
            atol=1e-11,
        )
        for ours, alone in zip(whole.ends(), one.ends(), strict=True):
            np.testing.assert_allclose(ours[:, at], alone, atol=1e-11)
    chosen = np.array([4, 0, 7])
    some = whole.rows(chosen)
    points = x[0].reshape(-1, COLUMNS)[chosen]
    ours = whole.gradient(x[0]).reshape(-1, COLUMNS)[chosen]
    np.testing.assert_allclose(some.gradient(points), ours, atol=1e-11)


def test_one_row_and_the_index():
    model = fitted("forest of classes")[0]
    game = TreeGame(model, X[0], X[BACKGROUND], output="all")
    assert game.batch == (3,)
    found = ff.variational_index(game)
    for at, label in enumerate("abc"):
        alone = ff.variational_index(TreeGame(model, X[0], X[BACKGROUND], output=label))
        np.testing.assert_allclose(found.values[at], alone.values, atol=1e-8)
    # The shares of the classes add up to 1, so their values cancel.
    np.testing.assert_allclose(ff.shapley(game).values.sum(axis=0), 0.0, atol=1e-12)


def test_outputs_have_names():
    game = TreeGame(fitted("forest of classes")[0], X[:4], output="all")
    assert repr(game) == f"TreeGame: 4 rows of {COLUMNS} features, for the probability of 3 classes"
    v = ff.shapley(game)
    assert v.outputs == ("a", "b", "c")
    assert v.output("b").words.worth_name == "probability of class b"
    both = ff.shapley(TreeGame(fitted("forest of two answers")[0], X[:4], output="all"))
    assert both.outputs == (0, 1)
    assert both.output(1).words.worth_name == "prediction of column 1"
    assert np.array_equal(both.data[:, 1], X[:4])


@pytest.mark.parametrize("background", [X[BACKGROUND], None], ids=["interventional", "dependent"])
def test_one_output_has_an_axis_too(background):
    from sklearn.ensemble import RandomForestRegressor

    rows = np.nan_to_num(X)
    model = RandomForestRegressor(3, max_depth=3, random_state=0).fit(rows, rows[:, 0])
    given = None if background is None else np.nan_to_num(background)
    for some in (rows[:3], rows[0]):
        for criterion in (ff.shapley, ff.banzhaf, ff.variational_index, ff.leave_one_out):
            one = criterion(TreeGame(model, some, given))
            every = criterion(TreeGame(model, some, given, output="all"))
            assert every.batch == (*one.batch, 1)
            np.testing.assert_allclose(every.output(0).values, one.values, atol=1e-10)
            assert every.output(0).words.worth_name == "prediction of column 0"


def test_threads_and_repeated_rows(rng):
    game = TreeGame(fitted("forest of classes")[0], X[:5], X[BACKGROUND], output="all")
    whole = game.extension()
    whole.jobs = 3
    chosen = np.array([4, 4, 0])
    some = whole.rows(chosen)
    assert {some.jobs, *(part.jobs for _, part in some.parts)} <= {1, 3}
    x = np.tile(rng.random(COLUMNS), (3, 1))
    wanted = whole.gradient(np.tile(x[0], (5, 3, 1))).reshape(-1, COLUMNS)[chosen]
    np.testing.assert_allclose(some.gradient(x), wanted, atol=1e-12)
    assert all(part.jobs == 3 for _, part in some.parts)


def test_uniform_points_are_read_from_tables(monkeypatch):
    model = fitted("forest of classes")[0]
    game = TreeGame(model, np.repeat(X, 20, axis=0), X[BACKGROUND], output="all")
    wanted = ff.banzhaf(TreeGame(model, X[:1], X[BACKGROUND], output="b")).values
    found = ff.banzhaf(game)
    np.testing.assert_allclose(found.values[0, 1], wanted[0], atol=1e-12)


def test_classes_named_by_numbers_are_not_places():
    from sklearn.ensemble import RandomForestClassifier

    model = RandomForestClassifier(3, random_state=0).fit(X, np.digitize(X[:, 2], [-0.5, 0.5]) + 1)
    every = ff.shapley(TreeGame(model, X[:3], X[BACKGROUND], output="all"))
    alone = ff.shapley(TreeGame(model, X[:3], X[BACKGROUND], output=3))
    np.testing.assert_allclose(every.output(3).values, alone.values, atol=1e-12)
    np.testing.assert_allclose(every[0].output(3).values, alone.values[0], atol=1e-12)
    with pytest.raises(IndexError, match=r"a place or one of the classes \{1, 2, 3\}"):
        every[:, 1]
    assert [one.words.worth_name for one in every[0]] == [
        f"probability of class {label}" for label in (1, 2, 3)
    ]
