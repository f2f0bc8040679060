"""Machine code gives what the recursions in NumPy give, and those give the table's."""

import numpy as np
import pytest

from fairfield.games.textbook import weighted_sums
from fairfield.games.textbook.voting import whole_votes
from games.examples import assert_same

pytest.importorskip("numba")


@pytest.mark.parametrize("shared", [True, False])
def test_loops_are_the_recursions(shared, rng, monkeypatch):
    weights = rng.integers(-4, 9, (1 if shared else 12, 7)).astype(float)
    weights[0, 2] = 0.0
    quotas = rng.integers(-6, 30, 12)
    votes = whole_votes(np.broadcast_to(weights, (12, 7)), quotas, 100)
    closed = votes.extension("", rng.random(12))
    x = rng.random((9, 7))
    x[::3, :2], x[1::3, 3:5] = 0.0, 1.0
    expected = closed.centred(x)
    monkeypatch.setattr(weighted_sums, "MANY", 0)
    value, gradient = closed.centred(x)
    assert_same(value, expected[0])
    assert_same(gradient, expected[1])
    assert_same(closed.value(x[0]), expected[0][0])
