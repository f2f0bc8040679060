"""Choosing a temperature, and following the index as it falls."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import brute
import fairfield as ff
from boltzmann import known_laws
from fairfield.mean_field.continuation import predicted
from fairfield.multilinear.table import TableExtension


@pytest.mark.parametrize("share", [0.05, 0.5, 0.95])
def test_a_concentration_is_reached(share, rng):
    tables = rng.standard_normal((3, 2**6))
    v = ff.banzhaf(tables, temperature=ff.concentrated(share))
    x = v.marginals
    open_share = -(x * np.log2(x) + (1 - x) * np.log2(1 - x))
    weights = np.abs(v.values) / np.abs(v.values).sum(axis=1, keepdims=True)
    assert_allclose(np.sum(weights * (1 - open_share), axis=1), share, atol=1e-9)


def test_null_players_and_the_unit_of_worth_do_not_matter(rng):
    table = rng.standard_normal(2**5)
    temperature = ff.banzhaf(table, temperature=ff.concentrated(0.5)).temperature
    grown = ff.banzhaf(np.concatenate([table, table]), temperature=ff.concentrated(0.5))
    assert_allclose(grown.temperature, temperature, rtol=1e-9)
    scaled = ff.banzhaf(1e6 * table, temperature=ff.concentrated(0.5))
    assert_allclose(scaled.temperature, 1e6 * temperature, rtol=1e-9)


def test_concentrations_that_cannot_be_reached_are_refused():
    for share in (0.0, 1.0, -1.0, np.nan):
        with pytest.raises(ValueError, match="between 0 and 1"):
            ff.concentrated(share)
    with pytest.raises(ValueError, match="Banzhaf value"):
        ff.banzhaf(np.array([0.0, 1.0, 1.0, 0.0]), temperature=ff.concentrated(0.5))
    # Worths that are the same of a coalition and of all others: only rounding is left.
    half = np.random.default_rng(0).random((5, 2**6))
    for table in (half + half[:, ::-1]) / 3:
        with pytest.raises(ValueError, match="every Banzhaf value is 0"):
            ff.banzhaf(table, temperature=ff.concentrated(0.5))


def test_the_temperature_of_a_mean_payoff_is_found_by_sampling():
    game, _ = known_laws.ferromagnet(60, coupling=1.0, field=0.4)
    law = ff.Boltzmann.from_mean(game, 5.0, budget=25_000)
    size = np.arange(61)
    worth = game.linear[0] * size + game.quadratic[0, 1] * size * (size - 1) / 2
    from scipy.special import gammaln

    logs = -gammaln(size + 1) - gammaln(61 - size) + worth / law.temperature
    weights = np.exp(logs - logs.max())
    exact = weights @ worth / weights.sum()
    assert abs(exact - law.mean) <= 5 * law.stderr("mean")
    assert abs(exact - 5.0) <= 6 * law.stderr("mean")
    with pytest.raises(ValueError, match="must lie above"):
        ff.Boltzmann.from_mean(game, -100.0)
    alike = ff.PairwiseGame(np.ones(26), np.zeros((26, 26)))
    with pytest.raises(ValueError, match="no temperature was found"):
        ff.Boltzmann.from_mean(alike, 27.0, budget=40_000)


def test_observed_coalitions_set_the_temperature_of_largest_likelihood(rng):
    table = brute.mixed(rng, 6)
    seen = ff.Boltzmann(table, 0.8).draw(500, seed=1)
    law = ff.Boltzmann.from_coalitions(table, seen)
    best = law.log_likelihood(seen).mean()
    for factor in (0.99, 1.01):
        other = ff.Boltzmann(table, factor * law.temperature)
        assert other.log_likelihood(seen).mean() < best
    assert 0.6 < law.temperature < 1.1
    with pytest.raises(ValueError, match="with 6 columns"):
        law.log_likelihood([[0, 1]])


def test_the_prediction_is_of_second_order(rng):
    """dθ/dβ = (I - βHD)⁻¹ g: halving the step quarters what is left."""
    table = brute.mixed(rng, 6)
    f = TableExtension.of(ff.TableGame(table))
    x = ff.variational_index(table, temperature=2.0).marginals
    left = []
    for step in (0.04, 0.02):
        colder = 2.0 - step
        ahead = predicted(f, x, np.asarray(2.0), np.asarray(colder))
        left.append(np.abs(ahead - ff.variational_index(table, temperature=colder).marginals).max())
    assert 3.5 < left[0] / left[1] < 4.6


def test_critical_temperatures_are_where_the_answer_splits():
    two = ff.annealing([0.0, 1.0, 1.0, 0.0], [2.0, 1.0, 0.6, 0.4, 0.2])
    assert_allclose(two.critical, [0.5], rtol=1e-6)
    assert "critical temperatures: 0.5" in repr(two)
    game, _ = known_laws.ferromagnet(50, coupling=8.0, field=0.0)
    split = ff.annealing(game, np.geomspace(5, 1, 9), criteria="variational_index")
    assert_allclose(split.critical, [8.0 / 4 * 49 / 50], rtol=1e-4)


def test_a_jump_is_critical_too():
    """All together or nobody: the branch on which nobody joins ends as players get cold feet."""
    game, _ = known_laws.ferromagnet(30, coupling=8.0, field=0.0)
    start = ff.annealing(game + _tilted(30), np.geomspace(4, 0.5, 15), criteria="variational_index")
    path = start.marginals()
    jumps = np.abs(np.diff(path, axis=0)).max(axis=1)
    smooth = ff.annealing(ff.PairwiseGame(np.ones(4), np.zeros((4, 4))))
    assert smooth.critical == ()
    assert len(start.critical) >= (jumps > 0.5).sum()


def _tilted(players):
    return ff.PairwiseGame(np.linspace(-0.5, 0.3, players), np.zeros((players, players)))


def test_no_coalitions_tell_no_temperature():
    with pytest.raises(ValueError, match="no coalitions were given"):
        ff.Boltzmann.from_coalitions([0.0, 1.0], np.zeros((0, 1)))
