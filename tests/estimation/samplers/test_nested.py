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
    found = ff.owen(worth, unions, players=20, budget=4000, sampler="permutation")
    assert (np.abs(found.values - exact.values) <= 5 * found.stderr + 1e-12).all()
    assert "permutation sampling" in found.method
    assert_allclose(found.values.sum(), exact.values.sum())


def test_an_order_and_its_reverse_are_exact_for_pairs(rng):
    """Of what two players add together, one has it in an order and the other in its reverse."""
    pairs = np.triu(rng.normal(size=(12, 12)), 1)
    unions = {"a": range(4), "b": range(4, 9)}

    def worth(S):
        return np.einsum("ki,ij,kj->k", S * 1.0, pairs, S * 1.0)

    found = ff.owen(worth, unions, players=12, budget=60, sampler="permutation")
    assert_allclose(found.values, (pairs + pairs.T).sum(axis=0) / 2, rtol=0, atol=1e-12)
    assert found.stderr.max() < 1e-12


def test_owens_values_are_not_those_of_a_table_by_size(rng):
    game, unions = ff.TableGame(rng.normal(size=2**9)), {"u": [0, 1]}
    exact = ff.owen(game, unions).values
    found = ff.owen(game.worths, unions, players=9, budget=500, sampler="permutation")
    assert (np.abs(found.values - exact) <= 5 * found.stderr).all()
    assert "every coalition is known" not in found.method
