"""One call explains any model, by the fastest game that fits, and shap draws the answer."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import brute
import fairfield as ff
from fairfield.explain import game_of
from fairfield.games.features.linear import LinearGame


def wavy(X):
    return np.sin(X).prod(axis=1) + X[:, 0] * X[:, 1]


@pytest.fixture(name="X")
def table(rng):
    return rng.standard_normal((20, 4))


def test_functions_are_feature_games(X):
    found = ff.explain(wavy, X[:3], X, "shapley")
    assert found.game == "FeatureGame: 3 games of 4 players, for the output of wavy"
    assert_allclose(found.values, ff.shapley(ff.FeatureGame(wavy, X[:3], X)).values)
    default = ff.explain(wavy, X[:3], X, temperature=0.2)
    assert default.criterion == "variational_index"
    assert_allclose(default.temperature, 0.2)
    assert ff.explain(wavy, X[0], X, ff.banzhaf).values.shape == (4,)
    grouped = ff.explain(wavy, X[:3], X, groups=["a", "b", "b", "c"], starts=3)
    assert grouped.players == ("a", "b", "c")


def test_a_background_is_needed_but_for_trees(X):
    from sklearn.linear_model import LinearRegression

    with pytest.raises(ValueError, match="no background was given"):
        ff.explain(wavy, X)
    two = LinearRegression().fit(X, X[:, :2])
    with pytest.raises(ValueError, match="no background was given") as caught:
        ff.explain(two, X)
    assert (
        "LinearGame was no help either: LinearRegression has output columns, 0 to 1"
        in caught.value.__notes__[0]
    )


def test_the_probability_of_the_true_label(X):
    from sklearn.linear_model import LogisticRegression

    letters = np.where(X[:, 0] > 0, "up", "down")
    model = LogisticRegression().fit(X, letters)
    found = ff.explain(model, X[:6], X, "shapley", output="label", y=letters[:6])
    column = (letters[:6] == "up").astype(int)
    assert_allclose(found.grand, model.predict_proba(X[:6])[range(6), column])
    with pytest.raises(ValueError, match="go together"):
        ff.explain(model, X[:6], X, y=letters[:6])


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
    with pytest.raises(TypeError, match="not linear in its columns"):
        LinearGame(model, X[:2], X)
    with pytest.warns(UserWarning, match="PoissonRegressor.predict.*not linear in its columns"):
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


def test_trees_go_to_the_tree_game(X):
    pytest.importorskip("numba")
    from sklearn.ensemble import RandomForestRegressor

    model = RandomForestRegressor(5, max_depth=4, random_state=0).fit(X, wavy(X))
    found = ff.explain(model, X[:3], X, "shapley")
    assert found.game.startswith("TreeGame")
    assert_allclose(found.values, ff.shapley(ff.FeatureGame(model, X[:3], X)).values, atol=1e-10)
    assert ff.explain(model, X[:3]).game.startswith("TreeGame")  # path-dependent
    grouped = game_of(model, X[:3], X, groups=["a", "a", "b", "c"])
    assert grouped.players == ("a", "b", "c")
    drawn = game_of(model, X[:3], lambda row, kept, rng: X)
    assert isinstance(drawn, ff.FeatureGame)


def test_a_refused_tree_model_is_told_of_and_not_sent_back(X):
    from sklearn.ensemble import GradientBoostingRegressor
    from sklearn.linear_model import LinearRegression

    wide = np.tile(X, 8)
    model = GradientBoostingRegressor(init=LinearRegression(), n_estimators=2).fit(wide, wavy(X))
    with pytest.warns(UserWarning, match=r"TreeGame refused.*starts from another model"):
        game = game_of(model, wide[:2], wide)
    with pytest.raises(MemoryError, match=r"mend what TreeGame refused .*starts from another"):
        ff.shapley(game)


def test_the_probability_of_boosted_trees_is_no_sum_of_leaves(X):
    xgboost = pytest.importorskip("xgboost")
    model = xgboost.XGBClassifier(n_estimators=3).fit(X, X[:, 0] > 0)
    assert game_of(model, X[:2], X).extension() is not None
    found = ff.explain(model, X[:2], X, output="probability")
    assert "FeatureGame" in found.game
    assert_allclose(found.grand, model.predict_proba(X[:2])[:, 1], atol=1e-6)


class TestShap:
    """``to_shap`` gives what shap's own plots take."""

    shap = pytest.importorskip("shap")

    @pytest.fixture(autouse=True)
    def _no_window(self):
        import matplotlib

        matplotlib.use("Agg")
        yield
        import matplotlib.pyplot as plt

        plt.close("all")

    def test_efficient_values_need_no_remainder(self, X):
        found = ff.explain(wavy, X, X, "shapley").to_shap()
        assert type(found) is self.shap.Explanation
        assert found.values.shape == (20, 4)
        assert_allclose(found.base_values + found.values.sum(axis=1), wavy(X), atol=1e-12)
        assert_array_equal(found.data, X)

    def test_rounding_of_large_values_is_no_remainder(self):
        large = np.array([1e9 / 3, -1e9 / 7, 1e9 / 11])
        game = ff.TableGame(brute.coalitions(3) @ large - large.sum() * brute.coalitions(3).all(1))
        found = ff.shapley(game)
        assert found.values.sum() != found.grand - found.empty
        assert "(remainder)" not in found.to_shap().feature_names

    def test_others_carry_their_remainder(self, X):
        found = ff.explain(wavy, X, X, "banzhaf").to_shap()
        assert found.feature_names[-1] == "(remainder)"
        assert_allclose(found.base_values + found.values.sum(axis=1), wavy(X), atol=1e-12)
        one = ff.explain(wavy, X[0], X, "banzhaf").to_shap()
        assert one.values.shape == (5,)
        assert isinstance(one.base_values, float)

    @pytest.mark.filterwarnings("ignore")
    def test_shap_draws_them(self, X):
        pd = pytest.importorskip("pandas")
        frame = pd.DataFrame(X[:, :3], columns=list("abc")).assign(
            d=pd.Categorical(np.where(X[:, 3] > 0, "up", "down"))
        )

        def predict(table):
            return table["a"] * table["b"] * (table["d"] == "up") + table["c"]

        for found in (
            ff.explain(wavy, X, X, "banzhaf"),
            ff.explain(predict, frame, frame, "banzhaf"),
        ):
            view = found.to_shap()
            plots = self.shap.plots
            plots.waterfall(found[0].to_shap(), show=False)
            plots.waterfall(view[0], show=False)
            for draw in (plots.bar, plots.beeswarm, plots.heatmap):
                draw(view, show=False)
            plots.scatter(view[:, 0], show=False)

    def test_standard_errors_become_bounds(self, X):
        found = dataclasses.replace(
            ff.explain(wavy, X[0], X, "banzhaf"), stderr=np.array([0.1, 0.2, 0.3, 0.4])
        )
        view = found.to_shap()
        assert_allclose(
            view.upper_bounds - view.lower_bounds, [0.392, 0.784, 1.176, 1.568, 0.0], atol=1e-12
        )

    def test_what_shap_cannot_draw_is_told(self, rng):
        with pytest.raises(ValueError, match="a batch of one axis"):
            ff.shapley(rng.standard_normal((2, 2, 4))).to_shap()


def test_means_by_label(X):
    found = ff.explain(wavy, X, X, "shapley")
    means = found.mean(by=X[:, 0] > 0)
    assert means.labels == (False, True)
    assert_allclose(means.mean[1], found.values[X[:, 0] > 0].mean(axis=0))


def test_it_says_what_was_explained(X):
    """The unit and the class, for every kind of model and game."""
    from sklearn import ensemble, linear_model, svm
    from sklearn.neural_network import MLPClassifier

    y, letters = X[:, 0] > 0, np.array(list("abc"))[np.argmax(X[:, :3], axis=1)]
    line = linear_model.LogisticRegression().fit(X, y)
    boosted = ensemble.GradientBoostingClassifier(n_estimators=3).fit(X, y)
    three = ensemble.HistGradientBoostingClassifier(max_iter=2).fit(X, letters)
    counts = ensemble.HistGradientBoostingRegressor(loss="poisson", max_iter=2).fit(X, y)
    forest = ensemble.RandomForestClassifier(3).fit(X, letters)
    net = MLPClassifier((2,), max_iter=2).fit(X, y)
    for model, output, meaning in (
        (line, None, "log-odds of class True"),
        (line, "margin", "log-odds of class True"),
        (line, False, "log-odds of class False"),
        (line, "probability", "probability of class True"),
        (linear_model.LinearRegression().fit(X, y), None, "prediction"),
        (linear_model.RidgeClassifier().fit(X, y), None, "margin of class True"),
        (boosted, "margin", "log-odds of class True"),
        (boosted, False, "log-odds of class False"),
        (three, "b", "margin of class b"),
        (counts, None, "raw margin"),
        (forest, "b", "probability of class b"),
        (net, None, "probability of class True"),
        (svm.SVC().fit(X, y), "margin", "margin of class True"),
        (lambda X: X[:, :2], 1, "output of"),
    ):
        assert f", for the {meaning}" in game_of(model, X[:2], X, output=output).__repr__()
    assert ff.explain(line, X[:1], X, "shapley", output="margin").game.endswith("of class True")
    labels = ff.FeatureGame(line, X[:2], X, output="label", y=y[:2], link="logit")
    assert labels.info.worth_name == "logit of the probability of the true class"
    with pytest.raises(ValueError, match="MLPClassifier has no decision_function"):
        ff.explain(net, X[:2], X, output="margin")


@pytest.mark.parametrize("library", ["xgboost", "lightgbm"])
def test_it_says_what_was_explained_of_other_libraries(X, library):
    module = pytest.importorskip(library)
    start = {"xgboost": "XGB", "lightgbm": "LGBM"}[library]
    quiet = {"verbosity": 0} if library == "xgboost" else {"verbose": -1, "min_child_samples": 2}
    kinds = {kind: getattr(module, start + kind) for kind in ("Classifier", "Regressor")}
    letters = np.argmax(X[:, :3], axis=1)
    for model, y, output, meaning in (
        (kinds["Classifier"](n_estimators=2, **quiet), X[:, 0] > 0, 0, "log-odds of class 0"),
        (kinds["Classifier"](n_estimators=2, **quiet), letters, 2, "margin of class 2"),
        (kinds["Regressor"](n_estimators=2, **quiet), X[:, 0], None, "prediction"),
    ):
        assert (
            game_of(model.fit(X, y.astype(int)), X[:2], X, output=output).info.worth_name == meaning
        )


def test_rows_of_a_frame_keep_their_names(X):
    pd = pytest.importorskip("pandas")
    from sklearn import ensemble, linear_model

    frame = pd.DataFrame(X, columns=list("abcd"), index=[f"row {i}" for i in range(20)])
    for model in (
        linear_model.LinearRegression().fit(frame, X[:, 0]),
        ensemble.RandomForestRegressor(2, random_state=0).fit(frame, X[:, 0]),
        lambda rows: np.sin(rows.to_numpy()).sum(axis=1),
    ):
        found = ff.explain(model, frame[3:5], frame, "shapley")
        assert (
            found.to_frame().index.get_level_values("game").tolist()
            == ["row 3"] * 4 + ["row 4"] * 4
        )
        assert_array_equal(found["row 4"].values, found.values[1])
        assert ff.explain(model, frame.iloc[3], frame, "shapley").labels is None
    dates = frame.set_axis(pd.date_range("2020-01-01", periods=20))
    days = ff.explain(model, dates[:2], dates, "shapley").to_frame()
    assert days.loc[pd.Timestamp("2020-01-02"), "value"].shape == (4,)
