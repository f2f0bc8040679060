"""R² of all regressions by pivoting is that of least squares, one by one."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import brute
import fairfield as ff
from fairfield.multilinear import blocked, choose


def r_squared(X, y):
    """By least squares over every coalition, in table order."""
    found = []
    for coalition in brute.coalitions(X.shape[1]):
        design = np.column_stack([np.ones(len(y)), X[:, coalition]])
        design /= np.linalg.norm(design, axis=0)
        left = y - design @ np.linalg.lstsq(design, y, rcond=1e-12)[0]
        found.append(1 - left @ left / ((y - y.mean()) ** 2).sum())
    return np.array(found)


@pytest.fixture
def data(rng):
    X = rng.standard_normal((40, 7)) + 100
    return X, X @ rng.standard_normal(7) + rng.standard_normal(40)


@pytest.mark.parametrize("kind", ["free", "collinear", "constant", "nearly collinear"])
def test_all_regressions_are_those_of_least_squares(data, rng, kind):
    X, y = data
    if kind == "collinear":
        X[:, 4] = X[:, 1] - 2 * X[:, 6]
    if kind == "constant":
        X[:, 2] = 0.1
    if kind == "nearly collinear":
        X[:, 3] = X[:, 5] + 1e-4 * rng.standard_normal(40)
    game, wanted = ff.RegressionGame(X, y), r_squared(X, y)
    assert_allclose(game.table(), wanted, atol=1e-10)
    assert_allclose(game.worths(brute.coalitions(7)), wanted, atol=1e-10)
    assert game.table()[0] == 0
    assert_allclose(ff.shapley(game).values.sum(), wanted[-1], atol=1e-12)


def test_windows_are_a_batch_of_games(data):
    X, y = data
    days = pd.date_range("2024-01-01", periods=40)
    frame = pd.DataFrame(X, columns=list("abcdefg"), index=days)
    game = ff.RegressionGame(frame, pd.Series(y), window=20, step=5)
    assert game.batch == (5,)
    assert game.players == tuple("abcdefg")
    found = ff.shapley(game)
    alone = ff.shapley(ff.RegressionGame(X[10:30], y[10:30]))
    assert_allclose(found["2024-01-30"].values, alone.values, atol=1e-13)


def test_tables_block_by_block_say_the_same(data, monkeypatch):
    X, y = data
    game = ff.RegressionGame(X, y, window=20, step=5)
    criteria = [ff.shapley, ff.banzhaf, ff.leave_one_out, ff.variational_index]
    whole = [each(game, temperature=0.1, decoupling=False) for each in criteria]
    pairs = ff.interactions(game)
    monkeypatch.setattr(choose, "LARGE", 0)
    monkeypatch.setattr(blocked, "WORKED_ON", 2 * 2**7)
    for each, wanted in zip(criteria, whole, strict=True):
        found = each(game, temperature=0.1, decoupling=False)
        assert found.method == "exact tables, block by block"
        assert_allclose(found.values, wanted.values, atol=1e-12)
        assert_allclose(found.grand, wanted.grand, atol=1e-15)
    assert_allclose(ff.interactions(game).values, pairs.values, atol=1e-12)
    beta = ff.semivalue(game, ff.beta(2, 1))
    monkeypatch.undo()
    assert_allclose(beta.values, ff.semivalue(game, ff.beta(2, 1)).values, atol=1e-12)


def test_what_cannot_be_explained_is_refused(data):
    X, y = data
    for arguments, words in [
        ((X, np.ones(40)), "y is constant, so there is nothing to explain"),
        ((X, y[:-1]), "X has 40 rows and y 39"),
    ]:
        with pytest.raises(ValueError, match=words):
            ff.RegressionGame(*arguments)
    with pytest.raises(ValueError, match="window=41 is longer than the 40 rows"):
        ff.RegressionGame(X, y, window=41)
