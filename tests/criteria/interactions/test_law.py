"""Interactions in the law of coalitions: log-odds and block gains."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize

import brute
import fairfield as ff
from boltzmann import known_laws
from fairfield.mcmc.sampler import Run


def log_odds_interaction(p, members):
    z = brute.coalitions(len(p).bit_length() - 1)[:, list(members)]
    total = 0.0
    for corner in brute.coalitions(len(members)):
        sign = (-1.0) ** (len(members) - corner.sum())
        total += sign * np.log(p[(z == corner).all(axis=1)].sum())
    return total


@pytest.mark.parametrize("order", [1, 2, 3])
def test_log_odds_interactions_are_their_definition(order, rng):
    table = brute.mixed(rng, 7)
    p = brute.boltzmann(table, 0.6)
    found = ff.interactions(table, "log_odds", order=order, temperature=0.6)
    wanted = [0.6 * log_odds_interaction(p, s) for s in combinations(range(7), order)]
    assert_allclose(found.values, wanted, atol=1e-10)
    if order == 1:
        value = ff.free_energy_value(table, temperature=0.6)
        assert_allclose(found.values, value.values, atol=1e-10)
    if order == 2:
        both = ff.Boltzmann(table, 0.6).pair_marginals
        one = np.diag(both)
        odds = both * (1 - one[:, None] - one + both)
        odds /= (one[:, None] - both) * (one - both) + np.eye(7)
        i, j = np.triu_indices(7, 1)
        assert_allclose(found.values, 0.6 * np.log(odds[i, j]), atol=1e-9)


def test_log_odds_interactions_of_a_pairwise_pair_are_its_coupling():
    """Two players alone: the law has no one to sum over."""
    found = ff.interactions(ff.PairwiseGame([1, 2], [[0, 3], [3, 0]]), "log_odds", temperature=0.7)
    assert_allclose(found.values, [3.0], atol=1e-12)


def best_with_a_block(table, block, temperature, starts=10):
    """min KL(q_A Π q_i ‖ p), by a general optimiser over logits from many starts."""
    n = len(table).bit_length() - 1
    z = brute.coalitions(n)
    rest = [i for i in range(n) if i not in block]
    rows = z[:, list(block)] @ (1 << np.arange(len(block)))
    log_p = np.log(brute.boltzmann(table, temperature))

    def gap(theta):
        joint, x = theta[: 2 ** len(block)], 1 / (1 + np.exp(-theta[2 ** len(block) :]))
        q_block = np.exp(joint - joint.max())
        q = (q_block / q_block.sum())[rows] * np.where(z[:, rest], x, 1 - x).prod(axis=1)
        return np.sum(q * (np.log(np.maximum(q, 1e-300)) - log_p))

    rng = np.random.default_rng(0)
    size = 2 ** len(block) + len(rest)
    return min(minimize(gap, 0.5 * rng.normal(size=size)).fun for _ in range(starts))


@pytest.mark.parametrize("block", [(0, 1), (1, 3, 4)])
def test_a_block_gain_is_how_much_the_decoupling_error_falls(block, rng):
    table = brute.flid(rng, 5)
    v = ff.variational_index(table, temperature=1.0)
    found = ff.interactions(table, "block_gain", order=len(block), among=[block], temperature=1.0)
    best = best_with_a_block(table, block, 1.0)
    assert_allclose(v.decoupling_error - found.values, [best], atol=1e-7)
    assert found.values[0] > 1e-4


def test_the_block_of_all_players_gains_the_whole_decoupling_error(rng):
    table = brute.mixed(rng, 4)
    v = ff.variational_index(table, temperature=1.0)
    found = ff.interactions(table, "block_gain", order=4, temperature=1.0)
    assert_allclose(found.values, [v.decoupling_error], atol=1e-10)


tables = st.lists(st.floats(-3, 3), min_size=16, max_size=16).map(np.array)


@given(tables, st.floats(0.2, 3.0))
@settings(max_examples=8, deadline=None)
def test_gains_are_never_negative_and_bounded_by_the_decoupling_error(table, temperature):
    v = ff.variational_index(table, temperature=temperature)
    gains = ff.interactions(table, "block_gain", temperature=temperature).values
    assert (gains >= 0).all()
    assert (gains <= v.decoupling_error + 1e-9).all()


@given(
    tables, st.floats(0.2, 3.0), st.sampled_from(["variational_index", "log_odds", "block_gain"])
)
@settings(max_examples=15, deadline=None)
def test_a_null_player_interacts_with_nobody(table, temperature, criterion):
    grown = np.concatenate([table[:8], table[:8]])  # player 3 changes nothing
    found = ff.interactions(grown, criterion, temperature=temperature)
    apart = [v for c, v in zip(found.coalitions, found.values, strict=True) if 3 in c]
    assert_allclose(apart, 0, atol=1e-9)


def test_independent_blocks_do_not_interact(rng):
    game = known_laws.random_blocks(rng, blocks=2, each=3)
    for criterion in ("log_odds", "block_gain", "variational_index"):
        matrix = ff.interactions(game, criterion, temperature=1.0).matrix()
        assert_allclose(matrix[:3, 3:], 0, atol=1e-9)
        assert np.abs(matrix[:3, :3]).max() > 1e-3


def test_batches_are_games_one_by_one(rng):
    tables = rng.standard_normal((3, 2**4))
    for criterion in ("log_odds", "block_gain"):
        found = ff.interactions(tables, criterion, temperature=1.0)
        alone = ff.interactions(tables[2], criterion, temperature=1.0)
        assert_allclose(found.values[2], alone.values, atol=1e-8)


def test_log_odds_of_a_sampled_law_have_errors(rng):
    game = known_laws.two_modes(rng, blocks=6, each=5)
    found = ff.interactions(game, "log_odds", among=range(7), temperature=1.0, budget=60_000)
    block = known_laws.BlocksGame(game.tables[:1])
    exact = ff.interactions(block, "log_odds", temperature=1.0).matrix()
    wanted = np.zeros((30, 30))
    wanted[:5, :5] = exact
    pairs = np.array(found.coalitions)
    gap = np.abs(found.values - wanted[pairs[:, 0], pairs[:, 1]])
    known = pairs[:, 0] < 5  # of the first block, or across blocks
    assert (gap[known] <= 5 * found.stderr[known]).all()
    assert "±" in repr(found)
    with pytest.raises(ValueError, match="order=2"):
        ff.interactions(game, "log_odds", order=3, among=range(4), temperature=1.0)


def test_interactions_of_the_index_that_a_start_leads_to():
    """F = 1[S=N] - 0.3|S| at T = 0.05: one law has almost nobody inside, the other everybody."""
    table = np.array([-0.3 * bin(s).count("1") + (s == 7) for s in range(8)])
    for top in (None, 3):
        few, many = (
            ff.interactions(table, "variational_index", temperature=0.05, start=start, top=top)
            for start in (0.5, 0.99)
        )
        assert_allclose(few.values, 0.0025, atol=1e-4)
        assert_allclose(many.values, 1.0, atol=1e-4)
    law = ff.Boltzmann(table, 0.05)
    for start in (0.5, 0.99):
        gain = ff.interactions(table, "block_gain", order=3, temperature=0.05, start=start)
        index = ff.variational_index(table, temperature=0.05, start=start)
        assert_allclose(gain.values, law.decoupling_error(index))


def test_errors_of_sampled_log_odds_grow_with_shared_ancestors(monkeypatch, rng):
    """As those of the marginals they are made from do."""
    game = known_laws.two_modes(rng, blocks=6, each=5)
    errors = []
    for inflation in (1.0, 1.2):
        monkeypatch.setattr(Run, "inflation", inflation)
        found = ff.interactions(game, "log_odds", among=range(4), temperature=1.0, budget=20_000)
        errors.append(found.stderr)
    assert_allclose(errors[1], 1.2 * errors[0])
