"""Surrogates of a pool: what they leave of draws, what they predict, and where they stand aside."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import brute
import fairfield as ff
from conftest import needs
from estimation.games import hidden
from fairfield.estimation.at_points.guides import MOST_PLAYERS, guides
from fairfield.estimation.at_points.pool import Pool
from fairfield.estimation.fitter import Fitter
from fairfield.multilinear.table import TableExtension

PLAYERS = 8
EVERY = brute.coalitions(PLAYERS)


def pool_of(tables, count=90, seed=0):
    """Worths of some coalitions drawn at ½."""
    rng = np.random.default_rng(seed)
    pool = Pool(PLAYERS, len(tables))
    half = np.full((1, PLAYERS), 0.5)
    rows = pool.plan(half, np.zeros(1, dtype=int), count, 4 * count, half > 1, rng)
    where = rows @ (1 << np.arange(PLAYERS))
    pool.tell(rows, tables[:, where])
    return pool


def test_what_is_left_of_a_draw_comes_from_a_fit_without_it():
    """Draws of a cold law repeat: of one that was seen twice the fit itself is what is left."""
    table = np.random.default_rng(0).normal(size=(1, 2**PLAYERS))
    pool = pool_of(table)
    once = guides(pool, Fitter(0), noisy=False)[0].control.left
    pool.counts[:] = 2.0
    (guide,) = guides(pool, Fitter(0), noisy=False)
    twice = guide.control.left
    assert_allclose(twice, pool.worths[0] - guide.predict(pool.coalitions), atol=1e-6)
    assert np.mean(once**2) > 2 * np.mean(twice**2)


def test_predictions_are_the_corners_of_the_extension():
    needs("sklearn", "ml")
    steep = np.where(EVERY[:, 0] & EVERY[:, 1] & ~EVERY[:, 2], 3.0, 0.0) + np.sqrt(EVERY.sum(1))
    pool = pool_of(np.stack([steep, EVERY @ np.arange(PLAYERS) * 1.0]), count=120)
    for guide in guides(pool, Fitter(0), noisy=False):
        extension = guide.control.extension
        exact = TableExtension.of(ff.TableGame(guide.predict(EVERY)))
        for x in (EVERY[77].astype(float), np.linspace(0.1, 0.9, PLAYERS)):
            assert_allclose(extension.value(x), exact.value(x), atol=1e-7)
            assert_allclose(extension.gradient(x), exact.gradient(x), atol=1e-7)


def test_a_game_of_few_interactions_has_no_rest():
    table = 3.0 * EVERY[:, 0] + 2.0 * (EVERY[:, 1] & EVERY[:, 2]) - EVERY[:, 3]
    (guide,) = guides(pool_of(table[None], count=150), Fitter(0), noisy=False)
    assert guide.rest is None
    assert_allclose(guide.predict(EVERY), table, atol=1e-10)


def test_too_many_players_have_none():
    players = MOST_PLAYERS + 1
    pool = Pool(players, 1)
    pool.tell(np.eye(players, dtype=bool), np.ones((1, players)))
    assert guides(pool, Fitter(0), noisy=False) is None


@pytest.mark.parametrize("criterion", ["variational_index", "variational_values"])
def test_surrogates_make_small_budgets_go_further(criterion):
    """Errors of all seeds together, beside those of draws alone."""
    rng = np.random.default_rng(1)
    table = brute.flid(rng, 12)
    asked = {"players": 12, "temperature": 0.3, "budget": 60}
    more = {"steps": 3} if criterion == "variational_values" else {}
    exact = getattr(ff, criterion)(table, temperature=0.3, **more).values
    errors = {
        name: sum(
            np.sum((found.values - exact) ** 2)
            for seed in range(4)
            for found in [getattr(ff, criterion)(hidden(table), seed=seed, sampler=name, **asked, **more)]
        )
        for name in ("auto", "least-squares")
    }  # fmt: skip
    assert errors["auto"] < 0.6 * errors["least-squares"]


def test_every_game_of_a_large_batch_has_its_own():
    """More games than surrogates are fitted to one by one."""
    slopes = np.random.default_rng(3).normal(size=(25, PLAYERS))
    tables = slopes @ EVERY.T + 0.1 * EVERY.sum(axis=1) ** 2
    found = guides(pool_of(tables, count=100), Fitter(0), noisy=False)
    for guide, table in zip(found, tables, strict=True):
        assert_allclose(guide.predict(EVERY), table, atol=0.02 * np.ptp(table))


def test_worths_that_jump_are_as_odd_as_they_can_be():
    table = (EVERY.sum(axis=1) >= 4) * 2.0
    (guide,) = guides(pool_of(table[None], count=60), Fitter(0), noisy=False)
    assert guide.control.oddest == 2.0
