"""The order of neighbours, by a metric, on a device, or by an index of one's own."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import fairfield as ff
from fairfield.games.neighbors import search as neighbor_search
from games.examples import assert_same_game
from games.neighbors.examples import sorted_rows


@pytest.mark.parametrize(
    ("metric", "width", "grid"),
    [
        ("euclidean", 3, 0),
        ("euclidean", 30, 0),  # brute search, by matrix products
        ("euclidean", 3, 6),
        ("euclidean", 20, 2),
        ("manhattan", 3, 0),
        ("chebyshev", 6, 4),
        ("cosine", 20, 0),
    ],
)
def test_search_finds_the_full_order(rng, metric, width, grid):
    """Short lists are the beginnings of long ones, ties and rounding included."""
    X, X_test = rng.normal(100, 1, size=(9000, width)), rng.normal(100, 1, size=(20, width))
    if grid:
        X, X_test = (rng.integers(0, grid, a.shape).astype(float) for a in (X, X_test))
    search = neighbor_search.MetricSearch(X, X_test, metric, distances=True)
    (short, near), (full, far) = search(slice(0, 20), 100), search(slice(0, 20), 9000)
    assert 100 <= short.shape[1] < 9000
    np.testing.assert_array_equal(short, full[:, : short.shape[1]])
    distances = cdist(X_test, X, {"manhattan": "cityblock"}.get(metric, metric))
    np.testing.assert_array_equal(full, np.argsort(distances, axis=1, kind="stable"))
    np.testing.assert_array_equal(far, np.sort(distances, axis=1))
    np.testing.assert_array_equal(near, far[:, : near.shape[1]])


def test_metrics_and_indexes_may_write_into_what_they_get(rng, monkeypatch):
    X, X_test = rng.standard_normal((1000, 2)), rng.standard_normal((4, 2))
    y, y_test = rng.integers(0, 2, 1000), rng.integers(0, 2, 4)

    def metric(one, other):
        found = np.abs(one - other).sum()
        one[:], other[:] = 0, 0
        return found

    def index(points, count):
        found = sorted_rows(X, X_test)(points, count)
        points[:] = 0
        return found

    S = rng.random((5, 1000)) < 0.01  # lists must grow: the same points are asked for again
    for small in (neighbor_search.SMALL, 8):
        monkeypatch.setattr(neighbor_search, "SMALL", small)
        given = X.copy(), y, X_test.copy(), y_test
        wanted = ff.NeighborGame(*given, k=2, metric="cityblock").worths(S)
        np.testing.assert_allclose(ff.NeighborGame(*given, k=2, metric=metric).worths(S), wanted)
        wanted = ff.NeighborGame(*given, k=2).worths(S)
        np.testing.assert_allclose(ff.NeighborGame(*given, k=2, neighbors=index).worths(S), wanted)
        np.testing.assert_array_equal(given[0], X)
        np.testing.assert_array_equal(given[2], X_test)


def test_neighbours_on_any_device(xp, rng):
    # Whole numbers, so that there are many rows at equal distance.
    X, X_test = rng.integers(0, 4, (40, 2)).astype(float), rng.integers(0, 4, (9, 2)).astype(float)
    y, y_test = rng.integers(0, 2, 40), rng.integers(0, 2, 9)
    here = ff.NeighborGame(X, y, X_test, y_test, k=3)
    there = ff.NeighborGame(*map(xp.asarray, (X, y, X_test, y_test)), k=3)
    assert_same_game(here, there, rng)
    assert there.describe() == here.describe()
    with pytest.raises(ValueError, match="on a device, where distances are Euclidean"):
        ff.NeighborGame(*map(xp.asarray, (X, y, X_test, y_test)), metric="cosine")
