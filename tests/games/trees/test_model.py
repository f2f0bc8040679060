"""Rows reach the splits as the model itself reads them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import (
    HistGradientBoostingRegressor,
)

from fairfield.core.coalitions import enumerate_coalitions
from fairfield.games.trees.game import TreeGame
from fairfield.games.trees.readers.registry import read_model
from games.trees.models import (
    CATBOOST,
    COLUMNS,
    LIGHTGBM,
    SKLEARN,
    XGBOOST,
    X,
    assert_is_its_table,
    fitted,
    make,
)

# The tests of the readers compare all of these with brute force.
MODELS = [*SKLEARN, *XGBOOST, *LIGHTGBM, *CATBOOST]


def test_there_are_many_kinds_of_models():
    assert len({*MODELS}) >= 60


@pytest.mark.parametrize("name", MODELS)
def test_numbers_at_a_threshold_go_where_the_model_sends_them(name):
    """And so do their neighbours, in single and in double precision."""
    model, output, own, _ = fitted(name)
    nodes = read_model(model, output).nodes
    splits = np.flatnonzero((nodes.left >= 0) & (nodes.category < 0))[:60]
    at = nodes.threshold[splits]
    near = [at, *(np.nextafter(at, side) for side in (-np.inf, np.inf))]
    near += [
        np.nextafter(at.astype(np.float32), np.float32(side)).astype(float)
        for side in (-np.inf, np.inf)
    ]
    rows = np.tile(X[: len(splits)], (len(near), 1))
    rows[np.arange(len(rows)), np.tile(nodes.feature[splits], len(near))] = np.concatenate(near)
    rows = np.concatenate([rows, X[:1]])  # a constant tree has no splits
    found = TreeGame(model, rows, output=output).worths(np.ones((1, COLUMNS), bool))[:, 0]
    tolerance = 1e-6 if name.startswith("xgboost") else 1e-10
    size = max(1.0, np.abs(found).max())
    np.testing.assert_allclose(found, own(model, rows), rtol=0, atol=tolerance * size)


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


def test_other_rows_list_their_categories_in_the_same_order():
    """Where the model does not keep them: pandas takes two orders for one dtype."""
    frame, y = with_categories()
    read = read_model(categorical_model("histogram").fit(frame, y))
    read.keeps_categories = False
    game, other = TreeGame(read, frame[:5], frame[50:80]), frame[5:9].copy()
    other["city"] = other["city"].cat.set_categories(["oslo", "kyiv", "rome", "lima", "bonn"])
    with pytest.raises(ValueError, match=r"different categories in {city}.*does not keep"):
        game.explaining(other)
