"""Conditioning and marginalising games of any size: slices and sums of the joint law."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import logsumexp

import brute
import fairfield as ff
from boltzmann import known_laws
from fairfield.boltzmann.marginal import MarginalGame
from fairfield.games.given.conditioned import ConditionedGame
from fairfield.mcmc.landscape import from_extension
from games import examples


@pytest.mark.parametrize("kind", ["voting", "FLID, signed", "pairs, sparse", "coverage", "a sum"])
def test_a_face_of_a_closed_form_is_that_of_its_table(kind, rng):
    game = examples.GAMES[kind]()
    n = len(game.players)
    held, barred = np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
    held[[1, 4]], barred[3] = True, True
    part = ConditionedGame(game, held, barred)
    rest = ~(held | barred)
    assert part.players == tuple(np.flatnonzero(rest))
    z = brute.coalitions(n)
    some = (z[:, held].all(axis=1)) & ~z[:, barred].any(axis=1)
    table = game.worths(z)[some]
    assert_allclose(part.worths(brute.coalitions(n - 3)), table, atol=1e-12)
    f, x = part.extension(), rng.random((2, n - 3))
    for at in x:
        assert_allclose(f.value(at), brute.value(table, at), atol=1e-10)
        assert_allclose(f.gradient(at), brute.gradient(table, at), atol=1e-10)
    assert_allclose(f.hessian(x)[1], brute.hessian(table, x[1]), atol=1e-9)
    assert part.describe() != ConditionedGame(game, barred, held).describe()


@pytest.mark.parametrize("with_prior", [False, True])
def test_a_marginal_game_sums_over_those_removed(with_prior, rng):
    game = ff.PairwiseGame(rng.normal(size=7), examples.symmetric(7))
    prior = rng.normal(size=7) if with_prior else None
    gone = np.isin(np.arange(7), [2, 5])
    part = MarginalGame(game, from_extension(game.extension()), gone, 0.6, prior)
    z, small = brute.coalitions(7), brute.coalitions(5)
    log_prior = np.zeros(128)
    if with_prior:
        log_prior = (z * prior - np.logaddexp(0, prior))[:, gone].sum(axis=1)
    logs = game.worths(z) / 0.6 + log_prior
    wanted = [0.6 * logsumexp(logs[(z[:, ~gone] == s).all(axis=1)]) for s in small]
    assert_allclose(part.worths(small), wanted, atol=1e-12)
    worths, steps = part.contributions(small)
    assert_allclose(worths, wanted, atol=1e-12)
    for i in range(5):
        into, out = small.copy(), small.copy()
        into[:, i], out[:, i] = True, False
        assert_allclose(steps[:, i], part.worths(into) - part.worths(out), atol=1e-10)


players = st.integers(0, 4)


@given(st.lists(st.floats(-4, 4), min_size=32, max_size=32), st.sets(players, max_size=2), players)
@settings(max_examples=40, deadline=None)
def test_conditioning_then_marginalising_is_a_slice_of_the_joint(table, removed, fixed):
    law = ff.Boltzmann(np.array(table), 0.7)
    removed = removed - {fixed}
    there = law.condition(inside=[fixed]).marginalise(removed)
    back = law.marginalise(removed).condition(inside=[fixed])
    z = brute.coalitions(5)
    p = brute.boltzmann(np.array(table), 0.7) * z[:, fixed]
    kept = [i for i in range(5) if i != fixed and i not in removed]
    small = brute.coalitions(len(kept))
    joint = np.array([p[(z[:, kept] == s).all(axis=1)].sum() for s in small]) / p.sum()
    assert_allclose(there.probability(small), joint, atol=1e-12)
    assert_allclose(back.probability(small), joint, atol=1e-12)
    assert_allclose(law.marginalise(removed).log_z, law.log_z, rtol=1e-12)


@pytest.fixture
def blocks(rng):
    return known_laws.two_modes(rng, blocks=6, each=5)


def test_a_large_law_conditioned_to_a_small_one_is_exact(blocks):
    law = ff.Boltzmann(blocks, 1.0)
    part = law.condition(inside=[0, 7], outside=range(10, 25))
    assert part.game.players == (1, 2, 3, 4, 5, 6, 8, 9, 25, 26, 27, 28, 29)
    assert part.stderr() == 0
    last = known_laws.BlocksGame(blocks.tables[-1:])
    assert_allclose(part.marginals[-5:], last.marginals(1.0), rtol=1e-10)
    first = ff.Boltzmann(blocks.tables[0], 1.0).condition(inside=[0])
    assert_allclose(part.marginals[:4], first.marginals, rtol=1e-10)


def test_a_large_law_conditioned_to_a_large_one_is_sampled(blocks):
    part = ff.Boltzmann(blocks, 1.0, budget=25_000).condition(inside=[0], outside=[29])
    ends = [
        ff.Boltzmann(blocks.tables[0], 1.0).condition(inside=[0]),
        ff.Boltzmann(blocks.tables[5], 1.0).condition(outside=[4]),
    ]
    middle = known_laws.BlocksGame(blocks.tables[1:5])
    exact = middle.log_z(1.0) + sum(end.log_z for end in ends)
    assert abs(part.log_z - exact) <= 5 * part.stderr()
    marginals = np.concatenate([ends[0].marginals, middle.marginals(1.0), ends[1].marginals])
    assert (np.abs(part.marginals - marginals) <= 5 * part.stderr("marginals")).all()


@pytest.mark.parametrize("removed", [[3, 8], range(20)])
def test_marginalising_a_large_law_keeps_log_z_and_the_rest(blocks, removed):
    law = ff.Boltzmann(blocks, 1.0, budget=25_000)
    rest = law.marginalise(removed)
    assert rest.game.players == tuple(i for i in range(30) if i not in removed)
    assert abs(rest.log_z - blocks.log_z(1.0)) <= 5 * rest.stderr()
    kept = np.array(rest.game.players)
    wanted = blocks.marginals(1.0)[kept]
    assert (np.abs(rest.marginals - wanted) <= 5 * rest.stderr("marginals")).all()
    assert rest.draw(3).shape == (3, len(kept))
    assert rest.pair_marginals.shape == rest.stderr("pair_marginals").shape == (len(kept),) * 2
    if len(removed) > 8:
        for reading in ("entropy", "mean", "total_correlation"):
            with pytest.raises(ValueError, match="remove fewer at a time"):
                getattr(rest, reading)
        with pytest.raises(ValueError, match="remove fewer at a time"):
            rest.condition(inside=[25])
    else:
        assert np.isfinite(rest.entropy)
        assert not rest.warnings


def test_nobody_left_is_refused(blocks):
    law = ff.Boltzmann(blocks, 1.0)
    for reduced in (lambda: law.condition(inside=range(30)), lambda: law.marginalise(range(30))):
        with pytest.raises(ValueError, match="at least one player"):
            reduced()
    with pytest.raises(ValueError, match="both inside and outside"):
        law.condition(inside=[1], outside=[1])


def test_conditioning_is_slicing(case):
    _, _, law, p = case
    z = brute.coalitions(7)
    some = z[:, 2] & ~z[:, 5]
    rest = [0, 1, 3, 4, 6]
    given = p * some / p[some].sum()
    conditional = law.condition(inside=[2], outside=[5])
    assert conditional.game.players == (0, 1, 3, 4, 6)
    assert_allclose(conditional.marginals, (given @ z)[rest], rtol=1e-11)


def test_a_prior_of_zero_or_one_is_conditioning(rng):
    table = brute.mixed(rng, 5)
    prior = np.array([0.5, 1.0, 0.5, 0.0, 0.5])
    fixed = ff.Boltzmann(table, 0.7, prior)
    sliced = ff.Boltzmann(table, 0.7).condition([1], [3])
    assert_allclose(fixed.marginals[[0, 2, 4]], sliced.marginals, rtol=1e-12)
    assert_allclose(fixed.marginals[[1, 3]], [1, 0], atol=1e-15)
    v = ff.variational_index(table, temperature=0.7, prior=prior)
    assert v.converged
    assert_allclose(v.marginals[[1, 3]], [1, 0], atol=1e-15)


def test_marginalising_keeps_log_z_and_the_law_of_the_rest(case):
    _, _, law, p = case
    rest = law.marginalise([1, 4])
    z = brute.coalitions(7)
    assert_allclose(rest.log_z, law.log_z, rtol=1e-12)
    assert_allclose(rest.marginals, law.marginals[[0, 2, 3, 5, 6]], rtol=1e-11)
    small = brute.coalitions(5)
    joint = [p[(z[:, [0, 2, 3, 5, 6]] == s).all(axis=1)].sum() for s in small]
    assert_allclose(rest.probability(small), joint, rtol=1e-10)
