"""Scores of held-out coalitions, against their definitions spelled out."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import brute
import fairfield as ff
from fairfield.games.given.table import TableGame
from fairfield.learning import score, score_table
from fairfield.learning.law import log_partition
from fairfield.learning.observed import observe
from fairfield.learning.scores import fill_in


def by_hand(game, coalition):
    """Rank and probability to come first of each hidden member, over all orders of ties."""
    n = len(game.players)
    ranks, firsts = [], []
    for i in np.flatnonzero(coalition):
        rest = coalition.copy()
        rest[i] = False
        candidates = np.flatnonzero(~rest)
        joined = [rest | (np.arange(n) == j) for j in candidates]
        worths = game.worths(np.array(joined))
        own = worths[list(candidates).index(i)]
        others = np.delete(worths, list(candidates).index(i))
        below, ties = np.sum(others < own - 1e-9), np.sum(abs(others - own) <= 1e-9)
        places = [below + 1 + k for k in range(ties + 1)]
        ranks.append(np.mean(places) / len(candidates))
        firsts.append(np.mean([place == len(candidates) for place in places]))
    return np.mean(ranks), np.mean(firsts)


@pytest.mark.parametrize("closed", [True, False])
def test_fill_in_is_its_definition(rng, closed):
    # Whole numbers, so that there are ties.
    pairs = np.triu(rng.integers(-1, 2, (7, 7)), 1)
    game = ff.PairwiseGame(rng.integers(-1, 2, 7), pairs + pairs.T)
    if not closed:
        game = ff.FunctionGame(game.worths, players=7)
    coalitions = brute.coalitions(7)
    coalitions = coalitions[coalitions.sum(axis=1) > 1]
    expected = np.array([by_hand(game, row) for row in coalitions]).T
    assert_allclose(fill_in(game, coalitions), expected, atol=1e-12)


def test_scores_count_repeated_coalitions(rng):
    game = ff.PairwiseGame([1.0, 0.0, -1.0], np.zeros((3, 3)))
    seen = [[0, 1], [0, 1], [1, 2], [2]]
    got = score(game, seen)
    # Hidden 0: first of {0, 2}; hidden 1: first of {1, 2}. Of {1, 2}, both come second to 0.
    assert got.percentile_rank == pytest.approx((100 + 100 + 50) / 3)
    assert got.top_1 == pytest.approx(200 / 3)
    spread = np.std([100, 100, 0], ddof=1)
    assert got.top_1_error == pytest.approx(spread / np.sqrt(3))
    law = ff.Boltzmann(game, 1.0)
    probabilities = law.probability(np.array([[1, 1, 0], [1, 1, 0], [0, 1, 1], [0, 0, 1]]))
    assert got.log_likelihood == pytest.approx(np.log(probabilities).mean())


def test_chance_level_is_half(rng):
    """Equal players tie: the rank is the middle one, and the first place is shared."""
    n = 9
    rows = rng.random((50, n)) < 0.5
    got = score(ff.PairwiseGame(np.zeros(n), np.zeros((n, n))), rows)
    candidates = n + 1 - rows.sum(axis=1)[rows.sum(axis=1) > 1]
    assert got.percentile_rank == pytest.approx(np.mean(100 * (candidates + 1) / 2 / candidates))
    pair = score(ff.PairwiseGame(np.zeros(n), np.zeros((n, n))), [[0, 1]])
    assert pair.percentile_rank == pytest.approx(100 * (n / 2) / (n - 1))
    assert pair.top_1 == pytest.approx(100 / (n - 1))


def test_coalitions_of_one_have_no_fill_in():
    game = ff.PairwiseGame(np.zeros(3), np.zeros((3, 3)))
    got = score(game, [[0], []])
    assert got.percentile_rank is None
    assert got.top_1_error is None
    assert got.log_likelihood == pytest.approx(-3 * np.log(2))
    assert "log-likelihood" in repr(score_table({"flat": game}, [[0], []]))


def test_one_coalition_has_no_standard_error():
    game = ff.PairwiseGame(np.zeros(3), np.zeros((3, 3)))
    got = score(game, [[0, 1]])
    assert got.log_likelihood == pytest.approx(-3 * np.log(2))
    assert (got.log_likelihood_error, got.percentile_rank_error, got.top_1_error) == (None,) * 3
    assert "-2.079" in repr(score_table({"flat": game}, [[0, 1]]))
    with pytest.raises(ValueError, match="one game of the batch"):
        score(TableGame(np.zeros((2, 8))), [[0, 1]])


def test_log_partition(rng):
    linear = ff.learn(rng.random((100, 40)) < 0.3, "linear")
    a = linear.form.linear
    assert log_partition(linear) == (pytest.approx(np.log1p(np.exp(a)).sum()), 0.0)
    two = ff.PairwiseGame([1.0, -1.0], [[0, 2], [2, 0]])
    assert log_partition(two)[0] == pytest.approx(np.log(1 + np.e + 1 / np.e + np.exp(2)))
    unknown = ff.FunctionGame(lambda S: S.sum(axis=1), players=40)
    assert log_partition(unknown) is None
    assert score(unknown, [[0, 1]]).log_likelihood is None
    assert score(unknown, [[0, 1]], log_z=3.0).log_likelihood == pytest.approx(-1.0)


def test_log_likelihood_of_many_players_is_estimated(rng):
    """Independent pairs of players: log Z is a sum over them."""
    n = 30
    linear, bond = rng.normal(-1, 0.5, n), rng.normal(0, 1, n // 2)
    pairs = np.zeros((n, n))
    pairs[np.arange(0, n, 2), np.arange(1, n, 2)] = bond
    game = ff.PairwiseGame(linear, pairs + pairs.T)
    a, b = linear[::2], linear[1::2]
    exact = np.log(1 + np.exp(a) + np.exp(b) + np.exp(a + b + bond)).sum()
    log_z, error = log_partition(game)
    assert 0 < error < 0.2
    assert abs(log_z - exact) < 5 * error
    got = score(game, [[0, 1], [0, 1]])
    assert got.log_likelihood_error == pytest.approx(error)


def test_table_beside_independent_players(rng):
    pairs = np.zeros((6, 6))
    pairs[0, 1] = pairs[1, 0] = pairs[2, 3] = pairs[3, 2] = 4.0
    truth = ff.PairwiseGame(np.full(6, -2.0), pairs)
    seen = observe(ff.Boltzmann(truth, 1.0).draw(4000, seed=3))
    train, test = seen.split(0.25, seed=1)
    table = score_table({"pairs": ff.learn(train, strength=1.0)}, test, learned_from=train)
    assert list(table) == ["pairs", "independent players"]
    better, worse = table.values()
    error = np.hypot(better.percentile_rank_error, worse.percentile_rank_error)
    assert better.percentile_rank > worse.percentile_rank + 5 * error
    assert better.log_likelihood > worse.log_likelihood
    assert "1000 observed coalitions" in repr(table)
    assert "<table>" in table._repr_html_()
    pytest.importorskip("pandas")
    assert table.to_frame().loc["pairs", "top_1"] == better.top_1


def test_other_players_are_refused():
    game = ff.PairwiseGame(np.zeros(2), np.zeros((2, 2)), players=["a", "b"])
    with pytest.raises(ValueError, match="not among the players"):
        score(game, [["c"]])
    with pytest.raises(ValueError, match="player 'c' was observed, who is not among"):
        score(game, observe([["b"], ["c"]]))
    with pytest.raises(ValueError, match="nothing to compare"):
        score_table({}, [["a"]])


def test_players_are_found_by_name(rng):
    """In whatever order, and if not all of them occur: as when train and test are two files."""
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(rng.random((60, 3)) < [0.1, 0.5, 0.9], columns=["a", "b", "c"])
    game = ff.learn(frame, strength=1.0)
    expected = score_table({"pairs": game}, frame, learned_from=frame)
    turned = frame[["c", "a", "b"]]
    for each in (turned, observe(turned)):
        assert score(game, each) == expected["pairs"]
        found = score_table({"pairs": game}, each, learned_from=each)
        assert dict(found) == dict(expected)
    assert score(game, observe([["c", "b"]])) == score(game, [["c", "b"]])
    with pytest.raises(ValueError, match="player 'x' was observed"):
        score(game, frame.rename(columns={"a": "x"}))
