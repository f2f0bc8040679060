"""Values under a law of each player's own, against their definition."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import brute
import fairfield as ff


def defined(table, law):
    """Σ_{S ∌ i} p_i(S) [F(S+i) - F(S)], p_i(S) by the law of the row of S."""
    n = len(table).bit_length() - 1
    coalitions = brute.coalitions(n)
    return np.array([law(i, coalitions[~coalitions[:, i]]) @ brute.contributions(table, i)[0] for i in range(n)])  # fmt: skip


def product(points):
    def law(player, coalitions):
        kept = np.where(coalitions, points[player], 1 - points[player])
        return np.delete(kept, player, axis=1).prod(axis=1)

    return law


def drawn(player, coalitions):
    """Any law at all, another for each player."""
    chance = np.random.default_rng(player).random(len(coalitions))
    return chance / chance.sum()


def test_any_law_is_its_definition(rng):
    tables = rng.standard_normal((3, 2**6)) + 100
    found = ff.probabilistic_value(ff.TableGame(tables), drawn).values
    assert_allclose(found, [defined(table, drawn) for table in tables], atol=1e-10)


def test_product_laws_of_tables_and_of_closed_forms(rng):
    points = rng.random((7, 7))
    points[0], points[1] = 0.0, 1.0
    for game in (
        ff.FLIDGame(rng.standard_normal(7), rng.random((7, 4))),
        ff.VotingGame([5, 3, 2, 2, 1, 1, 1], 8),
    ):
        table = game.worths(brute.coalitions(7)).astype(float)
        expected = defined(table, product(points))
        for played in (game, ff.TableGame(table)):
            found = ff.probabilistic_value(played, points)
            assert_allclose(found.values, expected, atol=1e-10)
        by_law = ff.probabilistic_value(ff.TableGame(table), product(points))
        assert_allclose(by_law.values, expected, atol=1e-10)
        same = ff.probabilistic_value(game, points[3])
        assert_allclose(same.values, brute.gradient(table, points[3]), atol=1e-10)


def test_known_values_are_among_them(rng):
    table = rng.standard_normal(2**5)
    assert_allclose(ff.probabilistic_value(table, [0.5] * 5).values, ff.banzhaf(table).values)
    step = ff.variational_values(table, 1, start=0.3, temperature=1.0)
    assert_allclose(ff.probabilistic_value(table, np.full(5, 0.3)).values, step.values)
    weights = brute.beta_weights(5, 1, 1)
    by_size = ff.probabilistic_value(table, lambda player, S: np.asarray(weights)[S.sum(axis=1)])
    assert_allclose(by_size.values, ff.shapley(table).values)


def test_errors_of_the_worths_are_passed_on(rng):
    game = ff.TableGame(rng.standard_normal(16), variances=rng.random(16))
    half = ff.probabilistic_value(game, [0.5] * 4)
    assert_allclose(half.covariance, ff.banzhaf(game).covariance)
    by_law = ff.probabilistic_value(game, lambda player, S: np.full(len(S), 1 / len(S)))
    assert_allclose(by_law.stderr, half.stderr)


def test_what_is_no_law_is_refused():
    table = [0.0, 1.0, 1.0, 3.0]
    for chances, expected in (
        ([0.5], "2 players need 2, or a row of 2"),
        ([0.5, 1.5], "from 0 to 1"),
        (lambda player, S: np.ones(len(S)), "it adds up to 2; divide"),
        (lambda player, S: [1.0], r"shape \(1,\) for 2 coalitions"),
    ):
        with pytest.raises(ValueError, match=expected):
            ff.probabilistic_value(table, chances)
    with pytest.raises(ValueError, match="give such chances, or a table"):
        ff.probabilistic_value(ff.VotingGame([1, 1], 1), lambda player, S: np.full(len(S), 0.5))
    with pytest.raises(MemoryError, match="budget"):
        ff.probabilistic_value(lambda S: S.sum(axis=1), [0.5] * 60, players=60)


def test_a_law_may_write_into_what_it_is_given(rng):
    table = rng.normal(size=16)

    def law(player, coalitions):
        coalitions[...] = True
        return np.full(len(coalitions), 1 / 8)

    assert_allclose(ff.probabilistic_value(table, law).values, ff.banzhaf(table).values)
