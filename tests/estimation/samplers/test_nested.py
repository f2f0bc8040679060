"""Orders that keep unions together."""

import numpy as np
from numpy.testing import assert_allclose

import fairfield as ff


def test_a_budget_below_these_coalitions_is_spent_on_orders():
    unions = {k: range(2 * k, 2 * k + 2) for k in range(10)}
    steps = np.linspace(0.1, 1, 20)

    def worth(S):
        return np.sqrt(1 + S @ steps) + S[:, 0] * S[:, 7] - S[:, 2] * S[:, 3]

    exact = ff.owen(worth, unions, players=20)
    assert exact.evaluations == 10 * 2**9 * 2 + 2**10
    found = ff.owen(worth, unions, players=20, budget=4000)
    assert (np.abs(found.values - exact.values) <= 5 * found.stderr + 1e-12).all()
    assert "permutation sampling" in found.method
    assert_allclose(found.values.sum(), exact.values.sum())
