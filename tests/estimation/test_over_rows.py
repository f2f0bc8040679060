"""Errors over test rows under a budget: those of the same estimate of every row's own game."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import brute
import fairfield as ff
from fairfield.core.coalitions import rows_of
from fairfield.core.game import Measured, Traits

ROWS = 15


class Scored(ff.Game):
    """A game whose worths are means over test rows, by a table (2^n, rows) of what these say."""

    def __init__(self, by_row):
        self.by_row, self.players = by_row, tuple(range(len(by_row).bit_length() - 1))
        self.traits = Traits(test_rows=by_row.shape[1])

    def measure(self, coalitions):
        scores = self.by_row[rows_of(coalitions)]
        return Measured(scores.mean(axis=1), by_row=scores)


def scored(rng, players):
    """What rows say: mostly alike, some interactions, and chance."""
    inside = brute.coalitions(players) * 1.0
    slopes = rng.standard_normal((players, ROWS)) + rng.standard_normal((players, 1))
    pairs = 0.3 * rng.standard_normal((players, players))
    curved = np.einsum("si,ij,sj->s", inside, pairs, inside)[:, None]
    noise = 0.1 * rng.standard_normal((2**players, ROWS))
    return Scored(inside @ slopes + curved + noise)


@pytest.mark.parametrize(("sampler", "budget"), [("permutation", 50), ("regression", 18)])
def test_linear_estimates_have_the_covariance_of_their_rows(rng, sampler, budget):
    game = scored(rng, 6)
    how = {"sampler": sampler, "budget": budget, "seed": 3}
    found = ff.shapley(game, **how)
    plain = ff.shapley(lambda S: game.by_row[rows_of(S)].mean(axis=1), players=6, **how)
    # The same coalitions, valued by each row alone.
    each = [
        ff.shapley(lambda S, row=row: row[rows_of(S)], players=6, **how).values
        for row in game.by_row.T
    ]
    assert_allclose(found.values, plain.values, atol=1e-12)
    over_rows = np.cov(np.transpose(each)) / ROWS
    assert_allclose(found.covariance, plain.covariance + over_rows, atol=1e-10)
    share = 100 * np.trace(over_rows) / np.trace(found.covariance)
    said = f"± of draws and of 15 test rows ({share:.0f} % of the variance)"
    assert said in found.method


def test_estimates_are_about_as_sure_of_the_rows_as_exact_values(rng):
    game = scored(rng, 8)

    def valued(**how):
        index = ff.compare(game, criteria=["variational_index"], temperature=1.0, **how).first
        return index, ff.semivalue(game, ff.beta(2, 1), **how)

    for exact, some in zip(valued(), valued(budget=200, seed=1), strict=True):
        assert (some.stderr**2 >= 0.7 * exact.stderr**2).all()
        assert np.sum(some.stderr**2) < 1.6 * np.sum(exact.stderr**2)


def test_a_tolerance_is_one_of_the_draws(rng):
    found = ff.shapley(scored(rng, 10), tolerance=0.1, sampler="regression")
    assert found.stop.startswith("every 95 % interval is within ±0.1 after ")
    assert found.stop.endswith("coalitions, but for what other test rows would say")
    assert found.half_widths.max() > 0.1


def test_a_game_that_is_recovered_has_errors_over_rows(rng):
    slopes = rng.standard_normal((100, 40))

    class Additive(ff.Game):
        players, traits = tuple(range(100)), Traits(test_rows=40)

        def measure(self, coalitions):
            scores = coalitions @ slopes + coalitions[:, :1] * coalitions[:, 1:2]
            return Measured(scores.mean(axis=1), by_row=scores)

    found = ff.banzhaf(Additive(), budget=400)
    assert "exact" in found.stop
    assert_allclose(found.stderr[2:], slopes.std(axis=1)[2:] / 40**0.5, rtol=0.3)


def test_errors_of_draws_alone_are_said_to_be(rng):
    found = ff.variational_index(
        scored(rng, 10), temperature=1.0, budget=1000, sampler="monte-carlo"
    )
    assert "± of the draws alone" in found.method


def test_a_tolerance_is_met_where_nothing_is_drawn(rng):
    found = ff.shapley(scored(rng, 8), tolerance=1e-9, seconds=60, budget=256)
    assert found.stop == "exact"
