"""Tree models of all kinds, and what their games must satisfy."""

import json
import warnings
from unittest.mock import patch

import numpy as np
import pytest
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import fairfield as ff
from conftest import needs
from fairfield.core.coalitions import enumerate_coalitions
from fairfield.games.trees.game import TreeGame
from fairfield.games.trees.products import interventional
from fairfield.games.trees.tables.diagonal import MOST_PLAYERS, Diagonal
from fairfield.multilinear.table import TableExtension

COLUMNS = 6
ROWS, BACKGROUND = slice(0, 4), slice(100, 130)


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
LABELS = np.digitize(Y, [-1, 1])
LETTERS = np.array(["a", "b", "c"])[LABELS]


def surprise(m, rows):
    return np.log2(-m.score_samples(rows))


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
    "stump": (DecisionTreeRegressor(max_depth=1), Y, None, lambda m, rows: m.predict(rows)),
    "tree of constants": (DecisionTreeRegressor(), 0 * Y + 3, None, lambda m, rows: m.predict(rows)),
    "boosting of constants": (
        GradientBoostingRegressor(n_estimators=3), 0 * Y + 3, None, lambda m, rows: m.predict(rows),
    ),
    "histogram of constants": (
        HistGradientBoostingRegressor(max_iter=3), 0 * Y + 3, None, lambda m, rows: m.predict(rows),
    ),
    "tree of one column": (
        DecisionTreeRegressor(max_depth=5), np.sin(4 * X[:, 2]), None, lambda m, rows: m.predict(rows),
    ),
    "histogram stumps": (
        HistGradientBoostingRegressor(max_iter=8, max_depth=1), Y, None, lambda m, rows: m.predict(rows),
    ),
    "boosting of absolute errors": (
        GradientBoostingRegressor(n_estimators=8, loss="absolute_error"), Y, None,
        lambda m, rows: m.predict(rows),
    ),
    "boosting by exponential loss": (
        GradientBoostingClassifier(n_estimators=8, loss="exponential"), SIGNS, None,
        lambda m, rows: m.decision_function(rows),
    ),
    "isolation forest": (IsolationForest(n_estimators=5, max_samples=40), Y, None, surprise),
    "isolation forest of some columns": (
        IsolationForest(n_estimators=6, max_features=3, max_samples=30), Y, None, surprise,
    ),
    "isolation forest with draws": (
        IsolationForest(n_estimators=5, max_samples=0.1, bootstrap=True, contamination=0.1), Y, None,
        surprise,
    ),
    "isolation forest of pairs": (IsolationForest(n_estimators=5, max_samples=2), Y, None, surprise),
    "isolation forest of single rows": (
        IsolationForest(n_estimators=3, max_samples=1), Y, None, surprise,
    ),
}  # fmt: skip


def fitted(name, gaps=False):
    """A model of some name, the answer asked for, its own word for it, and the rows it saw."""
    if name in SKLEARN:
        model, y, output, own = SKLEARN[name]
    else:
        models = {
            "xgboost": xgboost_models,
            "lightgbm": lightgbm_models,
            "catboost": catboost_models,
        }[name.split()[0]]
        model, y, output, own = models()[name]
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
            xgboost.XGBClassifier(**few), LABELS, 2,
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
        "xgboost with dropped trees, stopped early": (
            xgboost.XGBRegressor(
                booster="dart", rate_drop=0.3, one_drop=1, normalize_type="forest", n_estimators=60,
                early_stopping_rounds=3, n_jobs=1,
            ), Y, None, margin,
        ),
        "xgboost of classes with dropped trees": (
            xgboost.XGBClassifier(booster="dart", rate_drop=0.5, one_drop=1, **few), LABELS, 1,
            lambda m, rows: margin(m, rows)[:, 1],
        ),
        "xgboost of joint answers": (
            xgboost.XGBRegressor(multi_strategy="multi_output_tree", **few), np.c_[Y, -Y, Y**2], 2,
            lambda m, rows: margin(m, rows)[:, 2],
        ),
        "xgboost of joint classes": (
            xgboost.XGBClassifier(multi_strategy="multi_output_tree", **few), LABELS, 0,
            lambda m, rows: margin(m, rows)[:, 0],
        ),
        "xgboost of joint answers, stopped early": (
            xgboost.XGBRegressor(
                multi_strategy="multi_output_tree", n_estimators=60, early_stopping_rounds=2,
                learning_rate=0.5, n_jobs=1,
            ), np.c_[Y, -Y], 0, lambda m, rows: margin(m, rows)[:, 0],
        ),
        "xgboost of hazards": (
            xgboost.XGBRegressor(objective="survival:cox", **few), np.exp(Y / 3) * (2 * SIGNS - 1), None,
            margin,
        ),
        "xgboost stumps": (xgboost.XGBRegressor(**{**few, "max_depth": 1}), Y, None, margin),
        "xgboost of constants": (xgboost.XGBRegressor(**few), 0 * Y + 3, None, margin),
        "xgboost by leaves": (
            xgboost.XGBRegressor(grow_policy="lossguide", max_leaves=9, **few), Y, None, margin,
        ),
        "xgboost of quantiles": (
            xgboost.XGBRegressor(objective="reg:quantileerror", quantile_alpha=[0.1, 0.9], **few), Y, 1,
            lambda m, rows: margin(m, rows)[:, 1],
        ),
        "xgboost forest of classes": (xgboost.XGBRFClassifier(**few), SIGNS, 0, lambda m, rows: -margin(m, rows)),
        "xgboost of several trees a round": (
            xgboost.XGBClassifier(num_parallel_tree=3, subsample=0.7, **few), LABELS, 2,
            lambda m, rows: margin(m, rows)[:, 2],
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
        "lightgbm without missing values": (
            lightgbm.LGBMRegressor(use_missing=False, **few), Y, None, raw,
        ),
        "lightgbm with dropped trees": (
            lightgbm.LGBMRegressor(boosting_type="dart", drop_rate=0.5, **few), Y, None, raw,
        ),
        "lightgbm of square roots": (
            lightgbm.LGBMRegressor(reg_sqrt=True, **few), Y, None,
            lambda m, rows: (lambda p: np.sign(p) * np.sqrt(np.abs(p)))(m.predict(rows)),
        ),
        "lightgbm of counts": (
            lightgbm.LGBMRegressor(objective="poisson", **few), np.exp(Y / 3), None,
            lambda m, rows: np.log(m.predict(rows)),
        ),
        "lightgbm stumps": (lightgbm.LGBMRegressor(num_leaves=2, **few), Y, None, raw),
        "lightgbm of constants": (lightgbm.LGBMRegressor(**few), 0 * Y + 3, None, raw),
        "lightgbm of one against all": (
            lightgbm.LGBMClassifier(objective="multiclassova", **few), LETTERS, "a",
            lambda m, rows: raw(m, rows)[:, 0],
        ),
        "lightgbm of absolute errors": (
            lightgbm.LGBMRegressor(objective="regression_l1", **few), Y, None, raw,
        ),
        "lightgbm forest of three classes": (
            lightgbm.LGBMClassifier(**bagged, **few), LETTERS, "b",
            lambda m, rows: raw(m, rows)[:, 1] / m.n_estimators,
        ),
    }  # fmt: skip


def catboost_models():
    catboost = needs("catboost", "catboost")
    few = {
        "iterations": 8, "depth": 4, "verbose": 0, "thread_count": 1, "allow_writing_files": False,
        "random_seed": 0,
    }  # fmt: skip

    def raw(m, rows):
        return m.predict(rows, prediction_type="RawFormulaVal")

    def regressor(**given):
        return catboost.CatBoostRegressor(**{**few, **given})

    def classifier(**given):
        return catboost.CatBoostClassifier(**{**few, **given})

    return {
        "catboost": (regressor(), Y, None, lambda m, rows: m.predict(rows)),
        "catboost by levels": (regressor(grow_policy="Depthwise"), Y, None, raw),
        "catboost by leaves": (regressor(grow_policy="Lossguide", max_leaves=9), Y, None, raw),
        "catboost with missing on top": (regressor(nan_mode="Max"), Y, None, raw),
        "catboost stumps": (regressor(depth=1), Y, None, raw),
        "catboost of counts": (
            regressor(loss_function="Poisson"), np.exp(Y / 3), None,
            lambda m, rows: np.log(m.predict(rows)),
        ),
        "catboost of two answers": (
            regressor(loss_function="MultiRMSE"), np.c_[Y, -Y], 1, lambda m, rows: raw(m, rows)[:, 1],
        ),
        "catboost of two classes": (
            classifier(), np.array(["no", "yes"])[SIGNS], "no",
            lambda m, rows: (lambda p: np.log(p[:, 0] / p[:, 1]))(m.predict_proba(rows)),
        ),
        "catboost of three classes": (
            classifier(), LETTERS, "b", lambda m, rows: raw(m, rows)[:, 1],
        ),
        "catboost of classes by leaves": (
            classifier(grow_policy="Lossguide"), LETTERS, "c", lambda m, rows: raw(m, rows)[:, 2],
        ),
        "catboost of two labels": (
            classifier(loss_function="MultiLogloss"), np.c_[SIGNS, 1 - SIGNS], 0,
            lambda m, rows: raw(m, rows)[:, 0],
        ),
        "catboost stopped early": (
            regressor(iterations=60, learning_rate=0.5, early_stopping_rounds=2), Y, None, raw,
        ),
        "catboost from zero": (regressor(boost_from_average=False), Y, None, raw),
    }  # fmt: skip


CATBOOST = [
    "catboost", "catboost by levels", "catboost by leaves", "catboost with missing on top",
    "catboost stumps", "catboost of counts", "catboost of two answers", "catboost of two classes",
    "catboost of three classes", "catboost of classes by leaves", "catboost of two labels",
    "catboost stopped early", "catboost from zero",
]  # fmt: skip
XGBOOST = [
    "xgboost", "xgboost of two classes", "xgboost of three classes", "xgboost of counts",
    "xgboost of two answers", "xgboost with dropped trees", "xgboost forest",
    "xgboost stopped early", "xgboost with a sign for missing",
    "xgboost with dropped trees, stopped early", "xgboost of classes with dropped trees",
    "xgboost of joint answers", "xgboost of joint classes", "xgboost of joint answers, stopped early",
    "xgboost of hazards", "xgboost stumps", "xgboost of constants", "xgboost by leaves",
    "xgboost of quantiles", "xgboost forest of classes", "xgboost of several trees a round",
]  # fmt: skip
LIGHTGBM = [
    "lightgbm", "lightgbm of two classes", "lightgbm of three classes", "lightgbm forest",
    "lightgbm forest of classes", "lightgbm where zero is missing", "lightgbm without missing values",
    "lightgbm with dropped trees", "lightgbm of square roots", "lightgbm of counts",
    "lightgbm stumps", "lightgbm of constants", "lightgbm of one against all",
    "lightgbm of absolute errors", "lightgbm forest of three classes",
]  # fmt: skip


def xgboost_sums(model, rows, output):
    """The margin without its constant: leaves that XGBoost says rows reach, added up in double."""
    boosting = json.loads(model.get_booster().save_raw("json"))["learner"]["gradient_booster"]
    forest = boosting.get("gbtree", boosting)["model"]
    reached = model.apply(rows).astype(int).reshape(len(rows), -1)
    weights = boosting.get("weight_drop", np.ones(reached.shape[1]))
    total = np.zeros(len(rows))
    for at, nodes in enumerate(reached.T):
        tree = forest["trees"][at]
        width = int(tree["tree_param"]["size_leaf_vector"])
        if width > 1:
            vectors = np.reshape(np.float32(tree["base_weights"]), (-1, width))
            total += weights[at] * vectors[nodes, output].astype(float)
        elif forest["tree_info"][at] == (output or 0):
            total += weights[at] * np.float32(tree["split_conditions"])[nodes].astype(float)
    return total


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
    table = table_of(game)
    size = max(1.0, np.abs(game.worths(enumerate_coalitions(len(game.players)))).max())
    x = corners(rng, (20, *game.batch, len(game.players)))
    # Terms from a walk, then from codes; path-dependent games have none.
    for many in (interventional.MANY,) if game.forest.dependent else (interventional.MANY, 0):
        with patch.object(interventional, "MANY", many):
            closed = game.extension()
            for reading in ("value", "gradient", "hessian"):
                ours, theirs = (getattr(e, reading)(x) for e in (closed, table))
                np.testing.assert_allclose(ours, theirs, rtol=0, atol=tolerance * size)
    at, shares = rng.random(3), rng.normal(size=3)
    for longest in (0, MOST_PLAYERS):  # by walks and terms, then from tables
        with patch.object(Diagonal, "_longest", lambda self, rows, most=longest: most):
            closed = game.extension()
            for reading in ("shapley", "along_diagonal", "hessian_along_diagonal"):
                given = () if reading == "shapley" else (at, shares)
                ours, theirs = (getattr(e, reading)(*given) for e in (closed, table))
                np.testing.assert_allclose(ours, theirs, rtol=0, atol=tolerance * size)


def shared_readings(game):
    """What is read along the diagonal and at its ends."""
    closed, at = game.extension(), (np.array([0.2, 0.7]), np.array([2.0, -1.0]))
    readings = closed.shapley(), closed.gradient(np.full(len(game.players), 0.5))
    return (*readings, closed.hessian_along_diagonal(*at), *closed.ends())


def check_model(name, gaps, rng):
    """Worths are mean outputs by the model itself, and the closed form is that of the table."""
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
    worths = game.worths(coalitions)
    np.testing.assert_allclose(worths, means, rtol=0, atol=near * size)
    if name.startswith("xgboost"):
        sign = -1 if name == "xgboost forest of classes" else 1
        column = None if sign < 0 else output
        exact = mixed_means(lambda r: xgboost_sums(model, r, column), rows, background, coalitions)
        exact, worths = (each - each[:, :1] for each in (sign * exact, worths))
        np.testing.assert_allclose(worths, exact, rtol=0, atol=1e-10 * size)
    assert_is_its_table(game, rng)
    dependent = TreeGame(model, rows, output=output)
    grand = dependent.worths(np.ones((1, COLUMNS), bool))[:, 0]
    np.testing.assert_allclose(grand, own(model, rows), rtol=0, atol=near * size)
    assert_is_its_table(dependent, rng)


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


def assert_right_at_corners(game, rng, count=8):
    """At 0/1 points the extension is the worth; Shapley values add up."""
    coalitions = rng.random((count, len(game.players))) < 0.5
    closed = game.extension()
    worths = game.worths(coalitions)
    for at, z in enumerate(coalitions):
        np.testing.assert_allclose(closed.value(z), worths[:, at], atol=1e-9)
    empty, grand = closed.ends()
    np.testing.assert_allclose(closed.shapley().sum(axis=-1), grand - empty, atol=1e-9)
