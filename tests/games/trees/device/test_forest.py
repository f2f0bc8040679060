"""Rows on a device: PyTorch's tensors on the host, which are taken for a device here."""

import pickle

import numpy as np
import pytest

import fairfield as ff
from conftest import needs
from fairfield.core import arrays
from fairfield.games.trees.device.forest import DeviceExtension
from fairfield.games.trees.game import TreeGame
from fairfield.games.trees.tables.diagonal import Diagonal
from games.trees.models import (
    BACKGROUND,
    COLUMNS,
    ROWS,
    X,
    assert_is_its_table,
    fitted,
    shared_readings,
)

MODEL = fitted("boosting")[0]


@pytest.fixture
def there(monkeypatch):
    """Sends rows to the device."""
    torch = needs("torch", "torch")
    monkeypatch.setattr(arrays, "HOSTS", ())
    return torch.asarray


@pytest.mark.parametrize("gaps", [False, True], ids=["whole", "gaps"])
@pytest.mark.parametrize(
    "name",
    [
        "forest", "boosting", "histogram", "tree of constants", "stump", "isolation forest",
        "xgboost", "xgboost with a sign for missing", "xgboost of joint answers",
        "lightgbm", "lightgbm where zero is missing", "catboost",
    ],
)  # fmt: skip
def test_is_the_table_of_all_coalitions(name, gaps, there, rng):
    if gaps and name in ("boosting", "isolation forest"):
        pytest.skip("the model takes no missing values, or not in all versions")
    model, output, _, seen = fitted(name, gaps)
    for background in (there(seen[BACKGROUND]), None):
        game = TreeGame(model, there(seen[ROWS]), background, output=output)
        assert isinstance(game.extension(), DeviceExtension)
        assert_is_its_table(game, rng)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("dependent", [False, True], ids=["interventional", "dependent"])
@pytest.mark.parametrize("output", ["a", "all"])
def test_same_as_on_the_host(output, dependent, dtype, there):
    model, rows = fitted("boosting of three classes")[0], X.astype(dtype)
    wanted = TreeGame(model, rows, None if dependent else rows, output=output)
    found = TreeGame(model, there(rows), None if dependent else there(rows), output=output)
    assert_same_readings(found, wanted)
    assert found.describe() == wanted.describe()
    assert found.info.data.dtype == wanted.info.data.dtype


def assert_same_readings(found, wanted):
    for ours, theirs in zip(shared_readings(found), shared_readings(wanted), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


def test_long_paths_are_left_to_the_host(there, monkeypatch):
    model = fitted("histogram")[0]
    wanted = TreeGame(model, X, X[BACKGROUND])
    monkeypatch.setattr(Diagonal, "_longest", lambda self, rows: 3)
    game = TreeGame(model, there(X), there(X[BACKGROUND]))
    assert 0 < (game.forest.degree > 3).sum() < len(game.forest.degree)
    assert_same_readings(game, wanted)


def test_what_is_not_on_the_diagonal_is_that_of_the_host(there):
    wanted = TreeGame(MODEL, X[ROWS], X[BACKGROUND])
    game = TreeGame(MODEL, there(X[ROWS]), there(X[BACKGROUND]))
    found, theirs = (ff.variational_index(each, temperature=0.5) for each in (game, wanted))
    np.testing.assert_allclose(found.values, theirs.values, atol=1e-10)
    kept = pickle.loads(pickle.dumps(game))
    assert_same_readings(kept, wanted)


def test_one_of_two_on_the_device(there):
    wanted = TreeGame(MODEL, X[:50], X[BACKGROUND])
    for rows, background in ((there(X[:50]), X[BACKGROUND]), (X[:50], there(X[BACKGROUND]))):
        game = TreeGame(MODEL, rows, background)
        assert_same_readings(game, wanted)
        other = game.explaining(X[7])
        assert isinstance(other.extension(), DeviceExtension)
        assert other.batch == ()
        np.testing.assert_allclose(
            ff.shapley(other).values, ff.shapley(wanted.explaining(X[7])).values, atol=1e-12
        )


@pytest.mark.parametrize("background", [X[BACKGROUND], None], ids=["interventional", "dependent"])
def test_rows_are_served(background, there):
    wanted = ff.explain(MODEL, X, background, "shapley")
    others = there(X if background is None else background)
    explainer = ff.Explainer(MODEL, None if background is None else others, criterion="shapley")
    explainer(others)
    for rows in (there(X[0]), there(X[:3]), there(X), X[0], X):
        found = explainer(rows)
        assert isinstance(explainer.game(rows).extension(), DeviceExtension)
        for ours, theirs in ((found.values, wanted.values), (found.grand, wanted.grand)):
            expected = theirs[0] if rows.ndim == 1 else theirs[: len(rows)]
            np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-12)
    assert_same_readings(explainer.game(there(X)), TreeGame(MODEL, X, background))


def test_rows_come_to_a_background_on_the_host(there):
    game = TreeGame(MODEL, X[:50], X[BACKGROUND])
    assert_same_readings(game.explaining(there(X[:60])), game.explaining(X[:60]))
    one = ff.Explainer(MODEL, there(X[0]), criterion="shapley")(X[:3])
    np.testing.assert_allclose(
        one.values, ff.explain(MODEL, X[:3], X[0], "shapley").values, atol=1e-12
    )


def test_splits_by_categories_are_followed_on_the_host(there):
    model = fitted("histogram with categories")[0]
    game = TreeGame(model, there(X[ROWS]), there(X[BACKGROUND]))
    assert not isinstance(game.extension(), DeviceExtension)
    assert_same_readings(game, TreeGame(model, X[ROWS], X[BACKGROUND]))


def test_groups_of_columns(there):
    groups = {"first": [0, 1], "last": [4, 5]}
    wanted = TreeGame(MODEL, X[:50], X[BACKGROUND], groups=groups)
    assert_same_readings(
        TreeGame(MODEL, there(X[:50]), there(X[BACKGROUND]), groups=groups), wanted
    )


def test_refusals(there):
    pd = needs("pandas", "pandas")
    with pytest.raises(ValueError, match="a DataFrame was given beside an array on a device"):
        TreeGame(MODEL, pd.DataFrame(X[ROWS]), there(X[BACKGROUND]))
    with pytest.raises(ValueError, match=r"rows of shape \(4, 5\) were given"):
        TreeGame(MODEL, there(X[ROWS, : COLUMNS - 1]), there(X[BACKGROUND]))
