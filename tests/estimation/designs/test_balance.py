"""Players that are on the same side as often as on different ones."""

import numpy as np
from numpy.testing import assert_array_equal

from fairfield.estimation.designs.balance import ENOUGH, Balance


def together(coalitions):
    """Σ over pairs of players of the square of how often they agree less how often not."""
    Z = np.where(coalitions, 1, -1)
    found = Z.T @ Z
    return np.sum(found**2) - np.sum(np.diag(found) ** 2)


def test_each_change_of_places_brings_players_closer_to_balance(rng):
    balance, asked = Balance(9, rng), np.empty((0, 9), dtype=bool)
    changed = 0
    for size in (4, 4, 3, 2, 4, 1, 8, 5, 4):
        drawn = rng.permutation(9) < size
        found = balance.better(drawn)
        assert_array_equal(found[0], drawn)
        assert {int(each.sum()) for each in found} == {size}
        steps = [together(np.vstack([asked, each])) for each in found]
        assert (np.diff(steps) < 0).all()
        changed += len(found) > 1
        balance.add(found[-1], paired=True)
        asked = np.vstack([asked, found[-1]])
    assert changed > 3


def test_without_complements_every_player_is_in_half_of_them():
    rng = np.random.default_rng(0)
    balance, asked = Balance(8, rng), []
    for _ in range(20):
        asked.append(balance.better(rng.permutation(8) < 4)[-1])
        balance.add(asked[-1], paired=False)
    times = np.sum(asked, axis=0)
    assert times.max() - times.min() <= 2


def test_there_is_an_end_to_it(rng):
    balance = Balance(3, rng)
    balance.add(np.array([True, False, False]), paired=True)
    assert balance.left == ENOUGH * 3 - 1
    assert Balance(10**4, rng).left == 0
