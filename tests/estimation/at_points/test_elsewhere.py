"""An index is warned of where games within its errors have another one; tests/attacks has wild worths."""

import numpy as np

import brute
import fairfield as ff
from estimation.games import errors, hidden


def test_a_game_of_one_fixed_point_is_not_warned_of(rng):
    table = brute.flid(rng, 10)
    found = ff.variational_index(hidden(table), players=10, temperature=1.0, budget=200)
    assert "several fixed points" not in found.stop
    exact = ff.variational_index(table, temperature=1.0).values
    assert (errors(found, exact) <= 5).all()


def test_of_two_fixed_points_side_by_side_neither_is_sure():
    """Equal players who are only worth something together: from ½ it is a near thing which way it goes."""

    def worths(S):
        size = S.sum(axis=1)
        return 4.0 * (size / 10 - 0.5) ** 2 + 0.02 * np.sin(S @ np.arange(1.0, 11.0) ** 2)

    stops = [
        ff.variational_index(worths, players=10, temperature=0.06, budget=100, seed=seed).stop
        for seed in range(2)
    ]
    assert all("several fixed points" in stop for stop in stops)
