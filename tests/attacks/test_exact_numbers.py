"""Closed forms that once gave wrong numbers and called them exact."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, NuSVC

import brute
import fairfield as ff
from fairfield.games.neighbors import search


def test_a_rounded_bankruptcy_says_so():
    claims = np.sqrt([2.0, 3.0, 5.0, 7.0])
    game = ff.BankruptcyGame(claims, 4.0, resolution=50)
    found = ff.banzhaf(game)
    assert found.stop.startswith("exact for the rounded game; the game was rounded")
    truth = brute.banzhaf(game.worths(brute.coalitions(4)))
    assert 0 < np.abs(found.values - truth).max() <= game.extension().coarseness
    assert ff.banzhaf(ff.BankruptcyGame([1, 2, 3], 4)).stop == "exact"


@pytest.mark.parametrize("model", [SVC, NuSVC])
@pytest.mark.parametrize("piped", [False, True])
def test_the_margin_of_a_pair_of_classes_is_never_that_of_a_class(model, piped, rng):
    X, y = rng.normal(size=(60, 3)), np.repeat([0, 1, 2], 20)
    ovo = model(kernel="linear", decision_function_shape="ovo")
    ovo = (make_pipeline(StandardScaler(), ovo) if piped else ovo).fit(X, y)
    for game in (ff.FeatureGame,) if piped else (ff.FeatureGame, ff.LinearGame):
        for output in (None, 0, "all"):
            with pytest.raises(TypeError, match="a margin for each pair of classes"):
                game(ovo, X[:2], X[:9], output=output)


def test_compare_is_the_same_whatever_the_order_of_criteria(rng):
    """Free energy reads a table, the others a closed form: each its own law."""
    game = ff.PairwiseGame(rng.normal(size=6), np.zeros((6, 6)))
    names = ["free_energy_value", "shapley", "variational_index"]
    options = {"temperature": 0.7, "decoupling": True, "budget": 3000}
    one, other = (ff.compare(game, criteria=each, **options) for each in (names, names[::-1]))
    for name in names:
        assert one[name].log_z == other[name].log_z
        assert one[name].decoupling_error == other[name].decoupling_error
        assert (one[name].values == other[name].values).all()


@pytest.mark.parametrize(("a", "b"), [(1, 1100), (1100, 1), (900, 1100), (1e-9, 1e300)])
def test_extreme_beta_values_of_closed_forms(a, b):
    game = ff.VotingGame(np.arange(1, 12), quota=30)
    table = ff.TableGame(game.worths(brute.coalitions(11)))
    values = [ff.semivalue(each, ff.beta(a, b)).values for each in (game, table)]
    assert_allclose(*values, atol=1e-13)


def test_offsets_cost_cardinality_games_no_digits():
    worth = np.sin(np.arange(13.0))
    far = (worth + 2.0**40) - 2.0**40  # what is left of them beside the offset
    games = [ff.CardinalityGame(each) for each in (far, far + 2.0**40)]
    for criterion in (ff.banzhaf, ff.shapley):
        assert_allclose(*(criterion(game).values for game in games), rtol=1e-12)
    found = [ff.variational_index(game, temperature=0.1) for game in games]
    assert found[1].converged
    assert_allclose(found[0].values, found[1].values, rtol=1e-9)
    assert games[1].extension().value(np.ones(12)) == far[-1] + 2.0**40


@pytest.mark.parametrize("metric", ["dice", "braycurtis", "seuclidean", "mahalanobis", "own"])
def test_distances_without_a_triangle_inequality_are_exact(metric, rng, monkeypatch):
    """Trees leave rows out by that inequality, and some distances are scaled by the data given."""
    monkeypatch.setattr(search, "SMALL", 16)
    X, X_test = rng.random((400, 3)) ** 4, rng.random((9, 3)) ** 4
    if metric == "dice":
        X, X_test = X > 0.1, X_test > 0.1
    X, X_test = X.astype(float), X_test.astype(float)
    scale = {"V": X.var(axis=0, ddof=1)} if metric == "seuclidean" else {}
    if metric == "mahalanobis":
        scale = {"VI": np.linalg.inv(np.cov(X.T))}
    used = (lambda u, v: np.sum((u - v) ** 2) ** 2) if metric == "own" else metric
    truth = np.argsort(cdist(X_test, X, used, **scale), axis=1, kind="stable")
    found, _ = search.MetricSearch(X, X_test, used)(slice(0, 9), 5)
    np.testing.assert_array_equal(found, truth[:, :5])


def test_distances_that_are_no_numbers_are_refused(rng):
    X = rng.random((30, 2))
    X[3] = 0.0
    y = rng.integers(0, 2, 30)
    with pytest.raises(ValueError, match="not a number by metric='cosine'"):
        ff.shapley(ff.NeighborGame(X, y, X[:4], y[:4], metric="cosine"))
    with pytest.raises(ValueError, match="do not determine each other"):
        ff.NeighborGame(X[:, [0, 0]], y, X[:4, [0, 0]], y[:4], metric="mahalanobis")


@pytest.mark.parametrize(
    "ask",
    [
        lambda: ff.beta("a", 1),
        lambda: ff.beta(None, 1),
        lambda: ff.beta([1, 2], 1),
        lambda: ff.beta(1e308, 1e308),
        lambda: ff.semivalue([0.0, 1.0, 1.0, 3.0], "shapley"),
        lambda: ff.samples_needed("a", 0.1),
        lambda: ff.concentrated("a"),
        lambda: ff.VotingGame([1, 2], "half"),
    ],
)
def test_what_is_no_number_is_named(ask):
    with pytest.raises(ValueError, match=r"finite|it must lie|weights='shapley'"):
        ask()
