"""One call explains any model, by the fastest game that fits, and shap draws the answer."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import brute
import fairfield as ff
from fairfield.explanations import game_of
from fairfield.results.valuation import NORMAL


def wavy(X):
    return np.sin(X).prod(axis=1) + X[:, 0] * X[:, 1]


@pytest.fixture(name="X")
def table(rng):
    return rng.standard_normal((20, 4))


def test_functions_are_feature_games(X):
    found = ff.explain(wavy, X[:3], X, "shapley")
    assert found.game == "FeatureGame: 3 rows of 4 features, for the output of wavy"
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
        "LinearGame refused, too: LinearRegression has output columns, 0 to 1"
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


def test_a_refused_tree_model_is_reported_and_not_sent_back(X):
    from sklearn.ensemble import GradientBoostingRegressor
    from sklearn.linear_model import LinearRegression

    wide = np.tile(X, 8)
    model = GradientBoostingRegressor(init=LinearRegression(), n_estimators=2).fit(wide, wavy(X))
    with pytest.warns(UserWarning, match=r"TreeGame refused.*starts from another model"):
        game = game_of(model, wide[:2], wide)
    with pytest.raises(MemoryError, match=r"fix what TreeGame refused .*starts from another"):
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
        widths = 2 * NORMAL * np.array([0.1, 0.2, 0.3, 0.4, 0.0])
        assert_allclose(view.upper_bounds - view.lower_bounds, widths, atol=1e-12)

    def test_what_shap_cannot_draw_is_reported(self, rng):
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
            found.to_frame().index.get_level_values("row").tolist() == ["row 3"] * 4 + ["row 4"] * 4
        )
        assert_array_equal(found["row 4"].values, found.values[1])
        assert ff.explain(model, frame.iloc[3], frame, "shapley").labels is None
    dates = frame.set_axis(pd.date_range("2020-01-01", periods=20))
    days = ff.explain(model, dates[:2], dates, "shapley").to_frame()
    assert days.loc[pd.Timestamp("2020-01-02"), "value"].shape == (4,)
