"""Linear models in closed form."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import brute
import fairfield as ff
from fairfield.explanations import game_of
from fairfield.games.features.linear import LinearGame


def wavy(X):
    return np.sin(X).prod(axis=1) + X[:, 0] * X[:, 1]


@pytest.fixture(name="X")
def table(rng):
    return rng.standard_normal((20, 4))


@pytest.mark.parametrize("many", [True, False])
def test_linear_models_have_a_closed_form(X, many):
    from sklearn.linear_model import LinearRegression, LogisticRegression

    rows = X[:3] if many else X[0]
    y = X @ [1.0, -2.0, 0.5, 0.0] + 1
    for model, margin in (
        (LinearRegression().fit(X, y), lambda m: m.predict),
        (LogisticRegression().fit(X, y > 0), lambda m: m.decision_function),
    ):
        game = game_of(model, rows, X)
        assert isinstance(game, LinearGame)
        wanted = ff.FeatureGame(margin(model), rows, X)
        S = brute.coalitions(4)
        assert_allclose(game.worths(S), wanted.worths(S), atol=1e-12)
        assert_array_equal(game.info.data, rows)
        for criterion in ("shapley", "banzhaf", "variational_index", "leave_one_out"):
            found = ff.explain(model, rows, X, criterion)
            assert found.method == "closed form: linear"
            assert_allclose(found.values, ff.shapley(wanted).values, atol=1e-12)
            assert_allclose(found.grand, margin(model)(np.atleast_2d(rows)).reshape(game.batch))
    probability = ff.explain(model, rows, X, output="probability")
    assert "FeatureGame" in probability.game
    assert_allclose(ff.explain(model, rows, X, output=False).values, -found.values, atol=1e-9)


def test_linear_models_of_several_outputs_and_groups(X):
    from sklearn.linear_model import LinearRegression, LogisticRegression

    letters = np.array(list("abc"))[np.argmax(X[:, :3], axis=1)]
    model = LogisticRegression().fit(X, letters)
    game = LinearGame(model, X[:2], X, output="c", groups={"pair": [0, 3]})
    assert game.players == ("pair", 1, 2)
    assert game.info.data is None
    assert_allclose(
        game.worths(np.ones((1, 3), dtype=bool))[:, 0], model.decision_function(X[:2])[:, 2]
    )
    with pytest.raises(ValueError, match=r"3 classes, \{a, b, c\}; pass output="):
        LinearGame(model, X[:2], X)
    two = LinearRegression().fit(X, X[:, :2])
    assert_allclose(LinearGame(two, X[0], X, output=1).gains[1], X[0, 1] - X[:, 1].mean())


def test_linear_models_of_frames(X):
    pd = pytest.importorskip("pandas")
    from sklearn.linear_model import LinearRegression

    frame = pd.DataFrame({"a": X[:, 0], "b": np.arange(20) % 3, "c": X[:, 1] > 0})
    model = LinearRegression().fit(frame, X[:, 2] + frame["b"])
    game = game_of(model, frame[:3], frame[["c", "a", "b"]])
    assert isinstance(game, LinearGame)
    assert_allclose(game.extension().ends()[1], model.predict(frame[:3]))
    wanted = ff.FeatureGame(model, frame[:3], frame)
    assert_allclose(game.worths(brute.coalitions(3)), wanted.table(), atol=1e-12)
    with pytest.raises(ValueError, match="the model needs 3"):
        LinearGame(model, frame[["a", "b"]], frame[["a", "b"]])


def test_a_link_is_not_linear(X):
    from sklearn.linear_model import PoissonRegressor

    model = PoissonRegressor().fit(X, np.exp(X[:, 0]))
    with pytest.raises(
        TypeError, match="not linear in its columns; FeatureGame explains any model"
    ):
        LinearGame(model, X[:2], X)
    with pytest.warns(UserWarning, match=r"PoissonRegressor.predict.*not linear in its columns$"):
        assert isinstance(game_of(model, X[:2], X), ff.FeatureGame)
    with pytest.raises(TypeError, match="no coef_"):
        LinearGame(wavy, X[:2], X)


def test_the_linear_extension_equals_its_table(X, rng):
    from sklearn.linear_model import Ridge

    from fairfield.multilinear.table import TableExtension

    game = LinearGame(Ridge().fit(X, X[:, 0] + X[:, 1]), X[:3], X)
    closed = game.extension()
    table = TableExtension.of(ff.TableGame(game.worths(brute.coalitions(4))))
    for x in (rng.random(4), rng.random((3, 4)), rng.random((5, 3, 4))):
        assert_allclose(closed.value(x), table.value(x), atol=1e-12)
        assert_allclose(closed.gradient(x), table.gradient(x), atol=1e-12)
        assert_allclose(closed.hessian(x), table.hessian(x), atol=1e-12)
    assert_allclose(closed.rows(np.array([2])).value(np.ones(4)), closed.value(np.ones(4))[2:])


def test_a_linear_model_that_works_in_place_leaves_the_rows_alone():
    class Line:
        coef_, intercept_ = np.array([1.0, 2.0]), 0.5

        def predict(self, X):
            found = X @ self.coef_ + self.intercept_
            X[:] = 0
            return found

    X = np.array([[1.0, 2.0], [3.0, 4.0]])
    ff.LinearGame(Line(), X, X[:1])
    assert_array_equal(X, [[1, 2], [3, 4]])


@pytest.mark.parametrize("many", [True, False])
def test_all_outputs_are_each_output(X, many):
    from sklearn.linear_model import LinearRegression, LogisticRegression

    rows = X[:3] if many else X[0]
    letters = np.array(list("abc"))[np.argmax(X[:, :3], axis=1)]
    for model, names in (
        (LogisticRegression().fit(X, letters), ("a", "b", "c")),
        (LogisticRegression().fit(X, X[:, 0] > 0), (False, True)),
        (LinearRegression().fit(X, X[:, :2] ** 2), (0, 1)),
        (LinearRegression().fit(X, X[:, 0] ** 2), (0,)),
    ):
        game = game_of(model, rows, X, output="all")
        assert isinstance(game, LinearGame)
        assert (game.batch, game.info.outputs) == ((*np.shape(rows)[:-1], len(names)), names)
        S = brute.coalitions(4)
        for criterion in ("shapley", "variational_index"):
            found = ff.explain(model, rows, X, criterion, output="all")
            for at, name in enumerate(names):
                one = game_of(model, rows, X, output=name)
                assert_allclose(game.worths(S)[..., at, :], one.worths(S), atol=1e-12)
                alone = ff.explain(model, rows, X, criterion, output=name)
                assert_allclose(found.output(name).values, alone.values, atol=1e-12)
                assert_allclose(found.output(name).grand, alone.grand, atol=1e-12)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_gives_no_number_is_refused(X, bad):
    """One missing value in the background would make all values NaN, and "exact"."""
    from sklearn.linear_model import LinearRegression

    model, broken = LinearRegression().fit(X, X @ [1.0, -2.0, 0.5, 0.0]), X.copy()
    broken[3, 1] = bad
    for game in (LinearGame, ff.explain):
        with pytest.raises(
            ValueError, match=rf"row 3 of the background gives .* {bad} in column 1"
        ):
            game(model, X[:2], broken)
        with pytest.raises(ValueError, match=rf"row 3 of the rows gives .* {bad} in column 1"):
            game(model, broken, X)
