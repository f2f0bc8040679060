"""One call explains any model, by the fastest game that fits, and shap draws the answer."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import brute
import fairfield as ff
from fairfield import explanations
from fairfield.games.choose import game_of
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


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("how", ["array", "list", "frame"])
def test_a_background_without_rows_is_told(X, how):
    import pandas as pd
    from sklearn.linear_model import LinearRegression

    none = {"array": X[:0], "list": [], "frame": pd.DataFrame(X[:0])}[how]
    line = LinearRegression().fit(X, X @ np.arange(X.shape[1]))
    for called in (
        lambda: ff.explain(line, X[:2], none),
        lambda: ff.explain(wavy, X[:2], none),
        lambda: ff.Explainer(line, none),
        lambda: ff.LinearGame(line, X[:2], none),
    ):
        with pytest.raises(ValueError, match=r"^the background has no rows; give at least one$"):
            called()


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


def test_without_a_background_the_reason_of_a_refusal_is_shown(X):
    from sklearn.dummy import DummyRegressor
    from sklearn.ensemble import GradientBoostingRegressor

    model = GradientBoostingRegressor(init=DummyRegressor(), n_estimators=2).fit(X, wavy(X))
    with pytest.raises(TypeError, match="starts from another model") as caught:
        ff.explain(model, X)
    assert caught.value.__notes__ == [
        "with a background, FeatureGame explains the model by calling it"
    ]
    with pytest.raises(ValueError, match=r"rows of shape \(20, 3\) were given"):
        ff.explain(GradientBoostingRegressor(n_estimators=2).fit(X, wavy(X)), X[:, :3])


def test_absent_entries_are_what_the_model_takes_them_for(X):
    """XGBoost takes them for missing values, whichever game explains it."""
    xgboost = pytest.importorskip("xgboost")
    from scipy.sparse import csr_array

    sparse = csr_array(np.where(X > 0, X, 0.0))
    model = xgboost.XGBClassifier(n_estimators=5, min_child_weight=0).fit(sparse, X[:, 1] > X[:, 0])
    margins = model.predict(sparse, output_margin=True)
    assert np.abs(margins - model.predict(sparse.toarray(), output_margin=True)).max() > 0.1
    for background in (sparse, None):
        found = ff.explain(model, sparse, background, "shapley")
        assert_allclose(found.grand, margins, atol=1e-6)
        assert_allclose(found.values.sum(axis=1), found.grand - found.empty, atol=1e-10)
    found = ff.explain(model, sparse, sparse, "shapley", output="probability")
    assert_allclose(found.grand, model.predict_proba(sparse)[:, 1], atol=1e-6)
    assert np.isnan(found.data[sparse.toarray() == 0]).all()


def test_the_probability_of_boosted_trees_is_no_sum_of_leaves(X):
    xgboost = pytest.importorskip("xgboost")
    model = xgboost.XGBClassifier(n_estimators=3).fit(X, X[:, 0] > 0)
    assert game_of(model, X[:2], X).extension() is not None
    found = ff.explain(model, X[:2], X, output="probability")
    assert "FeatureGame" in found.game
    assert_allclose(found.grand, model.predict_proba(X[:2])[:, 1], atol=1e-6)


def test_the_probability_of_a_forest_has_a_closed_form(X):
    pytest.importorskip("numba")
    from sklearn.ensemble import RandomForestClassifier

    wide = np.tile(X, 8)
    model = RandomForestClassifier(4, random_state=0).fit(wide, X[:, 0] > 0)
    found = ff.explain(model, wide[:2], wide, "shapley", output="probability")
    assert found.game.startswith("TreeGame")
    assert_allclose(found.grand, model.predict_proba(wide[:2])[:, 1])


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


def test_all_outputs_have_names(X):
    pytest.importorskip("numba")
    pd = pytest.importorskip("pandas")
    from sklearn import ensemble, linear_model, naive_bayes

    frame = pd.DataFrame(X, columns=list("abcd"), index=[f"row {i}" for i in range(20)])
    letters = np.array(list("xyz"))[np.argmax(X[:, :3], axis=1)]
    for kind in (
        linear_model.LogisticRegression(),
        naive_bayes.GaussianNB(),
        ensemble.RandomForestClassifier(3, random_state=0),
        ensemble.GradientBoostingClassifier(n_estimators=2, random_state=0),
    ):
        model = kind.fit(frame, letters)
        for criterion in ("shapley", "variational_index"):
            found = ff.explain(model, frame[3:5], frame, criterion, output="all", temperature=0.2)
            assert found.outputs == ("x", "y", "z")
            assert found.temperature.shape == (2, 3)
            for name in "xyz":
                alone = ff.explain(
                    model, frame[3:5], frame, criterion, output=name, temperature=0.2
                )
                assert found.output(name).words == alone.words
                assert_allclose(found["row 4", name].values, alone.values[1], atol=1e-9)
                assert_allclose(found.output(name).marginals, alone.marginals, atol=1e-9)


def test_a_class_may_be_called_all(X):
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression().fit(X, np.where(X[:, 0] > 0, "some", "all"))
    found = ff.explain(model, X[:2], X, "shapley", output="all")
    assert (found.batch, found.words.worth_name) == ((2,), "log-odds of class all")


def test_a_criterion_in_the_place_of_the_background_is_told(X):
    for given, name in (("shapley", "'shapley'"), (ff.banzhaf, "banzhaf")):
        with pytest.raises(TypeError, match=rf"the background is {name}.*third argument is"):
            ff.explain(wavy, X, given)
        with pytest.raises(TypeError, match=rf"the background is {name}.*by criterion="):
            ff.Explainer(wavy, given)


def test_the_probability_of_one_of_three_classes(X):
    """A class alone is the margin of a boosted model, and predict_proba is named for the rest."""
    xgboost = pytest.importorskip("xgboost")
    from sklearn.ensemble import RandomForestClassifier

    labels = np.argmax(X[:, :3], axis=1)
    for model in (xgboost.XGBClassifier(n_estimators=2), RandomForestClassifier(2)):
        model.fit(X, labels)
        with pytest.raises(
            ValueError, match=r"has 3 classes, {0, 1, 2}; .* predict_proba in place"
        ):
            ff.explain(model, X[:2], X, output="probability")
        found = ff.explain(model.predict_proba, X[:2], X, "shapley", output=1)
        assert_allclose(found.grand, model.predict_proba(X[:2])[:, 1], atol=1e-6)


class TestExplainer:
    """One model, read once, and rows as they come."""

    @pytest.fixture(name="model")
    def boosted(self, X):
        xgboost = pytest.importorskip("xgboost")
        return xgboost.XGBRegressor(n_estimators=5, max_depth=3, n_jobs=1).fit(X, wavy(X))

    @pytest.mark.parametrize("criterion", ["shapley", "banzhaf", "variational_index"])
    @pytest.mark.parametrize("background", [True, False], ids=["interventional", "dependent"])
    def test_rows_of_trees(self, X, model, criterion, background):
        others = X[5:] if background else None
        explainer = ff.Explainer(model, others, criterion=criterion)
        wanted = ff.explain(model, X, others, criterion)
        for rows in (X[0], X[:3], X):
            found = explainer(rows)
            assert found.game.startswith("TreeGame")
            expected = wanted.values[0] if rows.ndim == 1 else wanted.values[: len(rows)]
            assert_allclose(found.values, expected, atol=1e-10)
            assert_array_equal(found.data, rows)
        assert repr(explainer) == f"Explainer: {criterion} of XGBRegressor"

    def test_other_models(self, X):
        from sklearn.linear_model import LinearRegression

        for model in (LinearRegression().fit(X, wavy(X)), wavy):
            explainer = ff.Explainer(model, X, criterion="shapley")
            for rows in (X[0], X[:3]):
                assert_allclose(
                    explainer(rows).values, ff.explain(model, rows, X, "shapley").values, atol=1e-12
                )
        drawn = ff.Explainer(wavy, lambda row, kept, rng: X[:2], criterion="shapley")
        assert_allclose(drawn(X[1]).values, drawn(X[:2]).values[1], atol=1e-12)

    def test_true_labels_come_with_the_rows(self, X):
        from sklearn.linear_model import LogisticRegression

        y = X[:, 0] > 0
        model = LogisticRegression().fit(X, y)
        explainer = ff.Explainer(model, X, criterion="shapley", output="label")
        wanted = ff.explain(model, X[:3], X, "shapley", output="label", y=y[:3])
        assert_allclose(explainer(X[:3], y[:3]).values, wanted.values)
        with pytest.raises(ValueError, match="go together"):
            explainer(X[:3])

    def test_the_model_is_read_once(self, X, model, monkeypatch):
        from fairfield.games.features import bins
        from fairfield.games.trees import game

        readings = []
        for home in (game, bins):
            read = home.read_model
            monkeypatch.setattr(
                home, "read_model", lambda *g, read=read: readings.append(1) or read(*g)
            )
        explainer = ff.Explainer(model, X, criterion="shapley")
        explainer(X[0])
        explainer(X[:3])
        assert len(readings) == 1
        explainer = ff.Explainer(model.predict, X, criterion="shapley")
        explainer(X[0])
        explainer(X[:3])
        assert len(readings) == 2

    @pytest.mark.parametrize("output", [None, "probability"])
    def test_explain_reads_it_once(self, X, output, monkeypatch):
        xgboost = pytest.importorskip("xgboost")
        model = xgboost.XGBClassifier(n_estimators=2).fit(X, X[:, 0] > 0)
        readings, save = [], xgboost.Booster.save_raw
        monkeypatch.setattr(
            xgboost.Booster, "save_raw", lambda *g, **k: readings.append(1) or save(*g, **k)
        )
        ff.explain(model, X[:2], X, "shapley", output=output)
        assert len(readings) == 1

    def test_a_source_is_chosen_once(self, X, monkeypatch):
        from fairfield import problem

        chosen, source = [], problem.Source
        monkeypatch.setattr(problem, "Source", lambda *g: chosen.append(1) or source(*g))
        ff.explain(wavy, X[:2], X, "shapley")
        assert len(chosen) == 1
        assert not hasattr(explanations, "Source")

    def test_only_rows_of_a_new_form_are_compared_with_the_model(self, X, model):
        explainer = ff.Explainer(model, X, criterion="shapley")
        trees = explainer.game(X[0])._trees
        asked, raw = [], trees.raw
        trees.raw = lambda rows: asked.append(len(rows)) or raw(rows)
        for rows, count in (
            (X[:2], 0),
            (X[0].astype(np.float32), 1),  # a dtype that was not seen
            (X[1].astype(np.float32), 0),
            (np.where(np.arange(4) == 2, np.nan, X[0]), 1),  # nothing was missing there
            (np.where(np.arange(4) == 2, np.nan, X[3]), 0),
            (np.where(np.arange(4) == 1, np.nan, X[3]), 1),
        ):
            asked.clear()
            found = explainer(rows)
            assert len(asked) == count
            own = model.predict(np.atleast_2d(rows))
            assert_allclose(np.atleast_1d(found.grand), own, atol=1e-5)
        trees.raw = lambda rows: raw(rows) + 1
        explainer(X[5])
        with pytest.raises(ValueError, match="was not read as it is"):
            explainer(X[5].astype(np.int64))

    def test_frames(self, X):
        pd = pytest.importorskip("pandas")
        xgboost = pytest.importorskip("xgboost")
        frame = pd.DataFrame(X, columns=list("abcd")).assign(
            d=pd.Categorical(np.where(X[:, 3] > 0, "up", "down"))
        )
        model = xgboost.XGBRegressor(n_estimators=5, enable_categorical=True, n_jobs=1)
        model.fit(frame, wavy(X))
        explainer = ff.Explainer(model, frame, criterion="shapley")
        wanted = ff.explain(model, frame, frame, "shapley").values
        assert_allclose(explainer(frame[2:5]).values, wanted[2:5], atol=1e-12)
        assert_allclose(explainer(frame.iloc[3]).values, wanted[3], atol=1e-12)
        assert explainer(frame[2:5]).labels == (2, 3, 4)
        with pytest.raises(
            ValueError, match=r"are an array, without names.*a frame with {a, b, c, d}"
        ):
            explainer(np.zeros(4))
        numbers = ff.Explainer(model, None, criterion="shapley")
        assert numbers(frame[:1]).players == tuple("abcd")

    def test_a_row_may_change_after_the_call(self, X, model):
        explainer, row = ff.Explainer(model, X, criterion="shapley"), X[0].copy()
        found = explainer(row)
        row[:] = 99.0
        assert_allclose(found.data, X[0])

    def test_threads_share_it(self, X, model):
        from concurrent.futures import ThreadPoolExecutor

        for background in (X, None):
            wanted = ff.explain(model, X, background, "shapley").values
            explainer = ff.Explainer(model, background, criterion="shapley")
            with ThreadPoolExecutor(8) as pool:
                found = list(pool.map(explainer, np.tile(X, (5, 1))))
            assert_allclose([each.values for each in found], np.tile(wanted, (5, 1)), atol=1e-12)

    def test_it_can_be_sent_to_other_processes(self, X, model):
        import pickle

        explainer = ff.Explainer(
            model, X, criterion="variational_index", groups=["a", "a", "b", "c"], starts=2, seed=3
        )
        sent = pickle.loads(pickle.dumps(explainer))
        assert_allclose(sent(X[0]).values, explainer(X[0]).values)
        assert sent(X[0]).players == ("a", "b", "c")

    def test_arguments_are_checked_at_once(self, X):
        with pytest.raises(ValueError, match="there is no criterion 'sharply'"):
            ff.Explainer(wavy, X, criterion="sharply")
        with pytest.raises(
            ValueError, match=r"interactions is no criterion.*; call ff\.interactions"
        ):
            ff.Explainer(wavy, X, criterion=ff.interactions)
        with pytest.raises(TypeError, match="unknown keyword 'sed'"):
            ff.Explainer(wavy, X, criterion="shapley", sed=1)

    def test_what_is_out_of_reach_is_estimated(self, rng):
        X = rng.standard_normal((8, 40))
        explainer = ff.Explainer(wavy, X, criterion="banzhaf", sampler="regression")
        with pytest.warns(UserWarning, match=r"estimated to within"):
            assert explainer(X[0]).evaluations <= 2 * 40 + 2**14
