"""Values that no split tells apart are equal: the same worths from fewer rows of the model."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import brute
import fairfield as ff
from fairfield.games.features.bins import binned, bins, trees_of
from fairfield.games.features.model_output import output_of
from fairfield.games.features.rows import Tabular
from fairfield.games.trees.model import TreeModel
from fairfield.games.trees.nodes import Tree
from games.features.models import definition


def sklearn_model(name, **given):
    from sklearn import ensemble

    return getattr(ensemble, name)(random_state=0, **given)


def boosted(library, **given):
    module = pytest.importorskip(library)
    if library == "xgboost":
        return module.XGBClassifier(n_estimators=4, max_depth=3, n_jobs=1, **given)
    few = {"n_estimators": 4, "max_depth": 3, "min_child_samples": 3, "verbose": -1}
    return module.LGBMClassifier(**few, **given)


MODELS = {
    "xgboost": lambda: boosted("xgboost"),
    "lightgbm": lambda: boosted("lightgbm"),
    "gradient boosting": lambda: sklearn_model("GradientBoostingClassifier", n_estimators=4),
    "histograms": lambda: sklearn_model("HistGradientBoostingClassifier", max_iter=4, max_depth=3),
    "forest": lambda: sklearn_model("RandomForestClassifier", n_estimators=4, max_depth=3),
}


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_the_same_worths_from_fewer_model_rows(name, missing, classes):
    rng = np.random.default_rng(7)
    X = rng.standard_normal((150, 8)).astype(np.float32).astype(float)
    y = np.digitize(X[:, 0] + X[:, 1] * X[:, 2], [0.0, 0.8][: classes - 1])
    if missing and name != "gradient boosting":  # which takes none
        X[rng.random(X.shape) < 0.2] = np.nan
    model = MODELS[name]().fit(X, y)
    rows, background = X[:3], X[100:112]
    game = ff.FeatureGame(model, rows, background, output=1)

    def predict(table):
        return model.predict_proba(table)[:, 1].astype(float)

    wanted = [definition(predict, x, background) for x in rows]
    assert_allclose(game.table(), wanted, atol=1e-10)
    assert_allclose(game.worths(brute.coalitions(8)), wanted, atol=1e-10)
    assert game.model_rows() < ff.FeatureGame(predict, rows, background).model_rows()
    method = ff.FeatureGame(model.predict_proba, rows, background, output=1)
    assert method.model_rows() == game.model_rows()


def test_columns_without_a_split_are_null(rng):
    X = rng.standard_normal((200, 40))
    X[:, 4:] *= np.arange(200)[:, None] >= 100  # constant where the model learns
    model = boosted("xgboost").fit(X[:100], X[:100, 0] + X[:100, 1] > 0)
    game = ff.FeatureGame(model, X[100:103], X[110:130])
    assert game.traits.nulls[:, 4:].all()
    found = ff.shapley(game)
    assert_array_equal(found.values[:, 4:], 0.0)
    small = ff.FeatureGame(
        lambda t: model.predict_proba(np.hstack([t, np.zeros((len(t), 36))]))[:, 1],
        X[100:103, :4], X[110:130, :4],
    )  # fmt: skip
    assert_allclose(found.values[:, :4], ff.shapley(small).values, atol=1e-10)


def test_thresholds_missing_values_and_categories(rng):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {
            "size": rng.standard_normal(120).astype(np.float32),
            "kind": pd.Categorical(rng.choice(list("abcd"), 120)),
            "idle": np.ones(120),
        }
    )
    frame.loc[::5, "size"] = np.nan
    y = (frame["size"].fillna(1) > 0.3) ^ frame["kind"].isin(["a", "c"])
    model = boosted("xgboost", enable_categorical=True).fit(frame, y)
    trees = trees_of(model).model
    codes = bins(trees, trees.encode(frame))
    size = frame["size"].to_numpy()
    splits = np.unique(trees.nodes.threshold[(trees.nodes.left >= 0) & (trees.nodes.category < 0)])
    for i, j in combinations(np.flatnonzero(~np.isnan(size)), 2):
        apart = ((size[i] <= splits) != (size[j] <= splits)).any()
        assert (codes[i, 0] != codes[j, 0]) == apart
    assert len(np.unique(codes[:, 1])) == 4
    assert not codes[:, 2].any()
    rows, background = frame[:3], frame[50:60]
    game = ff.FeatureGame(model, rows, background)
    plain = ff.FeatureGame(lambda t: model.predict_proba(t)[:, 1], rows, background)
    assert_allclose(game.table(), plain.table(), atol=1e-10)
    assert game.model_rows() < plain.model_rows()


def test_behind_a_pipeline_a_column_has_the_bins_of_what_is_made_of_it(rng):
    """40 columns, of which six matter: their probabilities are exact, and by the plain table right."""
    pd = pytest.importorskip("pandas")
    from sklearn.compose import make_column_transformer
    from sklearn.decomposition import PCA
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    frame = pd.DataFrame(rng.standard_normal((200, 39))).add_prefix("x")
    frame["kind"] = rng.choice(list("abc"), 200)
    y = frame["x1"] * frame["x2"] + (frame["kind"] == "b") > 0.4
    encode = make_column_transformer(
        (OneHotEncoder(), ["kind"]), (StandardScaler(), list(frame.columns[:5])), remainder="drop"
    )
    last = sklearn_model("GradientBoostingClassifier", n_estimators=6, max_depth=2)
    model = make_pipeline(encode, last).fit(frame, y)
    rows, background = frame[:2], frame[100:106]
    found = ff.explain(model, rows, background, "shapley", output="probability")
    assert found.stop == "2 × exact"
    six = [*frame.columns[:5], "kind"]
    blank = frame[:1].drop(columns=six)

    def probability(table):
        whole = table.assign(**{name: blank[name].iloc[0] for name in blank})
        return model.predict_proba(whole)[:, 1]

    plain = ff.FeatureGame(probability, rows[six], background[six])
    wanted = ff.shapley(plain)
    assert_allclose(found.values[:, [0, 1, 2, 3, 4, 39]], wanted.values, rtol=0, atol=1e-10)
    game = ff.FeatureGame(model, rows, background)
    assert game.model_rows() < plain.model_rows()
    # Where columns are mixed, values stay apart.
    turned = make_pipeline(encode, PCA(3), last).fit(frame, y)
    assert ff.FeatureGame(turned, rows, background).model_rows() > 2**39


@pytest.mark.parametrize(("sides", "wanted"), [("ll", 0), ("rl", 1), ("rr", 2), ("lr", -1)])
def test_missing_values_go_with_numbers_or_alone(sides, wanted):
    """Two splits of a column, and where each sends missing values."""
    stumps = [
        Tree([1, -1, -1], [2, -1, -1], [0] * 3, [edge, 0.0, 0.0], [side == "l"] * 3,
             [0.0, -1.0, 1.0], [2, 1, 1])
        for edge, side in zip([0.0, 1.0], sides, strict=True)
    ]  # fmt: skip
    trees = TreeModel(None, (None,), stumps, 0.0, 1, None, None, None)
    rows = np.array([[-1.0], [0.0], [0.5], [1.0], [2.0], [np.nan]])
    assert bins(trees, rows)[:, 0].tolist() == [0, 0, 1, 1, 2, wanted]


def test_bins_that_the_outputs_belie_are_left_out(rng):
    """A model that is not what was read of it keeps the codes of its values."""
    X = rng.standard_normal((60, 5))
    model = sklearn_model("RandomForestRegressor", n_estimators=3).fit(X, X[:, 0] * X[:, 1])
    table, trees = Tabular.of(X[:4], X[10:30]), trees_of(model)
    right = output_of(model, None, None, X[:4])
    assert len(np.unique(binned(table, trees, right).row_codes)) < 20
    other = replace(right, function=lambda rows: np.sin(rows).sum(axis=1))
    assert binned(table, trees, other) is table
    narrow = Tabular.of(X[:4, :3], X[10:30, :3])
    assert binned(narrow, trees, right) is narrow
    assert binned(table, None, right) is table


def test_what_cannot_be_read_is_left_as_it_is(rng):
    from sklearn.linear_model import LinearRegression

    X = rng.standard_normal((60, 5))
    start = sklearn_model("GradientBoostingRegressor", init=LinearRegression()).fit(X, X[:, 0])
    assert trees_of(start) is None
    assert trees_of(np.sin) is None
    named = sklearn_model("RandomForestClassifier").fit(X, np.where(X[:, 0] > 0, "all", "none"))
    assert trees_of(named) is None
