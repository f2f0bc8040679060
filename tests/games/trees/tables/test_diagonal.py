"""What is kept of tables, and where they are not used."""

import numpy as np
import pytest

import fairfield as ff
from fairfield.games.trees.extension import LEAST, Forest
from fairfield.games.trees.game import TreeGame
from fairfield.games.trees.tables import diagonal
from games.trees.models import BACKGROUND, COLUMNS, X, fitted, table_of

MANY = np.repeat(X, 20, axis=0)


MODEL = fitted("boosting")[0]


def made(rows=MANY, background=X[BACKGROUND]):
    return TreeGame(MODEL, rows, background)


@pytest.mark.parametrize("background", [X[BACKGROUND], None], ids=["interventional", "dependent"])
def test_tables_in_parts_are_the_same(background, monkeypatch):
    wanted = made(background=background).extension()
    monkeypatch.setattr(diagonal, "KEPT", 0)
    monkeypatch.setattr(diagonal, "AT_ONCE", 2000)
    game = made(background=background)
    found = game.extension()
    np.testing.assert_allclose(found.shapley(), wanted.shapley(), atol=1e-12)
    points = np.array([0.2, 0.7]), np.ones(2)
    np.testing.assert_allclose(
        found.hessian_along_diagonal(*points)[:50],
        wanted.rows(np.arange(50)).hessian_along_diagonal(*points),
        atol=1e-12,
    )
    assert game.forest.diagonal.kept_bytes() == 0


def test_tables_are_kept_up_to_a_bound(monkeypatch):
    game = made()
    ff.shapley(game)
    once = game.forest.diagonal.kept_bytes()
    ff.shapley(game.explaining(X[:3]))
    assert game.forest.diagonal.kept_bytes() == once > 0
    monkeypatch.setattr(diagonal, "KEPT", int(2.5 * once))
    for t in (0.1, 0.2, 0.3, 0.4):
        game.extension().gradient(np.full(COLUMNS, t))
        assert game.forest.diagonal.kept_bytes() <= 2.5 * once


def test_counts_that_do_not_fit_are_not_made(monkeypatch):
    wanted = made(rows=X[:50]).extension().shapley()
    monkeypatch.setattr(diagonal, "COUNTED", 0)
    game = made(rows=X[:50])
    np.testing.assert_allclose(game.extension().shapley(), wanted, atol=1e-12)
    assert game.forest.diagonal.kept_bytes() == 0


@pytest.mark.parametrize("output", [None, "all"])
@pytest.mark.parametrize("background", [X[BACKGROUND], None], ids=["interventional", "dependent"])
def test_points_near_the_ends(output, background):
    game = TreeGame(fitted("boosting of three classes")[0], X[:3], background, output=output or "a")
    closed, table = game.extension(), table_of(game)
    for t in (0.0, 1e-15, 1e-9, LEAST / 2, LEAST, 1 - 1e-12, 1.0):
        x = np.full(COLUMNS, t)
        np.testing.assert_allclose(closed.gradient(x), table.gradient(x), atol=1e-10)
        at = np.array([t, 0.5]), np.array([0.5, 0.5])
        np.testing.assert_allclose(
            closed.hessian_along_diagonal(*at), table.hessian_along_diagonal(*at), atol=1e-8
        )
        np.testing.assert_allclose(
            closed.along_diagonal(*at), table.along_diagonal(*at), atol=1e-10
        )


def test_rows_one_by_one_come_to_use_tables():
    game = made(rows=X[:1])
    wanted = ff.shapley(made(rows=X[:300])).values
    for at in range(300):
        found = ff.shapley(game.explaining(X[at])).values
        np.testing.assert_allclose(found, wanted[at], atol=1e-12)
    assert game.forest.diagonal.kept_bytes() > 0


@pytest.mark.parametrize("background", [X[BACKGROUND], X[:1], None])
def test_both_ends(background):
    game = made(rows=X[:4], background=background)
    both = np.arange(2)[:, None] == np.ones(COLUMNS)
    empty, grand = game.extension().ends()
    np.testing.assert_allclose(np.stack([empty, grand], axis=1), game.worths(both), atol=1e-12)


@pytest.mark.parametrize("output", ["a", "all"])
def test_the_mean_output_comes_from_the_counts_of_tables(output, monkeypatch):
    model, walked = fitted("boosting of three classes")[0], []
    wanted = TreeGame(model, X, X[BACKGROUND], output=output).extension().ends()
    closed = TreeGame(model, X, X[BACKGROUND], output=output).extension()
    closed.shapley()
    monkeypatch.setattr(diagonal, "KEPT", 0)
    monkeypatch.setattr(diagonal, "AT_ONCE", 2000)
    outputs = Forest.outputs
    monkeypatch.setattr(
        Forest, "outputs", lambda own, rows: walked.append(rows.shape[1]) or outputs(own, rows)
    )
    for ours, theirs in zip(closed.ends(), wanted, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)
    assert walked == [len(X)]


def test_a_row_and_a_background_that_call_for_more_tables_than_are_served(monkeypatch):
    model, background = fitted("histogram")[0], np.repeat(X, 10, axis=0)
    wanted = TreeGame(model, X[:2], background).extension().shapley()
    monkeypatch.setattr(diagonal, "KEPT", 12_000)
    monkeypatch.setattr(diagonal, "AT_ONCE", 2000)
    game = TreeGame(model, X[:2], background)
    held = game.forest.diagonal
    held.serve()
    monkeypatch.setattr(held, "_longest", lambda rows: 4)
    assert 0 < held._served < 4
    np.testing.assert_allclose(game.extension().shapley(), wanted, atol=1e-12)
