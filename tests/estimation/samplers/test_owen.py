"""Owen's values by surrogates, read along orders and corrected by what these leave."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import brute
import fairfield as ff
from estimation.games import Batch, covered, errors
from fairfield.estimation import fitter
from fairfield.estimation.prior import posterior
from fairfield.estimation.samplers import owen
from fairfield.estimation.samplers.registry import estimator_of
from fairfield.multilinear.unions import read_unions
from fairfield.problem import resolve

PLAYERS = 12
PAIRS = [i // 2 for i in range(PLAYERS)]
NESTED = {"a": {"b": range(3), "c": [3, 4]}, "d": range(5, 9)}


def estimated(worth=covered, unions=PAIRS, players=PLAYERS, **options):
    return ff.owen(worth, unions, players=players, **options)


@pytest.mark.parametrize("unions", [PAIRS, NESTED, {}])
@pytest.mark.parametrize("budget", [2 * PLAYERS, 61, 150])
def test_values_are_within_their_errors(unions, budget):
    exact = ff.owen(ff.TableGame(covered(brute.coalitions(PLAYERS))), unions).values
    found = estimated(unions=unions, budget=budget)
    assert (errors(found, exact) < 5).all()
    assert_allclose(found.values.sum(), exact.sum())


def test_squares_of_errors_are_a_fraction_of_those_of_permutations():
    exact = estimated().values
    for budget in (60, 120):
        each = {
            name: np.mean([
                (estimated(budget=budget, seed=seed, sampler=name).values - exact) ** 2
                for seed in range(3)
            ])
            for name in ("auto", "permutation")
        }  # fmt: skip
        assert each["auto"] < 0.2 * each["permutation"]


def test_no_coalition_is_asked_for_twice_and_only_those_that_orders_come_through():
    asked = []

    def worth(S):
        asked.append(S)
        return covered(S)

    estimated(worth, budget=300)
    rows = np.concatenate(asked)
    assert len(rows) == len(np.unique(rows, axis=0)) == 300
    halves = rows.reshape(300, -1, 2).sum(axis=2)
    assert ((halves == 1).sum(axis=1) <= 1).all()


def test_the_same_seed_gives_the_same_answer_and_a_larger_budget_continues():
    one, again, other = (estimated(budget=70, seed=seed) for seed in (3, 3, 4))
    assert_array_equal(one.values, again.values)
    assert (one.values != other.values).any()
    first = _asked(70)
    assert_array_equal(_asked(120)[:70], first)


def _asked(budget):
    problem = resolve(covered, PLAYERS, None, {"budget": budget})
    root = read_unions(PAIRS, problem.game.players)
    estimator = estimator_of(problem, "owen", "owen", root=root)
    asked = np.empty((0, PLAYERS), dtype=bool)
    while len(asked) < budget:
        more = estimator.ask(budget - len(asked))
        estimator.tell(more, covered(more))
        asked = np.concatenate([asked, more])
    return asked


def test_games_of_a_batch_have_the_values_of_each(rng):
    tables = rng.normal(size=(2, 3, 2**9)).cumsum(axis=-1)
    unions = {"a": range(3), "b": [3, 4]}
    found = ff.owen(Batch(tables), unions, budget=60)
    assert found.values.shape == found.stderr.shape == (2, 3, 9)
    for at in np.ndindex(2, 3):
        one = ff.owen(Batch(tables[at]), unions, budget=60)
        assert_allclose(found.values[at], one.values, rtol=1e-6, atol=1e-9)


def test_noise_is_part_of_the_errors(rng):
    exact, held = estimated().values, []
    scale = 0.1 * np.std(covered(brute.coalitions(PLAYERS)))
    for seed in range(5):
        game = ff.FunctionGame(
            lambda S: covered(S) + scale * rng.normal(size=len(S)), PLAYERS, random=True
        )
        found = ff.owen(game, PAIRS, budget=100, seed=seed)
        held.append(np.abs(found.values - exact) <= 1.96 * found.stderr)
    assert np.mean(held) > 0.85


def test_repeats_of_a_service_are_part_of_them_too():
    rng = np.random.default_rng(0)
    game = ff.RemoteGame(
        lambda names: float(len(names)) ** 1.5 + rng.normal(), PLAYERS, repeats=2, concurrency=1
    )
    found = ff.owen(game, PAIRS, budget=60)
    exact = ff.owen(lambda S: S.sum(axis=1) ** 1.5, PAIRS, players=PLAYERS).values
    assert (np.abs(found.values - exact) < 5 * found.stderr).all()


def test_a_game_of_few_interactions_is_recovered():
    def worth(S):
        return S @ np.arange(12.0) + 5.0 * S[:, 0] * S[:, 7] - 3.0 * S[:, 2] * S[:, 3] * S[:, 5]

    found = estimated(worth, budget=300)
    assert_allclose(found.values, estimated(worth).values, atol=1e-9)
    assert found.stderr.max() == 0
    assert "exact: " in found.stop


@pytest.mark.parametrize("budget", [50, 72, 76])
def test_a_few_orders_that_agree_prove_nothing(budget):
    """Two orders in three of these did, and ± was 0 beside values that were off by 2."""

    def worth(S):
        return S @ np.arange(12.0) + 6.0 * S[:, 0] * S[:, 5] * S[:, 9]

    exact = estimated(worth).values
    for seed in range(8):
        found = estimated(worth, budget=budget, seed=seed)
        right = np.abs(found.values - exact) < 1e-9
        # A prior that explains all that it was given says so.
        assert (right | (found.stderr > 0.01)).all() or "may be missing" in found.stop


def test_one_game_of_votes_leaves_others_of_a_batch_as_they_are(rng):
    tables = rng.normal(size=(25, 2**8)).cumsum(axis=-1)
    unions = {"a": range(3), "b": [3, 4]}
    before = ff.owen(Batch(tables), unions, budget=60)
    tables[7] = 0.0
    after = ff.owen(Batch(tables), unions, budget=60)
    others = np.arange(25) != 7
    ratio = after.stderr[others].mean(axis=1) / before.stderr[others].mean(axis=1)
    assert ratio.min() > 0.8
    assert ratio.max() < 1.25


def test_votes_vouch_for_no_player_whose_vote_decided_nothing_so_far():
    weights = np.arange(1, 13)

    def worth(S):
        return (S @ weights > weights.sum() / 2).astype(float)

    exact = estimated(worth).values
    for budget in (30, 60, 120):
        assert (errors(estimated(worth, budget=budget), exact) < 3).all()


@pytest.mark.parametrize("sizes", [(20, 20), (17, 17, 1), (40, 1)])
def test_unions_too_large_to_be_listed_are_read_along_many_orders(sizes):
    """Who comes first or last was left out of these orders, which a player without a union often does."""
    unions, players = np.repeat(range(len(sizes)), sizes).tolist(), sum(sizes)
    steps = np.linspace(0.1, 1, players)

    def worth(S):
        return np.sqrt(1 + S @ steps)

    found = estimated(worth, unions, players, budget=200)
    many = estimated(worth, unions, players, budget=20_000, sampler="permutation")
    apart = np.abs(found.values - many.values)
    assert (apart < 5 * np.hypot(found.stderr, many.stderr) + 1e-9).all()
    assert_allclose(found.values.sum(), worth(np.ones((1, players)))[0] - 1)


def test_noise_that_all_orders_read_is_part_of_the_errors(rng):
    """What the union of a player gains is read from the same worths by every order."""
    unions, found = [i // 4 for i in range(8)], []
    game = ff.FunctionGame(lambda S: rng.normal(size=len(S)), 8, random=True)
    for seed in range(6):
        v = ff.owen(game, unions, budget=50, seed=seed)
        found.append(v.values[:4].sum() / np.sqrt(v.covariance[:4, :4].sum()))
    assert np.sqrt(np.mean(np.square(found))) < 2


@pytest.mark.parametrize("surrogate", [True, False])
def test_what_the_prior_was_not_given_corrects_it(surrogate, monkeypatch):
    """Orders that were chosen for what is new in them, or half left out, gave values beside the truth."""
    for module in (owen, posterior):
        monkeypatch.setattr(module, "FITTED", 200)
    if not surrogate:
        monkeypatch.setattr(fitter, "surrogates", list)
    gains = np.random.default_rng(5).random((14, 4))

    def worth(S):
        return np.where(S[:, :, None], gains, 0.0).max(axis=1).sum(axis=1)

    unions = [i // 2 for i in range(14)]
    exact = ff.owen(worth, unions, players=14).values
    found = [ff.owen(worth, unions, players=14, budget=700, seed=seed) for seed in range(2)]
    assert all((errors(each, exact) < 5).all() for each in found)
    assert all("corrected along" in each.method for each in found)


def test_all_coalitions_that_orders_come_through_give_exact_values(rng):
    table = ff.TableGame(rng.normal(size=2**6))
    unions = {"a": [0, 1, 2], "b": [3, 4]}
    problem = resolve(table.worths, 6, None, {"budget": 64})
    estimator = estimator_of(problem, "owen", "owen", root=read_unions(unions, range(6)))
    while len(asked := estimator.ask(64)):
        estimator.tell(asked, table.worths(asked))
    found = estimator.estimate()
    assert_allclose(found.values, ff.owen(table, unions).values, atol=1e-12)
    assert found.stderr.max() == 0
    (weights,) = found.linear()(brute.coalitions(6))
    assert_allclose(table.table() @ weights, found.values, atol=1e-12)


def unlike(kind, rng):
    """A game whose worths say little of each other, by its table."""
    coalitions = brute.coalitions(12)
    table = coalitions @ rng.normal(1, 1, 12)
    if kind == "bonus":
        return table + 100.0 * coalitions[:, :5].all(axis=1)
    table[2 ** np.arange(12)] = 10.0 ** (5 + 3 * rng.permutation(12))
    return table + 9 * (coalitions.sum(axis=1) - 6) ** 2


@pytest.mark.parametrize("kind", ["bonus", "wild alone"])
def test_what_few_coalitions_have_is_found_or_allowed_for(kind):
    """Surrogates with errors of their own vouch for no others; single players come first of all."""
    unions = [i // 2 for i in range(12)]
    for seed in range(3):
        table = unlike(kind, np.random.default_rng(seed))
        exact = ff.owen(ff.TableGame(table), unions).values
        game = ff.FunctionGame(ff.TableGame(table).worths, 12)
        found = ff.owen(game, unions, budget=160, seed=seed)
        rounding = 1e-9 * np.abs(exact).max()
        assert (np.abs(found.values - exact) <= 4 * found.stderr + rounding).all()
