"""From what is left of worths to values and their errors."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

import brute
from estimation.games import PLAYERS, SIGNS, sample_of
from fairfield.estimation.along import Along
from fairfield.estimation.corrections import (
    Answer,
    Regression,
    Residuals,
    banzhaf_masses,
    by_size,
    is_stepped,
    shapley_masses,
    smallest,
    stacked,
)
from fairfield.estimation.designs import balance
from fairfield.estimation.designs.design import Plan

SINGLE = np.arange(PLAYERS)[:, None]
MASSES = {"shapley": shapley_masses, "banzhaf": banzhaf_masses}


def raw(sampled):
    return Residuals(sampled, sampled.worths, sampled.worths)


def regressed(sampled, criterion):
    return Regression.on(sampled, MASSES[criterion](PLAYERS)).of(raw(sampled))


@pytest.mark.parametrize("criterion", MASSES)
def test_all_coalitions_leave_no_error(criterion, rng):
    table = rng.normal(size=2**PLAYERS)
    exact = getattr(brute, criterion)(table)
    sampled = sample_of(table, criterion, 2**PLAYERS)
    along = getattr(Along, criterion)(PLAYERS)
    answer = regressed(sampled, criterion)
    if criterion == "shapley":
        answer = answer.sharing(table[-1:] - table[:1], None)
    for found in (answer, by_size(raw(sampled), along, SINGLE, whole=True)):
        assert_allclose(found.values[0], exact, atol=1e-12)
        assert_allclose(found.errors, 0.0, atol=1e-24)


@pytest.mark.parametrize("criterion", MASSES)
def test_the_one_coalition_that_is_missing_leaves_an_error(criterion, rng):
    """Its complement is known, and so is all of the size of that."""
    table = rng.normal(size=2**PLAYERS)
    sampled = sample_of(table, criterion, 2**PLAYERS - 1)
    along = getattr(Along, criterion)(PLAYERS)
    for found in (
        regressed(sampled, criterion),
        by_size(raw(sampled), along, SINGLE, whole=True),
    ):
        assert (found.variances > 1e-12).all()


@pytest.mark.parametrize(("odd", "enough"), [(1.0, 0), (0.0, balance.ENOUGH)])
@pytest.mark.parametrize("criterion", MASSES)
def test_means_by_size_are_right_on_average_and_know_their_errors(
    criterion, odd, enough, rng, monkeypatch
):
    """Games of a strong odd part: complements err together, and count as one.

    Where players are balanced, such a part hardly errs at all, which residuals do not show.
    """
    table = odd * SIGNS @ rng.normal(size=PLAYERS) + 0.3 * rng.normal(size=2**PLAYERS)
    along = getattr(Along, criterion)(PLAYERS)
    monkeypatch.setattr(balance, "ENOUGH", enough)
    runs = [
        by_size(raw(sample_of(table, criterion, 120, seed)), along, SINGLE, whole=True)
        for seed in range(150)
    ]
    values = np.concatenate([each.values for each in runs])
    exact = getattr(brute, criterion)(table)
    # Of regressions of few sizes a bias is left where these were not drawn.
    assert (np.abs(values.mean(axis=0) - exact) <= 5 * values.std(axis=0) / 150**0.5).all()
    claimed = np.mean([each.variances for each in runs])
    assert 0.8 < claimed / values.var(axis=0).mean() < 2.2


def test_variances_alone_are_those_of_the_whole_covariance(rng):
    sampled = sample_of(rng.normal(size=2**PLAYERS), "shapley", 120)
    along = Along.shapley(PLAYERS)
    one, whole = (by_size(raw(sampled), along, SINGLE, whole=each) for each in (False, True))
    assert_allclose(one.values, whole.values)
    assert_allclose(one.variances, whole.variances)


def test_noise_of_what_is_alone_in_its_size_counts(rng):
    sampled = sample_of(rng.normal(size=2**PLAYERS), "banzhaf", 120)
    noisy = replace(sampled, noise=np.ones_like(sampled.worths), noisy=True)
    along = Along.banzhaf(PLAYERS)
    less, more = (
        by_size(raw(each), along, SINGLE, whole=True).variances.sum() for each in (sampled, noisy)
    )
    assert more > less


def test_values_are_moved_to_share_out_what_there_is(rng):
    sampled = sample_of(rng.normal(size=2**PLAYERS), "shapley", 60)
    gain = sampled.worths[:, 1] - sampled.worths[:, 0]
    found = regressed(sampled, "shapley").sharing(gain, None)
    assert_allclose(found.values.sum(), gain)
    assert_allclose(found.errors[0].sum(), 0.0, atol=1e-12)
    # The weights of the worths are moved alike.
    weights = found.weights()
    assert_allclose(sampled.worths[:, : len(weights)] @ weights, found.values)
    noisy = regressed(sampled, "shapley").sharing(gain, np.array([0.5]))
    assert_allclose(noisy.errors - found.errors, 0.5 / PLAYERS**2)


def test_a_regression_of_a_linear_game_leaves_nothing(rng):
    slopes = rng.normal(size=PLAYERS)
    answer = regressed(sample_of((SIGNS + 0.5) @ slopes, "banzhaf", 80), "banzhaf")
    assert answer.method == "regression of 40 pairs of coalitions"
    assert_allclose(answer.values[0], slopes, atol=1e-12)
    assert answer.spread()[0] < 1e-20


WITHOUT_COMPLEMENTS = Plan(early=False, odd=lambda sampled: 1.0)


@pytest.mark.parametrize(("plan", "draws"), [(Plan(early=False), 40), (WITHOUT_COMPLEMENTS, 65)])
def test_errors_are_those_of_fits_without_the_draw(rng, plan, draws):
    """HC3 of least squares: the residuals of a pair, or of a single coalition, by the fit to all others."""
    sampled = sample_of(rng.normal(size=2**PLAYERS), "banzhaf", 80, plan=plan)
    assert sampled.draws == draws - 1
    found = regressed(sampled, "banzhaf")
    (worths,), groups = sampled.worths, sampled.groups
    columns = np.insert(np.where(sampled.rows, 0.5, -0.5), 0, 1.0, axis=1)
    kind = np.minimum(sampled.sizes, PLAYERS - sampled.sizes)
    weights = (banzhaf_masses(PLAYERS) / np.maximum(np.bincount(kind, minlength=5), 1))[kind]
    root = np.sqrt(weights)[:, None]
    every = np.linalg.pinv(columns * root)[1:].T * root
    assert_allclose(found.values[0], worths @ every)
    assert_allclose(found.weights(), every, atol=1e-12)
    errors = 0.0
    for group in range(groups.max() + 1):
        out = groups == group
        slopes = np.linalg.lstsq((columns * root)[~out], (worths * root[:, 0])[~out])[0]
        score = (worths - columns @ slopes)[out] @ every[out]
        errors = errors + np.outer(score, score) * (1 - sampled.known[out].min())
    assert_allclose(found.errors[0], errors, atol=1e-12)


def test_the_smallest_answer_is_chosen_game_by_game():
    one = Answer(np.ones((2, 3)), np.array([[1.0] * 3, [4.0] * 3]), "one", lambda: np.ones((5, 3)))
    two = Answer(np.zeros((2, 3)), np.full((2, 3), 2.0), "two", lambda: np.zeros((4, 3)))
    found = smallest([one, two])
    assert_allclose(found.values, [[1, 1, 1], [0, 0, 0]])
    assert found.method == "one; two"
    assert found.weights().shape == (2, 5, 3)
    assert stacked([found, found]).weights().shape == (4, 5, 3)
    assert smallest([replace(one, weights=None), two]).weights is None


def test_what_may_be_noise_is_drawn_to_the_middle():
    answer = Answer(np.array([[1.0, 3.0]]), np.array([[0.25, 0.25]]), "")
    assert_allclose(answer.shrunk().values, [[0.95, 2.85]])
    assert_allclose(answer.shrunk(to_mean=True).values, [[1.25, 2.75]])
    assert_allclose(replace(answer, errors=np.full((1, 2), 9.0)).shrunk().values, 0.0)
    unknown = Answer(np.zeros((1, 2)), np.full((1, 2), 1e60), "")  # no more than floats hold
    assert_allclose(unknown.shrunk().values, 0.0)
    assert_allclose(answer.doubted().values, answer.values / 1.025)


def test_votes_are_told_by_their_few_worths():
    assert is_stepped(np.array([[0, 1, 1, 0.0], [0, 1, 2, 3.0]]), 3).tolist() == [True, False]
