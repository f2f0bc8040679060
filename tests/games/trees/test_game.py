"""Tree games against their definition, their table, the models' own outputs, and shap."""

import pickle
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from threadpoolctl import threadpool_limits

import fairfield as ff
from fairfield.core.coalitions import enumerate_coalitions
from fairfield.games.trees import extension as tree_extension
from fairfield.games.trees import game as trees
from fairfield.games.trees.game import TreeGame
from fairfield.games.trees.readers.registry import read_model
from fairfield.multilinear.table import TableExtension

COLUMNS = 6
ROWS, BACKGROUND = slice(0, 4), slice(100, 130)


@pytest.fixture(autouse=True)
def one_thread():
    """Small models are slower, not faster, where threads wait for each other."""
    with threadpool_limits(1):
        yield


def make(seed=0, rows=300, columns=COLUMNS):
    """Rows with ties and a column of few values, and an answer with interactions."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    X[:, 0] = np.round(2 * X[:, 0])
    X[:, 1] = rng.integers(0, 4, rows)
    return X, X[:, 0] * X[:, 2] + (X[:, 1] == 1) * X[:, 3] + np.sin(2 * X[:, 4]) + X[:, -1]


def with_gaps(X, share=0.15):
    return np.where(np.random.default_rng(1).random(X.shape) < share, np.nan, X)


X, Y = make()
SIGNS = (Y > 0).astype(int)
LETTERS = np.array(["a", "b", "c"])[np.digitize(Y, [-1, 1])]

# Each model with its answers, what to ask of it, and its own word for that.
SKLEARN = {
    "tree": (DecisionTreeRegressor(), Y, None, lambda m, rows: m.predict(rows)),
    "tree of classes": (
        DecisionTreeClassifier(max_depth=4), SIGNS, None, lambda m, rows: m.predict_proba(rows)[:, 1],
    ),
    "forest": (RandomForestRegressor(5), Y, None, lambda m, rows: m.predict(rows)),
    "forest of two answers": (
        RandomForestRegressor(5), np.c_[Y, -Y], 1, lambda m, rows: m.predict(rows)[:, 1],
    ),
    "forest of classes": (
        RandomForestClassifier(5, class_weight="balanced"), LETTERS, "c",
        lambda m, rows: m.predict_proba(rows)[:, 2],
    ),
    "extra trees": (ExtraTreesRegressor(5), 1e6 * Y, None, lambda m, rows: m.predict(rows)),
    "extra trees of classes": (
        ExtraTreesClassifier(5), SIGNS, 0, lambda m, rows: m.predict_proba(rows)[:, 0],
    ),
    "boosting": (GradientBoostingRegressor(n_estimators=8), Y, None, lambda m, rows: m.predict(rows)),
    "boosting from zero": (
        GradientBoostingRegressor(n_estimators=8, init="zero"), Y, None, lambda m, rows: m.predict(rows),
    ),
    "boosting of two classes": (
        GradientBoostingClassifier(n_estimators=8), np.array(["no", "yes"])[SIGNS], "no",
        lambda m, rows: -m.decision_function(rows),
    ),
    "boosting of three classes": (
        GradientBoostingClassifier(n_estimators=8), LETTERS, "b",
        lambda m, rows: m.decision_function(rows)[:, 1],
    ),
    "histogram": (
        HistGradientBoostingRegressor(max_iter=8), Y, None, lambda m, rows: m.predict(rows),
    ),
    "histogram of counts": (
        HistGradientBoostingRegressor(max_iter=8, loss="poisson"), np.exp(Y / 3), None,
        lambda m, rows: np.log(m.predict(rows)),
    ),
    "histogram with categories": (
        HistGradientBoostingClassifier(max_iter=8, categorical_features=[1]), SIGNS, None,
        lambda m, rows: m.decision_function(rows),
    ),
    "histogram of three classes": (
        HistGradientBoostingClassifier(max_iter=8), LETTERS, "a",
        lambda m, rows: m.decision_function(rows)[:, 0],
    ),
}  # fmt: skip


def fitted(name, gaps=False):
    """A model of some name, the answer asked for, its own word for it, and the rows it saw."""
    if name in SKLEARN:
        model, y, output, own = SKLEARN[name]
    elif name.startswith("xgboost"):
        model, y, output, own = xgboost_models()[name]
    else:
        model, y, output, own = lightgbm_models()[name]
    seen = with_gaps(X) if gaps else X
    if "early" in name:
        model.fit(seen[:200], y[:200], eval_set=[(seen[200:], y[200:])], verbose=False)
    else:
        model.fit(seen, y)
    return model, output, own, seen


def xgboost_models():
    xgboost = pytest.importorskip("xgboost")
    few = {"n_estimators": 8, "max_depth": 4, "n_jobs": 1}

    def margin(m, rows):
        return m.predict(rows, output_margin=True)

    return {
        "xgboost": (xgboost.XGBRegressor(**few), Y, None, margin),
        "xgboost of two classes": (
            xgboost.XGBClassifier(base_score=0.3, **few), SIGNS, None, margin,
        ),
        "xgboost of three classes": (
            xgboost.XGBClassifier(**few), (LETTERS == "b") + 2 * (LETTERS == "c"), 2,
            lambda m, rows: margin(m, rows)[:, 2],
        ),
        "xgboost of counts": (
            xgboost.XGBRegressor(objective="count:poisson", **few), np.exp(Y / 3), None, margin,
        ),
        "xgboost of two answers": (
            xgboost.XGBRegressor(**few), np.c_[Y, -Y], 1, lambda m, rows: margin(m, rows)[:, 1],
        ),
        "xgboost with dropped trees": (
            xgboost.XGBRegressor(booster="dart", rate_drop=0.3, **few), Y, None, margin,
        ),
        "xgboost forest": (xgboost.XGBRFRegressor(**few), Y, None, margin),
        "xgboost stopped early": (
            xgboost.XGBRegressor(n_estimators=100, early_stopping_rounds=2, n_jobs=1), Y, None,
            margin,
        ),
        "xgboost with a sign for missing": (
            xgboost.XGBRegressor(missing=0.0, **few), Y, None, margin,
        ),
    }  # fmt: skip


def lightgbm_models():
    lightgbm = pytest.importorskip("lightgbm")
    few = {"n_estimators": 8, "verbose": -1, "min_child_samples": 5, "n_jobs": 1}
    bagged = {"boosting_type": "rf", "bagging_freq": 1, "bagging_fraction": 0.7}

    def raw(m, rows):
        return m.predict(rows, raw_score=True)

    return {
        "lightgbm": (lightgbm.LGBMRegressor(**few), Y, None, raw),
        "lightgbm of two classes": (
            lightgbm.LGBMClassifier(**few), SIGNS, 0, lambda m, rows: -raw(m, rows),
        ),
        "lightgbm of three classes": (
            lightgbm.LGBMClassifier(**few), LETTERS, "b", lambda m, rows: raw(m, rows)[:, 1],
        ),
        "lightgbm forest": (
            lightgbm.LGBMRegressor(**bagged, **few), Y, None, lambda m, rows: m.predict(rows),
        ),
        "lightgbm forest of classes": (
            lightgbm.LGBMClassifier(**bagged, **few), SIGNS, None,
            lambda m, rows: (lambda p: np.log(p[:, 1] / p[:, 0]))(m.predict_proba(rows)),
        ),
        "lightgbm where zero is missing": (
            lightgbm.LGBMRegressor(zero_as_missing=True, **few), Y, None, raw,
        ),
    }  # fmt: skip


XGBOOST = [
    "xgboost", "xgboost of two classes", "xgboost of three classes", "xgboost of counts",
    "xgboost of two answers", "xgboost with dropped trees", "xgboost forest",
    "xgboost stopped early", "xgboost with a sign for missing",
]  # fmt: skip
LIGHTGBM = [
    "lightgbm", "lightgbm of two classes", "lightgbm of three classes", "lightgbm forest",
    "lightgbm forest of classes", "lightgbm where zero is missing",
]  # fmt: skip


def table_of(game):
    worths = game.worths(enumerate_coalitions(len(game.players)))
    return TableExtension.of(ff.TableGame(worths))


def corners(rng, shape):
    """Random points with some entries 0 and some 1."""
    x = rng.random(shape)
    chosen = rng.random(shape)
    return np.where(chosen < 0.15, 0.0, np.where(chosen > 0.85, 1.0, x))


def mixed_means(own, rows, background, coalitions):
    """The definition, by the model itself: its mean output on mixed rows."""
    mixed = np.where(coalitions[:, None], rows[:, None, None], background)
    return own(mixed.reshape(-1, rows.shape[1])).reshape(mixed.shape[:3]).mean(axis=2)


def assert_is_its_table(game, rng, tolerance=1e-10):
    closed, table = game.extension(), table_of(game)
    size = max(1.0, np.abs(game.worths(enumerate_coalitions(len(game.players)))).max())
    for _ in range(20):
        x = corners(rng, (*game.batch, len(game.players)))
        for reading in ("value", "gradient", "hessian"):
            ours, theirs = (getattr(e, reading)(x) for e in (closed, table))
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=tolerance * size)
    np.testing.assert_allclose(closed.shapley(), table.shapley(), rtol=0, atol=tolerance * size)


# ---------------------------------------------------------------------- every model


@pytest.mark.parametrize("gaps", [False, True], ids=["complete", "with gaps"])
@pytest.mark.parametrize("name", [*SKLEARN, *XGBOOST, *LIGHTGBM])
def test_every_model(name, gaps, rng):
    if gaps and (name.startswith(("boosting", "extra trees")) or "categories" in name):
        pytest.skip("the model takes no missing values, or not in all versions")
    model, output, own, seen = fitted(name, gaps)
    rows, background = seen[ROWS], seen[BACKGROUND]
    near = 1e-6 if name.startswith("xgboost") else 1e-10
    game = TreeGame(model, rows, background, output=output)
    coalitions = rng.random((12, COLUMNS)) < 0.5
    coalitions[0], coalitions[1] = False, True
    means = mixed_means(lambda rows: own(model, rows), rows, background, coalitions)
    size = max(1.0, np.abs(means).max())
    np.testing.assert_allclose(game.worths(coalitions), means, rtol=0, atol=near * size)
    assert_is_its_table(game, rng)
    dependent = TreeGame(model, rows, output=output)
    grand = dependent.worths(np.ones((1, COLUMNS), bool))[:, 0]
    np.testing.assert_allclose(grand, own(model, rows), rtol=0, atol=near * size)
    assert_is_its_table(dependent, rng)


@pytest.mark.parametrize("library", ["xgboost", "lightgbm"])
def test_boosters_without_a_wrapper(library):
    model, _, _, _ = fitted(f"{library} of two classes")
    booster = model.get_booster() if library == "xgboost" else model.booster_
    same = TreeGame(model, X[ROWS], X[BACKGROUND]).extension().shapley()
    np.testing.assert_array_equal(
        TreeGame(booster, X[ROWS], X[BACKGROUND]).extension().shapley(), same
    )
    other = TreeGame(booster, X[ROWS], X[BACKGROUND], output=0)
    np.testing.assert_allclose(other.extension().shapley(), -same, atol=1e-12)


def test_a_booster_predicts_with_all_its_rounds_a_wrapper_with_the_best():
    xgboost = pytest.importorskip("xgboost")
    model, _, _, _ = fitted("xgboost stopped early")
    booster, everyone = model.get_booster(), np.ones((1, COLUMNS), bool)
    all_rounds = booster.predict(xgboost.DMatrix(X[ROWS]), output_margin=True)
    worth = TreeGame(booster, X[ROWS]).worths(everyone)[:, 0]
    np.testing.assert_allclose(worth, all_rounds, rtol=1e-6)
    best = TreeGame(model, X[ROWS]).worths(everyone)[:, 0]
    np.testing.assert_allclose(best, model.predict(X[ROWS]), rtol=1e-6)
    assert np.abs(worth - best).max() > 1e-4


# ---------------------------------------------------------------------- against shap


def shap_values(model, rows, background=None, output=None):
    shap = pytest.importorskip("shap")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if background is None:
            found = shap.TreeExplainer(model, feature_perturbation="tree_path_dependent")
        else:
            everything = shap.maskers.Independent(background, max_samples=len(background))
            found = shap.TreeExplainer(model, everything, feature_perturbation="interventional")
        values = found.shap_values(rows, check_additivity=False)
    return values if np.ndim(values) == 2 else np.asarray(values)[..., output]


@pytest.mark.parametrize("background", [X[BACKGROUND], None], ids=["interventional", "dependent"])
@pytest.mark.parametrize(
    "name", ["forest", "boosting", "histogram", "xgboost", "xgboost of two classes", "lightgbm"]
)
def test_shapley_values_are_those_of_shap(name, background):
    if name == "histogram" and background is not None:
        pytest.skip("shap's values are not those of its own definition, which ours are")
    model, output, _, _ = fitted(name)
    theirs = shap_values(model, X[:20], background)
    ours = TreeGame(model, X[:20], background, output=output).extension().shapley()
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-5 * np.abs(theirs).max())


@pytest.mark.parametrize("background", [X[BACKGROUND], None], ids=["interventional", "dependent"])
@pytest.mark.parametrize(
    ("name", "column"), [("forest of classes", 2), ("xgboost of three classes", 2)]
)
def test_classes_are_those_of_shap(name, column, background):
    model, output, _, _ = fitted(name)
    theirs = shap_values(model, X[:20], background, column)
    ours = TreeGame(model, X[:20], background, output=output).extension().shapley()
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-5)


# ---------------------------------------------------------------------- categories


def with_categories(seed=0, rows=300):
    X, _ = make(seed, rows)
    rng = np.random.default_rng(seed)
    city = rng.choice(["rome", "oslo", "bonn", "kyiv", "lima"], rows)
    size = rng.choice([3, 1, 7], rows)
    frame = pd.DataFrame({"a": X[:, 0], "city": pd.Categorical(city), "b": X[:, 2]})
    frame["size"] = pd.Categorical(size)
    return frame, X[:, 0] + 3 * np.isin(city, ["rome", "lima"]) * X[:, 2] + (size == 7) * 2


def categorical_model(library):
    if library == "xgboost":
        package = pytest.importorskip("xgboost")
        return package.XGBRegressor(
            n_estimators=10, enable_categorical=True, max_cat_to_onehot=2, n_jobs=1
        )
    if library == "lightgbm":
        package = pytest.importorskip("lightgbm")
        return package.LGBMRegressor(
            n_estimators=10, verbose=-1, min_child_samples=5, cat_smooth=1, n_jobs=1
        )
    return HistGradientBoostingRegressor(max_iter=10, categorical_features="from_dtype")


@pytest.mark.parametrize("library", ["xgboost", "lightgbm", "histogram"])
@pytest.mark.parametrize("gaps", [False, True], ids=["complete", "with gaps"])
def test_categories_are_routed_as_the_model_does(library, gaps, rng):
    frame, y = with_categories()
    if gaps:
        frame = frame.mask(np.random.default_rng(5).random(frame.shape) < 0.1)
    model = categorical_model(library).fit(frame, y)
    rows, background = frame.iloc[:5], frame.iloc[50:80].copy()
    # The same categories, listed in another order.
    order = ["oslo", "kyiv", "rome", "lima", "bonn"]
    background["city"] = background["city"].cat.set_categories(order)
    if library == "histogram":
        background["city"] = background["city"].astype(frame["city"].dtype)
    if not read_model(model).keeps_categories:
        with pytest.raises(ValueError, match=r"different categories in {city}.*does not keep"):
            TreeGame(model, rows, background)
        background = frame.iloc[50:80]
    game = TreeGame(model, rows, background)
    assert game.players == ("a", "city", "b", "size")
    coalitions = enumerate_coalitions(4)
    inside = np.tile(np.repeat(coalitions, 30, axis=0), (5, 1))
    row, other = np.repeat(np.arange(5), 16 * 30), np.tile(np.arange(50, 80), 5 * 16)
    mixed = frame.iloc[:0].reindex(range(len(row)))
    for at, name in enumerate(frame.columns):
        mixed[name] = frame[name].iloc[np.where(inside[:, at], row, other)].array
    means = model.predict(mixed).reshape(5, 16, 30).mean(axis=2)
    near = 1e-6 if library == "xgboost" else 1e-10
    np.testing.assert_allclose(game.worths(coalitions), means, rtol=0, atol=near * np.abs(y).max())
    assert_is_its_table(game, rng)
    assert_is_its_table(TreeGame(model, rows), rng)


def test_categories_beyond_those_known():
    lightgbm = pytest.importorskip("lightgbm")
    X, y = make()
    model = lightgbm.LGBMRegressor(n_estimators=5, verbose=-1, min_child_samples=5, n_jobs=1)
    model.fit(X, y, categorical_feature=[1])
    rows = np.repeat(X[:1], 5, axis=0)
    rows[:, 1] = [1, 3, 99, -1, np.nan]
    worths = TreeGame(model, rows).worths(np.ones((1, COLUMNS), bool))[:, 0]
    np.testing.assert_allclose(worths, model.predict(rows), atol=1e-12)


# ---------------------------------------------------------------------- criteria and shapes


@pytest.mark.parametrize("background", [X[BACKGROUND], None], ids=["interventional", "dependent"])
def test_criteria_are_those_of_the_table(background):
    model, _, _, _ = fitted("boosting")
    game = TreeGame(model, X[ROWS], background)
    table = ff.TableGame(game.worths(enumerate_coalitions(COLUMNS)))
    for criterion in (ff.shapley, ff.banzhaf, ff.leave_one_out):
        np.testing.assert_allclose(criterion(game).values, criterion(table).values, atol=1e-10)
    ours, theirs = (ff.variational_index(g, temperature=0.3) for g in (game, table))
    np.testing.assert_allclose(ours.values, theirs.values, atol=1e-10)
    assert ours.method == "closed form: trees"
    np.testing.assert_allclose(ours.grand, model.predict(X[ROWS]), atol=1e-12)


def test_twelve_players_and_xgboost(rng):
    xgboost = pytest.importorskip("xgboost")
    wide, y = make(2, 600, 12)
    model = xgboost.XGBRegressor(n_estimators=30, max_depth=6, n_jobs=1).fit(wide, y)
    game = TreeGame(model, wide[:3], wide[100:170])
    assert game.extension().degree <= 6
    assert_is_its_table(game, rng)


def test_points_of_all_shapes(rng):
    model, _, _, _ = fitted("forest")
    game = TreeGame(model, X[ROWS], X[BACKGROUND])
    closed, table = game.extension(), table_of(game)
    for shape in ((COLUMNS,), (4, COLUMNS), (3, 4, COLUMNS), (2, 3, 4, COLUMNS)):
        x = corners(rng, shape)
        for reading in ("value", "gradient", "hessian"):
            ours, theirs = (getattr(e, reading)(x) for e in (closed, table))
            assert ours.shape == theirs.shape
            np.testing.assert_allclose(ours, theirs, atol=1e-10)
    one = TreeGame(model, X[0], X[BACKGROUND])
    assert one.batch == ()
    x = corners(rng, (3, COLUMNS))
    assert one.extension().gradient(x).shape == (3, COLUMNS)
    assert one.extension().shapley().shape == one.data.shape == (COLUMNS,)
    np.testing.assert_allclose(one.extension().shapley(), closed.shapley()[0], atol=1e-12)
    with pytest.raises(ValueError, match="last axis must hold one probability per player"):
        closed.gradient(np.ones(3))
    with pytest.raises(ValueError, match="do not match a batch"):
        closed.gradient(np.ones((5, COLUMNS)))


def test_one_background_row_is_a_baseline():
    model, _, own, _ = fitted("boosting")
    game = TreeGame(model, X[ROWS], X[50])
    empty = game.worths(np.zeros((1, COLUMNS), bool))[:, 0]
    np.testing.assert_allclose(empty, own(model, X[50:51])[0], atol=1e-12)


@pytest.mark.parametrize("kept", [2**30, 0], ids=["kept", "made again"])
def test_some_rows_of_a_batch(kept, rng, monkeypatch):
    monkeypatch.setattr(tree_extension, "KEPT", kept)
    model, _, _, _ = fitted("forest")
    game = TreeGame(model, X[:20], X[BACKGROUND])
    whole = game.extension()
    x = corners(rng, (20, COLUMNS))
    for chosen in (slice(3, 9), np.array([17, 2, 5]), np.array([4, 4])):
        part = whole.rows(chosen)
        assert part.batch == (len(x[chosen]),)
        np.testing.assert_allclose(part.gradient(x[chosen]), whole.gradient(x)[chosen], atol=1e-12)
        again = part.rows(np.array([1, 0]))
        np.testing.assert_allclose(again.shapley(), whole.shapley()[chosen][[1, 0]], atol=1e-12)


@pytest.mark.parametrize("background", [X[BACKGROUND], None], ids=["interventional", "dependent"])
def test_little_room_gives_the_same_answers(background, rng, monkeypatch):
    model, _, _, _ = fitted("forest")
    game = TreeGame(model, X[:20], background)
    x = corners(rng, (20, COLUMNS))
    wanted = game.extension()
    monkeypatch.setattr(tree_extension, "CAPACITY", 300)
    monkeypatch.setattr(tree_extension, "KEPT", 100_000)
    monkeypatch.setattr(tree_extension, "TOGETHER", 7)
    bounded = game.extension()
    for _ in range(2):
        np.testing.assert_allclose(bounded.gradient(x), wanted.gradient(x), atol=1e-12)
        np.testing.assert_allclose(bounded.shapley(), wanted.shapley(), atol=1e-12)
    assert 0 < len(bounded._kept) < 200
    assert bounded._ahead
    np.testing.assert_allclose(bounded.hessian(x), wanted.hessian(x), atol=1e-12)


def test_players_and_data():
    model, _, _, _ = fitted("forest")
    frame = pd.DataFrame(X, columns=list("abcdef"))
    game = TreeGame(model, frame.iloc[:3], frame.iloc[10:20])
    assert game.players == tuple("abcdef")
    assert game.batch == (3,)
    np.testing.assert_array_equal(game.info.data, X[:3])
    one = TreeGame(model, frame.iloc[0], frame.iloc[10:20])
    assert (one.players, one.batch) == (tuple("abcdef"), ())
    np.testing.assert_array_equal(one.data, X[0])
    mixed = TreeGame(model, frame.iloc[:3], frame.loc[10:19, list("fedcba")])
    np.testing.assert_array_equal(mixed.extension().shapley(), game.extension().shapley())
    assert TreeGame(model, X[:3]).players == tuple(range(COLUMNS))
    assert repr(game) == "TreeGame: 3 games of 6 players, for the prediction"


def test_a_game_is_known_by_what_it_is_made_of():
    model, _, _, _ = fitted("forest")
    game = TreeGame(model, X[:3], X[10:20])
    assert game.describe() == TreeGame(model, X[:3], X[10:20]).describe()
    assert game.describe() != TreeGame(model, X[:3], X[10:21]).describe()
    assert game.describe() != TreeGame(model, X[:3]).describe()
    again = pickle.loads(pickle.dumps(game))
    np.testing.assert_array_equal(again.extension().shapley(), game.extension().shapley())


# ---------------------------------------------------------------------- groups


@pytest.mark.parametrize("background", [X[BACKGROUND], None], ids=["interventional", "dependent"])
def test_groups_play_as_one(background, rng):
    model, _, own, _ = fitted("boosting")
    by_name = TreeGame(model, X[ROWS], background, groups={"pair": [2, 0], "last": [5]})
    assert by_name.players == ("pair", "last", 1, 3, 4)
    assert by_name.data is None
    by_label = TreeGame(model, X[ROWS], background, groups=["p", 1, "p", 3, 4, "l"])
    assert by_label.players == ("p", 1, 3, 4, "l")
    assert_is_its_table(by_name, rng)
    a, b = by_name.extension().shapley(), by_label.extension().shapley()
    np.testing.assert_allclose(a, b[:, [0, 4, 1, 2, 3]], atol=1e-12)
    if background is not None:
        inside = np.array([[True, False, True, False, False, False]])
        means = mixed_means(lambda rows: own(model, rows), X[ROWS], background, inside)
        np.testing.assert_allclose(by_name.worths(np.eye(5, dtype=bool)[:1]), means, atol=1e-12)


def test_groups_are_checked():
    model, _, _, _ = fitted("forest")
    frame = pd.DataFrame(X, columns=list("abcdef"))
    assert TreeGame(model, frame, groups={"g": "a"}).players == ("g", *"bcdef")
    for groups, complaint in (
        ({"g": ["a", "z"]}, "groups name a column 'z'; the columns are {a, b"),
        ({"g": ["a"], "h": ["b", "a"]}, "column 'a' is in two groups"),
        ([1, 2], "groups have 2 labels for 6 columns"),
    ):
        with pytest.raises(ValueError, match=complaint):
            TreeGame(model, frame, groups=groups)


# ---------------------------------------------------------------------- large and deep


def assert_right_at_corners(game, rng, count=8):
    """At 0/1 points the extension is the worth; Shapley values add up."""
    coalitions = rng.random((count, len(game.players))) < 0.5
    closed = game.extension()
    worths = game.worths(coalitions)
    for at, z in enumerate(coalitions):
        np.testing.assert_allclose(closed.value(z), worths[:, at], atol=1e-9)
    empty, grand = closed.ends()
    np.testing.assert_allclose(closed.shapley().sum(axis=-1), grand - empty, atol=1e-9)


def test_ten_thousand_background_rows(rng):
    wide, y = make(3, 11_000, 12)
    model = HistGradientBoostingRegressor(max_iter=30).fit(wide[:1000], y[:1000])
    game = TreeGame(model, wide[:20], wide[1000:])
    empty = game.worths(np.zeros((1, 12), bool))[0, 0]
    np.testing.assert_allclose(empty, model.predict(wide[1000:]).mean(), atol=1e-10)
    assert_right_at_corners(game, rng)


@pytest.mark.parametrize("size", [1, 63, 64, 65, 128])
def test_backgrounds_around_a_word(size, rng):
    model, _, _, _ = fitted("boosting")
    assert_right_at_corners(TreeGame(model, X[ROWS], X[100 : 100 + size]), rng)


@pytest.mark.parametrize("with_background", [True, False], ids=["interventional", "dependent"])
def test_unbounded_forests(with_background, rng):
    wide, y = make(4, 1500, 30)
    noisy = y + rng.normal(size=len(y)) * 3
    model = RandomForestRegressor(3, random_state=0).fit(wide, noisy)
    assert max(tree.get_depth() for tree in model.estimators_) > 20
    background = wide[:60] if with_background else None
    game = TreeGame(model, wide[100:104], background)
    assert_right_at_corners(game, rng)
    theirs = shap_values(model, wide[100:104], background)
    np.testing.assert_allclose(game.extension().shapley(), theirs, atol=1e-6)
    x = corners(rng, (4, 30))
    up, down = x.copy(), x.copy()
    up[:, 7], down[:, 7] = 1, 0
    closed = game.extension()
    step = closed.value(up) - closed.value(down)
    np.testing.assert_allclose(closed.gradient(x)[:, 7], step, atol=1e-9)
    bend = closed.gradient(up) - closed.gradient(down)
    np.testing.assert_allclose(closed.hessian(x)[:, 7], bend, atol=1e-9)


def staircase(steps):
    """A tree whose longest path asks a new feature at every split."""
    return np.eye(steps + 1), np.arange(steps + 1.0) ** 2


@pytest.mark.parametrize("with_background", [True, False], ids=["interventional", "dependent"])
def test_paths_of_sixty_four_players(with_background, rng):
    rows, y = staircase(64)
    model = DecisionTreeRegressor(random_state=0).fit(rows, y)
    game = TreeGame(model, rows[:3], rows if with_background else None)
    assert game.extension().degree == 64
    assert_right_at_corners(game, rng)


def test_longer_paths_are_refused():
    rows, y = staircase(70)
    model = DecisionTreeRegressor(random_state=0).fit(rows, y)
    with pytest.raises(ValueError, match="asks 70 players, and at most 64 can be followed"):
        TreeGame(model, rows[:3], rows)
    grouped = TreeGame(model, rows[:3], rows, groups=np.arange(71) // 2)
    assert grouped.extension().degree <= 36


def test_a_model_of_one_leaf():
    model = DecisionTreeRegressor().fit(X, np.full(len(X), 7.0))
    for background in (X[:5], None):
        closed = TreeGame(model, X[ROWS], background).extension()
        np.testing.assert_allclose(closed.value(np.full(COLUMNS, 0.3)), 7.0)
        assert not closed.shapley().any()
        assert not closed.gradient(np.full(COLUMNS, 0.3)).any()


def test_a_large_mean_costs_no_digits(rng):
    x = corners(rng, (4, COLUMNS))
    near, far = (
        TreeGame(RandomForestRegressor(5, random_state=0).fit(X, y), X[ROWS], X[BACKGROUND])
        for y in (np.round(Y * 8), np.round(Y * 8) + 2.0**20)
    )
    near_slope, far_slope = (game.extension().gradient(x) for game in (near, far))
    np.testing.assert_allclose(near_slope, far_slope, atol=1e-5)
    assert far.extension().centred(x)[0].max() < 1e3


# ---------------------------------------------------------------------- refusals


def test_what_is_not_a_tree_model_is_refused():
    with pytest.raises(TypeError, match=r"LinearRegression is not a tree model.*FeatureGame"):
        TreeGame(LinearRegression().fit(X, Y), X)
    with pytest.raises(TypeError, match=r"starts from another model.*FeatureGame"):
        TreeGame(GradientBoostingRegressor(init=DummyRegressor(), n_estimators=2).fit(X, Y), X)
    both = RandomForestClassifier(2).fit(X, np.c_[SIGNS, LETTERS == "a"])
    with pytest.raises(TypeError, match="predicts 2 labels at once"):
        TreeGame(both, X)


def test_what_no_booster_can_say_is_refused():
    xgboost = pytest.importorskip("xgboost")
    lightgbm = pytest.importorskip("lightgbm")
    with pytest.raises(TypeError, match="booster gblinear has no trees"):
        TreeGame(xgboost.XGBRegressor(booster="gblinear", n_estimators=2).fit(X, Y), X)
    joint = xgboost.XGBRegressor(
        n_estimators=2, multi_strategy="multi_output_tree", tree_method="hist"
    )
    with pytest.raises(TypeError, match=r"multi_output_tree.*one_output_per_tree"):
        TreeGame(joint.fit(X, np.c_[Y, Y]), X, output=0)
    linear = lightgbm.LGBMRegressor(n_estimators=2, linear_tree=True, verbose=-1).fit(X, Y)
    with pytest.raises(TypeError, match="linear_tree has models at its leaves"):
        TreeGame(linear, X)


@pytest.mark.parametrize(
    "model", [RandomForestRegressor(), HistGradientBoostingRegressor()], ids=["forest", "histogram"]
)
def test_a_model_must_be_fitted(model):
    with pytest.raises(NotFittedError):
        TreeGame(model, X)


def test_outputs_are_picked_by_label_or_position():
    model, _, _, _ = fitted("forest of classes")
    by_label, by_position = (TreeGame(model, X[ROWS], output=o) for o in ("b", 1))
    assert by_label.describe() == by_position.describe()
    with pytest.raises(ValueError, match=r"has 3 classes, {a, b, c}; pass output="):
        TreeGame(model, X)
    with pytest.raises(ValueError, match="output='z' is no class"):
        TreeGame(model, X, output="z")
    boosted, _, _, _ = fitted("boosting of two classes")
    with pytest.raises(ValueError, match=r"is its log-odds; leave out.*FeatureGame"):
        TreeGame(boosted, X, output="probability")


def test_columns_are_checked():
    model, _, _, _ = fitted("forest")
    frame = pd.DataFrame(X, columns=list("abcdef"))
    for rows, background, complaint in (
        (X[:, :4], None, r"rows of shape \(300, 4\) were given.*6 columns"),
        (X[:0], None, "at least one row of 6 columns"),
        (X, X[:, :5], r"background of shape \(300, 5\)"),
        (X[None], None, r"rows of shape \(1, 300, 6\)"),
        (X[:, 0], None, r"rows of shape \(1, 300\)"),
        (frame, frame.rename(columns={"e": "g"}), "of background are not those of the rows: {g for e}"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=complaint):
            TreeGame(model, rows, background)
    named = RandomForestRegressor(2).fit(frame, Y)
    with pytest.raises(
        ValueError, match=r"of rows are not those of the RandomForestRegressor: {b for a"
    ):
        TreeGame(named, frame[list("bacdef")])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert TreeGame(named, X[ROWS], X[BACKGROUND]).batch == (4,)


def test_missing_values_are_refused_where_the_model_refuses_them():
    model, _, _, _ = fitted("boosting")
    with pytest.raises(ValueError, match="NaN"):
        TreeGame(model, with_gaps(X), X)


def test_a_model_read_wrongly_is_refused(monkeypatch):
    model, _, _, _ = fitted("forest")
    read = trees.read_model

    def misread(*given):
        right = read(*given)
        return type(right)(**{**vars(right), "intercept": right.intercept + 0.01})

    monkeypatch.setattr(trees, "read_model", misread)
    with pytest.raises(ValueError, match="was not read as it is: for row"):
        TreeGame(model, X)


def test_without_numba_one_sentence(monkeypatch):
    model, _, _, _ = fitted("forest")
    monkeypatch.setitem(sys.modules, "numba", None)
    with pytest.raises(ImportError, match=r"needs numba: pip install 'fairfield\[trees\]'"):
        TreeGame(model, X)
