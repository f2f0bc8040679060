"""Curves agree with their definitions, spelled out."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression

import brute
import fairfield as ff
from fairfield.evaluation.evaluator import Evaluator
from fairfield.problem import resolve


@pytest.mark.parametrize("highest_first", [True, False])
def test_curves_are_worths_along_the_order(highest_first, rng):
    table = rng.standard_normal(2**6)
    game = ff.TableGame(table, list("abcdef"))
    found = ff.shapley(game)
    order = found.ranking() if highest_first else found.ranking()[::-1]
    bits = [game.players.index(name) for name in order]
    joined = [sum(1 << i for i in bits[:k]) for k in range(7)]
    added = ff.addition_curve(game, found, highest_first=highest_first)
    removed = ff.removal_curve(game, found, highest_first=highest_first)
    assert_array_equal(added.worths, table[joined])
    assert_array_equal(removed.worths, table[[63 - row for row in joined]])
    assert_allclose(removed.fractions, np.arange(7) / 6)
    assert ("highest" in removed.label) == highest_first
    assert "shapley" in removed.label
    assert removed.order == added.order == tuple(order)


def test_many_players_go_in_steps_of_five_percent():
    curve = ff.removal_curve(lambda S: S.sum(axis=1), np.arange(200.0))
    assert_allclose(curve.fractions, np.arange(21) / 20)
    assert_array_equal(curve.worths, 200 - 10 * np.arange(21))
    few = ff.addition_curve(lambda S: S.sum(axis=1), np.arange(200.0), fractions=[0, 0.004, 0.5])
    assert_array_equal(few.worths, [0, 1, 100])


def test_a_curve_of_data_is_evaluated_once_and_shared(rng, tmp_path):
    X, X_test = rng.standard_normal((40, 2)), rng.standard_normal((50, 2))
    y, y_test = (Z[:, 0] > 0 for Z in (X, X_test))
    scoring = {"hits": "accuracy", "log": "neg_log_loss"}
    game = ff.DataGame(
        LogisticRegression(), X, y, X_test, y_test, groups=np.arange(40) % 4, scoring=scoring
    )
    store = tmp_path / "worths.db"
    found = ff.shapley(game, store=store)
    curve = ff.removal_curve(game, found[0], store=store, n_jobs=1)
    assert curve.worths.shape == (2, 5)
    assert ff.describe_store(store).worths == 16
    assert_array_equal(curve.worths[:, 0], found.grand)
    assert_array_equal(curve.worths[:, -1], found.empty)
    assert "worth, log" in repr(curve)
    assert "25 %" in repr(curve)


def test_the_weighted_drop_is_the_double_sum(rng):
    a = rng.random(9)
    curve = ff.Curve("", np.arange(9) / 8, a)
    wanted = sum(sum(a[t - 1] - a[t] for t in range(1, j + 1)) / j for j in range(1, 9))
    assert_allclose(ff.weighted_drop(curve), wanted)
    both = ff.Curve("", np.arange(9) / 8, np.array([a, 2 * a]))
    assert_allclose(ff.weighted_drop(both), [wanted, 2 * wanted])


def pruned_by_hand(table, players):
    """The order and the worths of greedy pruning, from the definition."""
    left, order, worths = list(range(players)), [], []
    while left:
        inside = [sum(1 << left[k] for k in np.flatnonzero(z)) for z in brute.coalitions(len(left))]
        worths.append(table[inside[-1]])
        values = brute.shapley(table[inside])
        order.append(left.pop(len(left) - 1 - int(np.argmin(values[::-1]))))
    return order, [*worths, table[0]]


def test_pruning_revalues_the_rest(rng):
    table = rng.standard_normal(2**6)
    order, worths = pruned_by_hand(table, 6)
    found = ff.pruning_curve(ff.TableGame(table))
    assert found.order == tuple(order)
    assert_array_equal(found.worths, worths)
    assert_allclose(found.fractions, np.arange(7) / 6)
    asked = []

    def worth(S):
        asked.append(len(S))
        return table[S @ (1 << np.arange(6))]

    assert ff.pruning_curve(worth, players=6).order == tuple(order)
    assert sum(asked) == 64


def test_pruning_speaks_of_what_is_pruned():
    game = ff.FunctionGame(lambda S: S @ [3.0, 2.0, 1.0], 3)
    game.info = replace(game.info, noun="feature", worth_name="log-odds of class b")
    for curve in (ff.pruning_curve(game), ff.removal_curve(game, ff.shapley(game))):
        shown = repr(curve)
        assert "features" in shown
        assert "log-odds of class b" in shown
        assert "player" not in shown


def test_a_table_is_read_and_nothing_is_evaluated_again(rng, tmp_path, monkeypatch):
    evaluated = []

    def worth(S):
        evaluated.append(len(S))
        return S @ np.arange(1.0, 6.0)

    table = resolve(worth, players=5).played()
    assert sum(evaluated) == 32
    found = ff.shapley(table)
    monkeypatch.setattr(Evaluator, "__init__", lambda *_: pytest.fail("worths are evaluated again"))
    for curve in (ff.removal_curve, ff.addition_curve):
        assert_array_equal(curve(table, found, budget=1).worths, curve(table, found).worths)
        with pytest.warns(UserWarning, match="is left as it was"):
            curve(table, found, store=tmp_path / "worths.db")
    removed = ff.removal_curve(table, found, highest_first=False)
    assert_array_equal(ff.pruning_curve(table).worths, removed.worths)
    assert sum(evaluated) == 32


@pytest.mark.parametrize("criterion", ["shapley", "variational_index"])
def test_a_closed_form_is_pruned_as_its_table_is(criterion, rng):
    closed = ff.FLIDGame(rng.random(6), rng.random((6, 3)))
    table = ff.TableGame(closed.worths(brute.coalitions(6)))
    one, other = (ff.pruning_curve(game, criterion) for game in (closed, table))
    assert one.order == other.order
    assert_allclose(one.worths, other.worths, atol=1e-12)


def test_an_ensemble_is_pruned_to_its_good_models(rng):
    truth = rng.integers(0, 3, 300)
    good = np.where(rng.random((4, 300)) < 0.8, truth, rng.integers(0, 3, (4, 300)))
    bad = rng.integers(0, 3, (2, 300))
    game = ff.EnsembleGame(np.vstack([bad, good]), None, truth, vote="hard")
    assert set(ff.pruning_curve(game).order[:2]) == {0, 1}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ff.removal_curve([0, 1, 1, 2], [1, 2, 3]), "3 players"),
        (lambda: ff.removal_curve(ff.TableGame([0, 1]), [1, 2]), "not of the same players"),
        (lambda: ff.removal_curve([0, 1], ff.shapley([[0, 1], [0, 2]])), r"batch, v\[i\]"),
        (lambda: ff.removal_curve([0, 1], [1], fractions=[2]), "from 0 to 1"),
        (lambda: ff.removal_curve([0, 1], [1], jobs=2), "unknown keyword 'jobs'"),
        (lambda: ff.pruning_curve([[0, 1], [0, 2]]), "one game at a time"),
        (lambda: ff.removal_curve([0, 1, 1, 2], [np.nan, 1]), "player 0 is NaN"),
        (lambda: ff.pruning_curve(ff.VotingGame([1, 2], 2), jobs=1), "unknown keyword 'jobs'"),
        (
            lambda: ff.pruning_curve(ff.VotingGame([1, 2], 2), n_jobs=0),
            "n_jobs=0 was given; give 1 or more",
        ),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()


def test_curves_of_all_outputs_have_names(rng):
    X = rng.standard_normal((6, 3))
    game = ff.FeatureGame(lambda rows: rows[:, :2], X[:2], X, output="all")
    curve = ff.removal_curve(game, ff.shapley(game)[0].output(1))
    assert curve.labels == (
        "row 0, column 0",
        "row 0, column 1",
        "row 1, column 0",
        "row 1, column 1",
    )
    assert curve.worths.shape == (2, 2, 4)
    assert "row 1, column 0" in repr(curve)


def test_pruning_under_a_budget(rng):
    """The estimates of a sum of players are exact, so is the order; the budget is kept."""
    worth, asked = rng.permutation(30) + 1.0, []

    def game(coalitions):
        asked.append(len(coalitions))
        return coalitions @ worth

    found = ff.pruning_curve(game, players=30, budget=5000)
    assert found.order == tuple(np.argsort(worth))
    assert_allclose(found.worths, worth.sum() - np.append(0, np.cumsum(np.sort(worth))))
    assert sum(asked) <= 5000
    with pytest.raises(MemoryError, match="give a budget="):
        ff.pruning_curve(game, players=30)
