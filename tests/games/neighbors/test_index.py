"""Search by indexes of one's own, of scikit-learn and of libraries for approximate search."""

import numpy as np
import pandas as pd
import pytest
from sklearn.neighbors import NearestNeighbors

import fairfield as ff
from games.neighbors.examples import big_game, sorted_rows


def test_own_index(rng):
    game = big_game(rng, n=500)
    x = rng.random(500) * 0.3
    expected = game.extension().gradient(x)
    fitted = NearestNeighbors().fit(game._inputs[0])
    for index in (sorted_rows(game._inputs[0], None), fitted):
        other = ff.NeighborGame(*game._inputs, neighbors=index)
        np.testing.assert_allclose(other.extension().gradient(x), expected, atol=1e-15)
        np.testing.assert_allclose(
            other.extension().shapley(), game.extension().shapley(), atol=1e-14
        )
    frames = [pd.DataFrame(given) for given in game._inputs[::2]]
    framed = ff.NeighborGame(
        frames[0], game._inputs[1], frames[1], game._inputs[3], neighbors=fitted
    )
    np.testing.assert_allclose(framed.extension().gradient(x), expected, atol=1e-15)


def test_own_index_puts_ties_in_order():
    """All rows equally far: by row number, however the index has them."""

    def backwards(points, count):
        rows = np.arange(9)[::-1][:count]
        return np.zeros((len(points), count)), np.tile(rows, (len(points), 1))

    game = ff.NeighborGame(np.zeros((9, 1)), np.arange(9), [[0.0]], [0], k=1, neighbors=backwards)
    assert game.worths(np.ones((1, 9), dtype=bool))[0] == 1.0


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (lambda m: (np.zeros((1, 3)), np.zeros((1, 3), int)), r"both must have shape \(1, 9\)"),
        (lambda m: (np.zeros((1, m)), np.full((1, m), -1)), "row -1, and X has rows 0 to 8"),
        (lambda m: (np.zeros((1, m)), np.full((1, m), 9)), "row 9, and X has rows 0 to 8"),
        (lambda m: (-np.arange(m)[None], np.arange(m)[None]), "turn similarities into distances"),
    ],
)
def test_bad_index(answer, sentence):
    game = ff.NeighborGame(
        np.zeros((9, 1)), np.arange(9), [[0.0]], [0], neighbors=lambda points, m: answer(m)
    )
    with pytest.raises(ValueError, match=sentence):
        game.extension().gradient(np.full(9, 0.5))


def test_bad_index_object():
    with pytest.raises(TypeError, match="neighbors= is a int; pass an object with kneighbors"):
        ff.NeighborGame(np.zeros((3, 2)), [0, 1, 1], np.zeros((2, 2)), [0, 1], neighbors=3)


class Renamed:
    """An exact index that calls its search as another library does, in single precision."""

    def __init__(self, name, X, rows_first):
        self.rows_first = rows_first
        setattr(self, name, self._search)
        self.exact = sorted_rows(X, None)

    def _search(self, points, count):
        distances, rows = self.exact(np.float32(points), count)
        answer = distances.astype(np.float32), rows.astype(np.uint64)
        return answer[::-1] if self.rows_first else answer


@pytest.mark.parametrize(
    ("name", "rows_first"),
    [("search", False), ("knn_query", True), ("query", True), ("query", False)],
    ids=["faiss", "hnswlib", "pynndescent", "scipy"],
)
def test_searches_by_other_names(name, rows_first, rng):
    game = big_game(rng, n=500)
    index = Renamed(name, game._inputs[0], rows_first)
    found = ff.NeighborGame(*game._inputs, neighbors=index)
    np.testing.assert_allclose(ff.banzhaf(found).values, ff.banzhaf(game).values, atol=1e-4)


def faiss_index(X):
    faiss = pytest.importorskip("faiss", reason="needs faiss-cpu")
    index = faiss.IndexFlatL2(X.shape[1])
    index.add(X.astype(np.float32))
    return index


def hnswlib_index(X):
    hnswlib = pytest.importorskip("hnswlib", reason="needs hnswlib")
    index = hnswlib.Index(space="l2", dim=X.shape[1])
    index.init_index(max_elements=len(X), random_seed=0)
    index.add_items(X)
    index.set_ef(400)
    return index


@pytest.mark.parametrize("make", [faiss_index, hnswlib_index])
def test_libraries_of_approximate_search(make, rng):
    """Nearly the same neighbours, so nearly the same values."""
    game = big_game(rng, n=3000)
    index = make(game._inputs[0])
    found = ff.NeighborGame(*game._inputs, neighbors=index)
    mine, theirs = ff.variational_index(found).values, ff.variational_index(game).values
    assert np.corrcoef(mine, theirs)[0, 1] > 0.99
