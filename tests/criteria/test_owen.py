"""Owen's value against its definition, the mean over all orders that keep unions together."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import brute
import fairfield as ff
from estimation.games import hidden

SIX = {"left": [0, 1, 2], "right": [3, 4]}
DEEP = {"a": {"b": [0, 3], "c": [1, 5, 6], "d": [2]}, "e": [4]}


@pytest.mark.parametrize(
    ("n", "unions", "runs"),
    [
        (6, SIX, SIX.values()),
        (6, [0, 0, 1, 2, 1, 1], [[0, 1], [2, 4, 5]]),
        (7, DEEP, [[0, 3], [1, 5, 6], [0, 1, 2, 3, 5, 6]]),
        (3, {"all": {"of": [0, 1, 2]}}, []),
        (1, {}, []),
    ],
)
def test_tables_functions_and_closed_forms_are_the_mean_over_orders(n, unions, runs, rng):
    table = rng.normal(size=2**n)
    expected = brute.owen(table, runs)
    assert_allclose(ff.owen(table, unions).values, expected, rtol=0, atol=1e-12)
    found = ff.owen(hidden(table), unions, players=n)
    assert_allclose(found.values, expected, rtol=0, atol=1e-12)
    assert (found.empty, found.grand, found.stop) == (table[0], table[-1], "exact")
    closed = ff.FLIDGame(rng.random(n), rng.random((n, 3)))
    expected = brute.owen(closed.worths(brute.coalitions(n)), runs)
    assert_allclose(ff.owen(closed, unions).values, expected, rtol=0, atol=1e-12)


def test_only_the_coalitions_of_unions_are_evaluated(rng):
    """30 players in 6 unions: 5 824 worths instead of 2^30, and no worth twice."""
    weights, seen = rng.normal(size=30), []

    def worth(S):
        seen.extend(map(bytes, S))
        return (S @ weights) ** 2

    found = ff.owen(worth, {k: range(5 * k, 5 * k + 5) for k in range(6)}, players=30)
    assert found.evaluations == len(seen) == len(set(seen)) == 6 * 2**5 * 30 + 2**6
    # Of what a pair adds each has a half, in whatever unions.
    assert_allclose(found.values, weights * weights.sum(), rtol=0, atol=1e-10)


def test_a_closed_form_takes_unions_of_any_size(rng):
    """40 voters in three blocks; the blocks have Shapley's values of the game between them."""
    weights = rng.integers(1, 10, size=40)
    unions = {"one": range(10), "two": range(10, 28), "three": range(28, 39)}
    found = ff.owen(ff.VotingGame(weights, quota=weights.sum() // 2 + 1), unions).values
    blocks = [weights[list(u)].sum() for u in unions.values()] + [weights[39]]
    between = ff.shapley(ff.VotingGame(blocks, quota=weights.sum() // 2 + 1)).values
    sums = [found[list(u)].sum() for u in unions.values()] + [found[39]]
    assert_allclose(sums, between, rtol=0, atol=1e-10)


def test_batches_temperatures_and_the_errors_of_worths(rng):
    tables = rng.normal(size=(2, 3, 2**6))
    found = ff.owen(tables, SIX, temperature=1.0)
    assert_allclose(found.values[1, 2], ff.owen(tables[1, 2], SIX).values, rtol=0, atol=1e-14)
    assert found.decoupling_error.shape == (2, 3)
    noisy = ff.TableGame(tables[0, 0], variances=np.full(2**6, 0.01))
    weights = ff.owen(np.eye(2**6), SIX).values  # of each worth in each value
    expected = 0.01 * weights.T @ weights
    assert_allclose(ff.owen(noisy, SIX).covariance, expected, rtol=0, atol=1e-15)


def test_unions_are_named_or_listed(rng):
    table = rng.standard_normal(2**4)
    named = ff.owen(table, {"left": [0, 2], "right": [1]})
    for other in ([[0, 2], [1]], [{0, 2}, {1}], ["left", "right", "left", "alone"]):
        assert_allclose(ff.owen(table, other).values, named.values)


def test_too_many_worths_are_refused_in_one_sentence():
    with pytest.raises(MemoryError, match=r"need .* worths; divide large unions"):
        ff.owen(lambda S: S[:, 0], {"a": range(30)}, players=60)
