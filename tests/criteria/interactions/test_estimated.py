"""Interactions under a budget, beside exact ones."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fairfield as ff
from conftest import NIGHTLY
from fairfield.core.game import Measured, Traits

NAMES = ("shapley", "banzhaf", "moebius", "k_sii", "stii", "fsii", "fbii")


@pytest.fixture
def smooth():
    """A game of 10 players with interactions of all sizes."""
    weights = 0.5 * np.random.default_rng(3).standard_normal((4, 10))
    return lambda S: np.tanh(S @ weights.T).sum(axis=1)


def sparse(S):
    """Six interactions of 300 players."""
    return 2.0 * (S[:, 3] & S[:, 250]) + S[:, 8] - 1.5 * (S[:, 90] & ~S[:, 4] & S[:, 7]) + 1.0


@pytest.mark.parametrize(
    ("name", "order"),
    [(name, 2) for name in NAMES]
    # Those that are the same at any order are tried at one of them, but at night.
    + [(name, 3) for name in NAMES if NIGHTLY or name in ("k_sii", "stii", "fsii", "fbii")],
)
def test_estimates_are_within_their_errors(smooth, name, order):
    exact = ff.interactions(smooth, name, order=order, players=10)
    found = ff.interactions(smooth, name, order=order, players=10, budget=240, seed=1)
    assert found.coalitions == exact.coalitions
    assert found.stderr.shape == found.values.shape
    assert found.evaluations <= 240
    left = found.values - exact.values
    assert (np.abs(left) <= 5 * found.stderr + 1e-9).all()
    # Nothing at all would have been farther off.
    assert (left**2).sum() < 0.7 * (exact.values**2).sum()
    if name in ("k_sii", "stii", "fsii"):
        assert_allclose(found.values.sum(), exact.values.sum(), atol=1e-9)
    if name != "fbii":
        assert_allclose(found.baseline, exact.baseline)


@pytest.mark.parametrize("name", NAMES)
def test_games_of_few_interactions_are_recovered(name):
    """Of 300 players only pairs that matter are kept, and what is told is exact."""
    found = ff.interactions(sparse, name, players=300, budget=900)
    assert found.stop.startswith("exact: ")
    assert (found.stderr == 0).all()
    pairs = found.of_size(2)
    if name == "moebius":
        assert dict(pairs.top()) == pytest.approx({(3, 250): 2.0, (7, 90): -1.5})
    else:
        assert set(pairs.coalitions) == {(3, 250), (4, 7), (4, 90), (7, 90)}
    assert found[3, 250] == pytest.approx(2.0)
    if name not in ("shapley", "banzhaf"):
        assert found.coalitions[:300] == [(i,) for i in range(300)]


def test_dividends_of_few_players_need_small_coalitions_alone(smooth):
    exact = ff.interactions(smooth, "moebius", players=10)
    # ∅, N, ten players alone and 45 pairs.
    found = ff.interactions(smooth, "moebius", players=10, budget=57)
    assert_allclose(found.values, exact.values, atol=1e-9)
    assert found.stderr.max() < 1e-9


@pytest.mark.parametrize(("order", "budget"), [(2, 40), (2, 50), (3, 120)])
def test_dividends_that_were_not_evaluated_have_errors(smooth, order, budget):
    """The mean over pairs of two players, of which a dividend reads one, was ± 0 where that one was not drawn."""
    exact = ff.interactions(smooth, "moebius", order=order, players=10)
    for seed in range(3):
        found = ff.interactions(
            smooth, "moebius", order=order, players=10, budget=budget, seed=seed
        )
        off = np.abs(found.values - exact.values)
        assert (off <= 5 * found.stderr + 1e-9).all()
        assert np.mean(off <= 1.96 * found.stderr + 1e-9) > 0.85


@pytest.mark.parametrize("seed", range(3))
def test_errors_of_pairs_after_trees_are_those_of_trees(seed):
    """The best member counts: trees predict its worths, and have all small interactions a little wrong."""
    weights = np.linspace(0.1, 1, 10)

    def best(S):
        return (S * weights).max(axis=1)

    exact = ff.interactions(best, players=10)
    found = ff.interactions(best, players=10, budget=200, seed=seed)
    off = np.abs(found.values - exact.values)
    assert (off <= 5 * found.stderr).all()
    assert np.mean(off <= 1.96 * found.stderr) > 0.85
    assert off @ off < 0.01 * np.sum(exact.values**2)


def test_a_batch_of_games_has_its_own_errors(smooth, tmp_path):
    class Both(ff.Game):
        players, batch = tuple(range(10)), (2,)

        def worths(self, coalitions):
            wide = np.pad(coalitions, ((0, 0), (0, 290)))
            return np.stack([smooth(coalitions), sparse(wide)])

    game = Both()
    found = ff.interactions(game, "k_sii", budget=100, seed=2)
    assert found.values.shape == (2, 55)
    assert (found.stderr[1] == 0).all()
    assert (found.stderr[0, 10:] > 0).all()
    alone = ff.interactions(smooth, "k_sii", players=10, budget=100, seed=2)
    assert_allclose(found[0].values, alone.values, atol=1e-12)
    assert found.mean().magnitude.shape == (1, 55)
    found.save(tmp_path / "found.npz")
    assert np.array_equal(ff.Interactions.load(tmp_path / "found.npz").stderr, found.stderr)


def test_some_coalitions_and_the_strongest(smooth):
    every = ff.interactions(smooth, "banzhaf", players=10, budget=100)
    some = ff.interactions(smooth, "banzhaf", players=10, budget=100, among=[(5, 2), (0, 1)])
    assert_allclose(some.values, [every[2, 5], every[0, 1]])
    best = ff.interactions(smooth, "banzhaf", players=10, budget=100, top=3)
    assert best.coalitions == every.strongest(3).coalitions


def test_a_tolerance_ends_the_run(smooth):
    found = ff.interactions(smooth, players=10, tolerance=0.25, seed=1)
    assert "within ±0.25" in found.stop
    assert 1.96 * found.stderr.max() <= 0.25
    assert found.coalitions == list(combinations(range(10), 2))


def test_noise_of_the_worths_is_in_the_errors(rng):
    """A linear game, measured with errors of 1: pairs are 0, and known no better than that."""

    class Noisy(ff.Game):
        players = tuple(range(9))
        traits = Traits(noisy=True)

        def worths(self, coalitions):
            return self.measure(coalitions).worths

        def measure(self, coalitions):
            clean = coalitions @ np.arange(9.0)
            noise = np.random.default_rng(0).standard_normal(len(clean))
            return Measured(clean + noise, np.ones(len(clean)))

    found = ff.interactions(Noisy(), budget=150)
    assert (found.stderr > 0).all()
    assert (np.abs(found.values) <= 5 * found.stderr + 1e-9).all()


def test_what_cannot_be_estimated_is_refused(smooth):
    with pytest.raises(ValueError, match="separates players"):
        ff.interactions(smooth, players=10, tolerance=ff.separate_top(2))
    with pytest.raises((ValueError, MemoryError), match="budget"):
        ff.interactions(smooth, "log_odds", players=10, budget=100)
    with pytest.raises(ValueError, match="too small"):
        ff.interactions(smooth, players=10, budget=5)


def test_triples_of_many_players_are_those_that_matter():
    found = ff.interactions(sparse, order=3, players=300, budget=900)
    assert found.top(1) == [((4, 7, 90), pytest.approx(1.5))]
    assert found.stop.startswith("exact: ")


def test_what_no_coalition_shows_is_not_called_exact():
    def leaf(S):
        return (S[:, :6].all(axis=1) & ~S[:, 6:12].any(axis=1)).astype(float)

    assert "exact" not in ff.interactions(leaf, players=20, budget=60).stop

    def unanimity(S):
        return S[:, :24].all(axis=1).astype(float)

    found = ff.interactions(unanimity, players=30, budget=200, seed=1)
    assert "exact" not in found.stop
    assert (found.stderr > 0).all()


def test_no_more_coalitions_are_wanted_than_there_are():
    found = ff.interactions(lambda S: S.sum(axis=1) ** 2.0, players=3, budget=7)
    assert "; 8 are the least" in found.stop


@pytest.mark.parametrize("seed", [3, 5])
def test_the_strongest_pair_lies_within_its_errors(seed):
    """A prior draws the one pair that is unlike all others to these, and says by how much."""
    slopes = np.random.default_rng(3).normal(size=12)

    def worths(S):
        return np.tanh(S @ slopes / 2) + 0.8 * (S[:, 1] & S[:, 5]) - 0.6 * (S[:, 7] | S[:, 8])

    exact = ff.interactions(worths, "banzhaf", players=12)[1, 5]
    found = ff.interactions(worths, "banzhaf", players=12, budget=150, seed=seed)
    place = found.coalitions.index((1, 5))
    assert abs(found.values[place] - exact) <= 5 * found.stderr[place]


def test_what_is_printed_says_why_it_stopped():
    found = ff.interactions(lambda S: np.sin(S @ np.arange(12.0)), players=12, budget=40)
    assert found.stop in repr(found)
    assert "not to be trusted" in repr(found)


def test_of_players_the_unknown_one_is_named():
    with pytest.raises(ValueError, match="among= names 'z'"):
        ff.interactions(lambda S: S.sum(axis=1) * 1.0, players=list("abcd"), among=["a", "z"])


def test_a_coalition_named_twice_stands_for_no_other(smooth):
    """Only all of them add up to F(N) - F(∅), whichever way their players are listed."""
    every = [(i,) for i in range(10)] + list(combinations(range(10), 2))
    some = [each for each in every if each != (8, 9)]
    once, twice = (
        ff.interactions(smooth, "stii", players=10, budget=200, among=among)
        for among in (some, [*some, (1, 0)])
    )
    assert_allclose(twice.values[:-1], once.values)


def test_a_worth_that_fails_leaves_what_was_found(smooth):
    """So does an interrupt: nothing that was paid for is lost."""
    asked = 0

    def broken(S):
        nonlocal asked
        asked += len(S)
        if asked > 150:
            raise RuntimeError("the service is down")
        return smooth(S)

    with pytest.raises(ff.WorthError, match="the service is down") as failed:
        ff.interactions(broken, "stii", players=10, budget=240, top=3)
    partial = failed.value.partial
    assert len(partial.of_size(2).coalitions) == 3
    assert partial.stop.startswith("ended by an error after ")
    with pytest.raises(ff.WorthError) as failed:
        ff.interactions(lambda S: 1 / 0, players=10, budget=240)
    assert failed.value.partial is None


def test_where_no_worth_shows_an_interaction_it_is_said():
    found = ff.interactions(lambda S: 1.0 * (S.sum(axis=1) > 8), players=16, budget=60)
    assert not found.values.any()
    assert found.stderr.all()
    assert "do not show that any interaction differs from 0" in found.stop
