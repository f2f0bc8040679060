"""Leaving one player out: n + 2 worths."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import fairfield as ff


def test_leaving_one_out_needs_few_worths_of_many_players(tmp_path):
    seen = []

    def worth(S):
        seen.append(len(S))
        return S @ np.arange(60.0) + 3 * S.all(axis=1)

    found = ff.leave_one_out(worth, players=60)
    assert_allclose(found.values, np.arange(60.0) + 3)
    assert (found.evaluations, sum(seen)) == (62, 62)
    assert (found.empty, found.grand) == (0, np.arange(60).sum() + 3)
    assert ff.leave_one_out(worth, players=60, n_jobs=2).evaluations == 62
    with pytest.raises(ValueError, match=r"needs 62 worths, the budget allows 61"):
        ff.leave_one_out(worth, players=60, budget=61)
    with pytest.raises(MemoryError, match=r"2\^60 worths"):
        ff.leave_one_out(worth, players=60, temperature=1.0)


def test_leaving_one_out_agrees_with_the_table(noisy_game, tmp_path):
    store = tmp_path / "worths.db"
    alone = ff.leave_one_out(noisy_game, store=store)
    within = ff.leave_one_out(noisy_game, store=store, temperature=1.0)
    assert (alone.evaluations, within.evaluations) == (6, 10)
    assert_array_equal(alone.values, within.values)
    assert_allclose(alone.stderr, within.stderr, rtol=1e-12)
    assert_array_equal(alone.empty, within.empty)
    assert within.marginals is not None
    both = ff.compare(noisy_game, criteria=["leave_one_out", "banzhaf"])
    assert_allclose(both["leave_one_out"].values, alone.values, atol=1e-14)


def test_leave_one_out_is_what_is_lost(rng):
    table = rng.standard_normal(2**5)
    lost = [table[-1] - table[31 - (1 << i)] for i in range(5)]
    assert_allclose(ff.leave_one_out(table).values, lost, atol=1e-14)
