"""The paper's samplers, against their literal definitions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import brute
import fairfield as ff
from estimation.games import Batch, errors, hidden
from fairfield.core.coalitions import rows_of


@pytest.mark.parametrize("sampler", ["one-shot", "monte-carlo"])
def test_the_papers_samplers_are_within_their_errors(rng, sampler):
    table = brute.flid(rng, 11)
    options = {"players": 11, "temperature": 8.0, "budget": 2000, "sampler": sampler}
    exact = ff.variational_values(table, 2, temperature=8.0)
    found = ff.variational_values(hidden(table), 2, **options)
    assert (errors(found, exact.values) <= 5).all()
    assert "not to be trusted" not in found.stop
    if sampler == "one-shot":  # ten steps leave the other with nine contributions each
        exact = ff.variational_index(table, temperature=8.0)
        assert (errors(ff.variational_index(hidden(table), **options), exact.values) <= 5).all()


def test_monte_carlo_is_the_papers_by_definition(rng):
    table, temperature, each = brute.flid(rng, 9), 0.7, 3
    options = {"players": 9, "temperature": temperature, "budget": 2 * 9 * 2 * each, "seed": 4}
    found = ff.variational_values(hidden(table), 2, sampler="monte-carlo", **options)
    draws, x = np.random.default_rng(4), np.full(9, 0.5)
    for _ in range(2):
        uniform, gradient = draws.random((each, 9, 9)), np.zeros(9)
        for k in range(each):
            for i in range(9):
                without = uniform[k, i] < x
                without[i] = False
                row = int(rows_of(without))
                gradient[i] += (table[row | 1 << i] - table[row]) / each
        x = 1 / (1 + np.exp(-gradient / temperature))
    assert_allclose(found.values, gradient)
    assert_allclose(found.marginals, x)


def test_one_shot_is_the_papers_by_definition(rng):
    table, temperature, each = brute.flid(rng, 8), 2.0, 12
    found = ff.variational_values(
        hidden(table),
        3,
        players=8,
        temperature=temperature,
        budget=16 * each,
        seed=9,
        sampler="one-shot",
    )
    uniform = np.random.default_rng(9).random((16, 8, 8))[:each]
    x = np.full(8, 0.5)
    for _ in range(3):
        gradient, effective = np.zeros(8), []
        for i in range(8):
            others = np.arange(8) != i
            without = (uniform[:, i] < 0.5) & others
            rows = rows_of(without)
            gains = table[rows | 1 << i] - table[rows]
            chances = np.where(without, x, 1 - x)[:, others].prod(axis=1)
            gradient[i] = chances @ gains / chances.sum()
            effective.append(chances.sum() ** 2 / (chances**2).sum())
        x = 1 / (1 + np.exp(-gradient / temperature))
    assert_allclose(found.values, gradient)
    assert f"{each} contributions per player, {min(effective):,.0f} effective" in found.method


def test_the_papers_samplers_take_one_game(rng):
    game = Batch(np.stack([brute.mixed(rng, 9)] * 2))
    with pytest.raises(ValueError, match="takes one game"):
        ff.variational_index(game, temperature=1.0, budget=100, sampler="one-shot")


def test_monte_carlo_takes_all_its_steps_or_none(rng):
    table = brute.flid(rng, 11)
    options = {"players": 11, "temperature": 8.0, "budget": 1400, "sampler": "monte-carlo"}
    loose = ff.variational_values(hidden(table), 2, tolerance=1e9, **options)
    assert loose.steps == 2
    first, *later = ff.stream("variational_values", hidden(table), 2, **options)
    assert first.steps == 1
    assert "the values of step 1 of 2" in first.stop
    assert {v.steps for v in later} == {2}
    assert all("the values of step" not in v.stop for v in later)
    asked = []

    def worth(S):
        asked.append(len(S))
        return table[rows_of(S)]

    with pytest.raises(ValueError, match="leave out seconds="):
        ff.variational_values(worth, 1, seconds=0.001, **options)
    assert not asked
