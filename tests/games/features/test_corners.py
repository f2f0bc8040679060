"""The model is asked for each corner once, in calls of bounded size."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import brute
import fairfield as ff
from fairfield.games.features import corners as asking
from fairfield.games.features import subcubes
from games.features.models import Counted, curved, definition


@settings(max_examples=60, deadline=None)
@given(
    players=st.integers(1, 7),
    rows=st.integers(1, 12),
    values=st.integers(1, 5),
    seed=st.integers(0, 10_000),
    room=st.sampled_from([1, 3, 8, 40, 2**18]),
)
def test_subcubes_equal_the_definition(players, rows, values, seed, room):
    """With ties of every degree and buffers from one row to many; each row is asked once."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, values, (3, players)).astype(float)
    background = rng.integers(0, values, (rows, players)).astype(float)
    model = Counted(curved)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asking, "MOST_ROWS", room)
        table = ff.FeatureGame(model, X, background).table()
    assert_allclose(table, [definition(curved, x, background) for x in X], atol=1e-12)
    if room == 2**18:
        per_row = [
            {tuple(np.where(S, x, b)) for b in background for S in brute.coalitions(players)}
            for x in X
        ]
        assert len(model.rows) == sum(map(len, per_row))
    assert max(map(len, model.seen)) <= room


def test_models_may_work_in_place_and_answer_in_one_buffer(rng, monkeypatch):
    rows, others = rng.standard_normal((3, 5)), rng.standard_normal((6, 5))
    held = np.empty(2**18)

    def reckless(X):
        held[: len(X)] = curved(X)
        X *= -1
        return held[: len(X)]

    monkeypatch.setattr(asking, "FIRST_CALL", 4)
    game, calm = ff.FeatureGame(reckless, rows, others), ff.FeatureGame(curved, rows, others)
    told = game.describe()
    assert told["data"] == calm.describe()["data"] == game.describe()["data"]
    assert_allclose(game.table(), calm.table(), atol=1e-12)
    coalitions = brute.coalitions(5)
    assert_allclose(game.worths(coalitions), calm.worths(coalitions), atol=1e-12)


def test_many_values_per_column_need_several_keys(rng, monkeypatch):
    """Where one key cannot tell the values of all columns, several do."""
    background = np.repeat(rng.permutation(60)[:, None], 6, axis=1) // 2 * 1.0
    background = rng.permuted(background, axis=0)
    model = Counted(curved)
    wanted = ff.FeatureGame(model, background[0] + 0.5, background).table()
    once = len(model.rows)
    monkeypatch.setattr(subcubes, "LARGEST_KEY", 40)
    monkeypatch.setattr(asking, "LARGEST_KEY", 40)
    model.seen.clear()
    assert_allclose(ff.FeatureGame(model, background[0] + 0.5, background).table(), wanted)
    assert len(model.rows) == once == len(np.unique(model.rows, axis=0))


def test_progress_and_a_long_run_are_reported(rng, capsys, monkeypatch):
    from fairfield.games.features import game as features

    monkeypatch.setattr(asking, "FIRST_CALL", 100)
    model = Counted(curved)
    game = ff.FeatureGame(model, rng.standard_normal((3, 6)), rng.standard_normal((5, 6)))
    ff.shapley(game, progress=False)
    # The corner that is all of the explained row is shared by its 5 background rows.
    assert list(map(len, model.seen)) == [100, 400, 960 - 500 - 3 * 4]
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(features, "LONG", 0.0)
    ff.shapley(game, progress=True)
    shown = capsys.readouterr()
    assert "960 model rows, about" in shown.err
    assert shown.out == ""
    ff.shapley(game)  # not on a terminal
    assert capsys.readouterr().err == ""
    assert game.model_rows() == 960
