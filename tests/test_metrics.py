"""Detection and stability agree with their definitions, spelled out."""

from itertools import combinations, permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import spearmanr
from sklearn.cluster import KMeans
from sklearn.metrics import f1_score

import brute
import fairfield as ff


def test_detection_counts_ties_as_a_random_order_would(rng):
    values = np.array([0, 0, 1, 1, 1, 2])
    bad = np.array([True, False, True, True, False, False])
    for among in range(1, 7):
        rates = []
        for order in permutations(range(6)):
            lowest = sorted(order, key=lambda i: values[i])[:among]
            rates.append(bad[lowest].sum() / 3)
        assert_allclose(ff.detection_rate(values, bad, among), np.mean(rates))
    assert ff.detection_rate(values, bad) == ff.detection_rate(values, bad, 3)


def test_bad_players_may_be_named():
    game = ff.TableGame(brute.coalitions(3) @ [3.0, -1.0, 2.0], ["ann", "bob", "eve"])
    found = ff.banzhaf(game)
    assert ff.detection_rate(found, ["bob"]) == 1
    assert ff.detection_f1(found, {"bob"}) == 1
    assert ff.detection_rate([1, 0, 2], [1]) == 1
    pairs = ff.TableGame(brute.coalitions(2) @ [3.0, -1.0], [("a", 1), ("b", 2)])
    assert ff.detection_rate(ff.shapley(pairs), [("b", 2)]) == 1
    with pytest.raises(ValueError, match="no player 'joe'"):
        ff.detection_rate(found, ["joe"])


def test_detection_f1_is_that_of_k_means(rng):
    for _ in range(20):
        bad = rng.random(30) < 0.3
        bad[0] = True
        values = rng.standard_normal(30) - 2 * bad
        clusters = KMeans(2, n_init=20, random_state=0).fit(values[:, None])
        flagged = clusters.labels_ == clusters.cluster_centers_.argmin()
        assert_allclose(ff.detection_f1(values, bad), f1_score(bad, flagged))
    assert ff.detection_f1(np.ones(30), bad) == 0


def test_stability_is_the_mean_over_pairs(rng):
    runs = rng.standard_normal((4, 20))
    runs[:, :5] = runs[0, :5].round()
    found = ff.rank_stability(list(runs), top=0.2)
    pairs = list(combinations(runs, 2))
    tops = [set(np.argsort(-run, kind="stable")[:4].tolist()) for run in runs]
    shared = [len(a & b) / 4 for a, b in combinations(tops, 2)]
    assert_allclose(found.spearman, np.mean([spearmanr(a, b)[0] for a, b in pairs]))
    assert_allclose(found.overlap, np.mean(shared))
    assert found.runs == 4
    assert np.isnan(ff.rank_stability([[1, 1, 1], [1, 2, 3]]).spearman)


def test_stability_counts_ties_as_random_orders_would():
    one, other = np.array([3, 2, 2, 2, 1]), np.array([1, 2, 2, 3, 3])

    def tops(run):
        return [set(sorted(order, key=lambda i: -run[i])[:2]) for order in permutations(range(5))]

    shared = [len(a & b) / 2 for a in tops(one) for b in tops(other)]
    assert_allclose(ff.rank_stability([one, other], top=0.4).overlap, np.mean(shared))
    assert_allclose(ff.rank_stability([np.ones(10), np.ones(10)], top=0.2).overlap, 0.2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ff.detection_rate([1, 2], [False, False]), "no player is called bad"),
        (lambda: ff.detection_rate([1, 2], [True, False], 3), "give 1 to 2"),
        (lambda: ff.detection_rate([5, 4, -2], np.array([0, 0, 1])), r"use \.astype\(bool\)"),
        (lambda: ff.detection_f1([5, 4, -2], [0, 0, 1]), r"use \.astype\(bool\)"),
        (lambda: ff.detection_rate([5, 4, -2], np.array([True, False])), "there are 3 players"),
        (lambda: ff.detection_rate([1, np.nan], [1]), "player 1 is NaN"),
        (lambda: ff.rank_stability([[1, 2], [np.nan, 2]]), "player 0 is NaN"),
        (lambda: ff.rank_stability([[1, 2]]), "two or more runs"),
        (lambda: ff.rank_stability([[1, 2], [1, 2, 3]]), "same players"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()
