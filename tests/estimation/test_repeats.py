"""Repeats of noisy answers where they serve the errors best."""

from itertools import combinations

import numpy as np
import pytest

import fairfield as ff
from fairfield.core.coalitions import enumerate_coalitions
from fairfield.estimation.repeats import PILOT, _weights, worth_repeating

S = enumerate_coalitions(4, 0, 16)


@pytest.mark.parametrize("shares", [np.full(4, 0.25), np.array([1, 3, 3, 1]) / 8])
def test_weights_are_the_squares_of_what_a_worth_adds_to_the_values(shares):
    criterion = ff.shapley if shares[0] == 0.25 else ff.banzhaf
    effect = np.stack([criterion(row.astype(float)).values for row in np.eye(16)])
    assert _weights(4, shares)[S.sum(axis=1)] == pytest.approx((effect**2).sum(axis=1), abs=1e-12)


def test_a_pilot_comes_first_and_asks_only_what_can_be_asked():
    counts = np.where(S.any(axis=1), 1, 0)
    times = worth_repeating(S, counts, np.zeros(16), np.full(4, 0.25), 1.0, 100)
    assert times.sum() == PILOT
    assert times[-1] == 1
    assert times[0] == 0


def test_repeats_of_all_worths_are_the_best_of_all_ways():
    """Against every way to share out three answers over five coalitions."""
    counts, shares = np.full(16, 2), np.full(4, 0.25)
    variances = np.linspace(1, 2, 16)
    times = worth_repeating(S, counts, variances, shares, 1.0, 3)
    noise = _weights(4, shares)[S.sum(axis=1)] * variances

    def total(more):
        return float((noise / (counts + more)).sum())

    ways = []
    for chosen in combinations([*range(16)] * 3, 3):
        more = np.bincount(chosen, minlength=16)
        ways.append(total(more))
    assert total(times) == pytest.approx(min(ways), abs=1e-12)


def test_new_coalitions_are_preferred_where_the_game_is_what_is_not_known():
    some = S[np.isin(S.sum(axis=1), (0, 1, 4)) | (S @ [1, 2, 4, 8] == 3)]
    counts = np.full(len(some), 2)
    for total, repeats in ((1e3, False), (1e-6, True)):
        times = worth_repeating(some, counts, np.ones(len(some)), np.full(4, 0.25), total, 5)
        assert bool(times.sum()) == repeats
        assert not times[some.sum(axis=1) == 2].any()


def test_there_may_be_more_players_than_numbers_have_digits():
    many = np.vstack([np.zeros(1100, dtype=bool), np.ones(1100, dtype=bool), np.arange(1100) < 550])
    times = worth_repeating(many, np.full(3, 2), np.ones(3), np.full(1100, 1 / 1100), 1e-9, 4)
    assert times.tolist() == [2, 2, 0]


def noisy(names, rng=None, sd=0.2):
    return float(np.sqrt(len(names)) + 0.3 * (0 in names) + rng.normal(0, sd))


@pytest.mark.parametrize(("players", "budget"), [(5, 120), (8, 150)])
def test_the_budget_is_that_of_answers(players, budget, tmp_path):
    rng, asked = np.random.default_rng(3), []

    async def worth(names):
        asked.append(names)
        return noisy(names, rng)

    game = ff.RemoteGame(worth, players, repeats="auto", concurrency=1)
    options = {"budget": budget, "store": tmp_path / "w.db", "sampler": "regression"}
    v = ff.shapley(game, **options)
    assert v.usage["calls"] == len(asked) == budget
    assert players == 5 or f"used the budget of {budget} answers" in v.stop
    assert v.evaluations == len(set(asked))
    often = {len(names): asked.count(names) for names in asked}
    assert often[0] > 1
    assert often[0] >= often[2]
    exact = ff.shapley(lambda S: np.sqrt(S.sum(axis=1)) + 0.3 * S[:, 0], players=players).values
    assert (np.abs(v.values - exact) < 5 * v.stderr).all()
    again = ff.shapley(game, **options)
    assert again.usage["calls"] == again.usage["cost"] == 0
    assert ff.quote(game, "shapley", budget=budget).calls == budget


def test_a_run_that_is_repeated_on_its_store_asks_for_nothing(tmp_path):
    """Points of an index were chosen by the noise of all answers, those of later rounds too."""
    rng = np.random.default_rng(1)
    w = np.random.default_rng(0).normal(size=8)

    def worth(names):
        return float(w[list(names)].sum() + (len(names) - 4) ** 2 / 8 + rng.normal(0, 0.5))

    game = ff.RemoteGame(worth, 8, repeats="auto", name="noisy")
    options = {"temperature": 1.0, "budget": 78, "store": tmp_path / "w.db"}
    v = ff.variational_index(game, **options)
    again = ff.variational_index(game, **options)
    assert again.usage["calls"] == 0
    assert (again.values == v.values).all()
    assert (again.stderr == v.stderr).all()


def test_a_tolerance_is_met_by_repeats_and_a_limit_is_needed():
    rng = np.random.default_rng(4)
    game = ff.RemoteGame(lambda names: noisy(names, rng), 4, repeats="auto")
    v = ff.shapley(game, tolerance=0.2, budget=4000)
    assert 1.96 * v.stderr.max() <= 0.2
    assert v.usage["calls"] < 1000
    with pytest.raises(ValueError, match="give budget="):
        ff.shapley(game)
    still = ff.RemoteGame(len, 4, repeats="auto")
    assert ff.shapley(still, budget=1000).usage["calls"] == 16 + PILOT


def test_a_study_asks_for_repeats_and_what_ends_them_leaves_an_estimate():
    rng = np.random.default_rng(5)

    def worths(S):
        return np.sqrt(S.sum(axis=1)) + rng.normal(0, 0.2, len(S))

    game = ff.RemoteGame(len, 5, repeats="auto", name="told")
    study = ff.Study("shapley", game, budget=90)
    while len(S := study.ask(10)):
        study.tell(S, worths(S))
    v = study.result()
    assert v.usage["calls"] == 90
    assert (np.abs(v.values - np.sqrt(5) / 5) < 5 * v.stderr).all()
    asked = 0

    def failing(names):
        nonlocal asked
        asked += 1
        if asked > 50:
            raise PermissionError("no more")
        return noisy(names, rng)

    game = ff.RemoteGame(failing, 5, repeats="auto", concurrency=1, price=1.0)
    with pytest.raises(ff.WorthError, match="no more") as caught:
        ff.shapley(game, budget=90)
    assert caught.value.partial.stderr.max() < 1
    asked = 0
    assert ff.shapley(game, spend=45).usage["calls"] == 45
    asked = 0
    assert ff.shapley(game, budget=60, on_error=0.0).stderr.max() < 1
