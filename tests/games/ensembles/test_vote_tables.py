"""Tables of shares of right rows, for all coalitions at once."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fairfield as ff
from fairfield.core.coalitions import enumerate_coalitions


@pytest.mark.parametrize("vote", ["soft", "hard"])
@pytest.mark.parametrize("classes", [2, 3, 5])
def test_the_fast_table_is_the_worths_one_by_one(vote, classes, rng):
    chances = rng.dirichlet(np.ones(classes), (7, 60))
    chances[1] = chances[0]  # equal models make exact ties
    game = ff.EnsembleGame(chances, None, rng.integers(0, classes, 60), vote=vote)
    assert_allclose(game.table(), game.worths(enumerate_coalitions(7)), atol=1e-14)


def test_ties_that_float32_cannot_tell_are_settled_in_float64(rng):
    """Two models whose votes cancel up to 1e-8, in either direction."""
    truth = np.zeros(40, dtype=int)
    first = np.stack([np.full(40, 0.5 + 0.1), np.full(40, 0.5 - 0.1)], axis=1)
    tilt = np.where(np.arange(40) % 2, 1e-8, -1e-8)
    second = np.stack([0.4 + tilt, 0.6 - tilt], axis=1)
    game = ff.EnsembleGame(np.stack([first, second]), None, truth, labels=[0, 1])
    assert_allclose(game.table(), game.worths(enumerate_coalitions(2)))
    assert game.table()[3] == 0.5


def test_blocks_and_kept_sums_do_not_change_the_table(rng, monkeypatch):
    from fairfield.games.ensembles import vote_tables

    chances = rng.dirichlet(np.ones(3), (6, 50))
    game = ff.EnsembleGame(chances, None, rng.integers(0, 3, 50))
    wanted = game.table()
    monkeypatch.setattr(vote_tables, "BLOCK", 300)
    monkeypatch.setattr(vote_tables, "KEPT", 500)
    assert_allclose(game.table(), wanted)


def test_close_cases_are_settled_as_they_come(rng, monkeypatch):
    """Votes in thirds tie everywhere, and only a few of the ties wait at any time."""
    from fairfield.games.ensembles import vote_tables

    game = ff.EnsembleGame(rng.integers(0, 4, (7, 60)) / 3, None, rng.integers(0, 2, 60))
    waited, settle = [], vote_tables._settle

    def counted(right, margins, least, close):
        waited.append(sum(cases.shape[1] for cases in close))
        settle(right, margins, least, close)

    monkeypatch.setattr(vote_tables, "_settle", counted)
    monkeypatch.setattr(vote_tables, "BLOCK", 60)
    monkeypatch.setattr(vote_tables, "WAITING", 100)
    assert_allclose(game.table(), game.worths(enumerate_coalitions(7)), atol=1e-14)
    assert sum(waited) > 500
    assert max(waited) <= 160


def test_sums_that_float32_holds_exactly_leave_no_case_open(rng, monkeypatch):
    from fairfield.games.ensembles import vote_tables

    def settle(right, margins, least, close):
        assert not close

    monkeypatch.setattr(vote_tables, "_settle", settle)
    game = ff.EnsembleGame(rng.integers(0, 5, (7, 60)) / 4, None, rng.integers(0, 2, 60))
    assert_allclose(game.table(), game.worths(enumerate_coalitions(7)), atol=1e-14)
