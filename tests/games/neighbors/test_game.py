"""Nearest-neighbour games against their definition, and against the table of their worths."""

import hashlib
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors

import fairfield as ff
from fairfield.core.coalitions import enumerate_coalitions
from fairfield.games.neighbors import extension as neighbor_extension
from fairfield.games.neighbors import search as neighbor_search
from fairfield.multilinear.table import TableExtension

KINDS = ("labels", "soft labels", "answers", "ties")


def small_game(rng, n, k, kind, tests=6):
    X, X_test = rng.normal(size=(n, 2)), rng.normal(size=(tests, 2))
    y, y_test = rng.integers(0, 3, n), rng.integers(0, 4, tests)
    if kind == "ties":
        X, X_test = np.round(X), np.round(X_test)
    if kind == "soft labels":
        y = rng.dirichlet(np.ones(4), n)
    if kind == "answers":
        y, y_test = rng.normal(size=n), rng.normal(size=tests)
    return ff.NeighborGame(X, y, X_test, y_test, k=k), (X, y, X_test, y_test)


def big_game(rng, n=6000, tests=40, k=5, width=3, **options):
    X, X_test = rng.normal(size=(n, width)), rng.normal(size=(tests, width))
    y, y_test = X[:, 0] + rng.normal(size=n) > 0, X_test[:, 0] > 0
    return ff.NeighborGame(X, y, X_test, y_test, k=k, **options)


def worth(members, X, y, X_test, y_test, k):
    """The definition: sort the members by distance, then by row number, and look at K."""
    total = 0.0
    for point, label in zip(X_test, y_test, strict=True):
        by_distance = sorted(members, key=lambda j: (float(((X[j] - point) ** 2).sum()), j))
        for j in by_distance[:k]:
            if np.ndim(y) == 2:
                total += y[j, label]
            elif np.asarray(y).dtype.kind == "f":
                total += (np.mean(y) - label) ** 2 - (y[j] - label) ** 2
            else:
                total += float(y[j] == label)
    return total / (k * len(X_test))


def table_of(game):
    worths = game.worths(enumerate_coalitions(len(game.players)))
    return TableExtension.of(ff.TableGame(worths))


def corners(rng, shape):
    """Random points with some entries 0 and some 1."""
    x = rng.random(shape)
    x[rng.random(shape) < 0.15] = 0.0
    x[rng.random(shape) < 0.15] = 1.0
    return x


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "k"), [(1, 1), (1, 4), (6, 1), (7, 3), (7, 7), (5, 9)])
def test_worths_are_their_definition(rng, n, k, kind):
    game, data = small_game(rng, n, k, kind)
    coalitions = enumerate_coalitions(n)
    expected = [worth(np.flatnonzero(row), *data, k) for row in coalitions]
    np.testing.assert_allclose(game.worths(coalitions), expected, atol=1e-13)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "k"), [(1, 1), (9, 1), (10, 3), (12, 5), (11, 11), (7, 9)])
def test_closed_form_equals_table(rng, n, k, kind):
    game, _ = small_game(rng, n, k, kind)
    closed, table = game.extension(), table_of(game)
    x = corners(rng, (4, 5, n))
    np.testing.assert_allclose(closed.value(x), table.value(x), atol=1e-12)
    np.testing.assert_allclose(closed.gradient(x), table.gradient(x), atol=1e-12)
    np.testing.assert_allclose(closed.hessian(x), table.hessian(x), atol=1e-12)
    np.testing.assert_allclose(closed.shapley(), table.shapley(), atol=1e-12)
    value, slopes = closed.centred(x)
    np.testing.assert_allclose(value + closed.offset, table.value(x), atol=1e-12)
    np.testing.assert_array_equal(slopes, closed.gradient(x))
    assert closed.value(np.zeros(n)) == 0.0


@pytest.mark.parametrize("kind", KINDS)
def test_criteria_equal_those_of_the_table(rng, kind):
    game, _ = small_game(rng, 10, 3, kind)
    table = ff.TableGame(game.worths(enumerate_coalitions(10)))
    for criterion in (ff.banzhaf, ff.shapley, ff.leave_one_out, ff.variational_index):
        mine, theirs = criterion(game), criterion(table)
        assert mine.method == "closed form: nearest neighbours"
        np.testing.assert_allclose(mine.values, theirs.values, atol=1e-10)
        assert mine.empty == 0.0
        assert mine.grand == pytest.approx(theirs.grand, abs=1e-13)


def test_lists_end_without_loss(rng):
    """Lists cut at P < 1e-16 against the same recursions over all the rows."""
    game = big_game(rng, n=400)
    closed = game.extension()
    points = rng.random((3, 400)) * 0.6 + 0.4
    points[:, ::7] = 1.0
    answers = [closed.gradient(points), closed.value(points), closed.hessian(points[0])]
    assert closed.reach < 200
    assert 0 < closed.truncation < 2e-16
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neighbor_extension, "NEGLIGIBLE", -1.0)
        whole = [closed.gradient(points), closed.value(points), closed.hessian(points[0])]
        assert closed.reach == 400
    for cut, full in zip(answers, whole, strict=True):
        np.testing.assert_allclose(cut, full, atol=1e-15)


def test_certain_neighbours_do_not_end_a_list_too_early():
    """With x = 1 the nearest row is surely in, yet its own slope asks for the next one."""
    game = ff.NeighborGame(np.arange(30.0)[:, None], np.arange(30) % 2, [[-1.0]], [0], k=1)
    slopes = game.extension().gradient(np.ones(30))
    np.testing.assert_array_equal(slopes, np.eye(30)[0])
    pairs = game.extension().hessian(np.ones(30))
    corners = np.ones((4, 30), dtype=bool)
    corners[:, :2] = enumerate_coalitions(2)
    none, first, second, both = game.worths(corners)
    assert pairs[0, 1] == pairs[1, 0] == both - first - second + none == 1.0


def test_lists_grow_where_few_rows_come_in(rng):
    game = big_game(rng, n=6000, tests=12)
    closed = game.extension()
    closed.gradient(np.full(6000, 0.5))
    short = len(game._lists.nearest(slice(0, 12), 1).rows)
    x = np.full(6000, 0.02)
    slopes, value = closed.gradient(x), closed.value(x)
    assert closed.reach > 1500
    assert short < 200 < len(game._lists.nearest(slice(0, 12), 1).rows)
    full = ff.NeighborGame(*game._inputs, neighbors=sorted_rows(*game._inputs[::2])).extension()
    np.testing.assert_allclose(slopes, full.gradient(x), atol=1e-14)
    assert value == pytest.approx(float(full.value(x)), abs=1e-13)
    again = closed.gradient(np.full(6000, 0.5))
    assert closed.reach < 100
    np.testing.assert_allclose(again, full.gradient(np.full(6000, 0.5)), atol=1e-15)


def test_memory_is_bounded_by_splitting(rng, monkeypatch):
    """Nothing kept, little held: lists of all rows, few test points at a time."""
    game = big_game(rng, n=300, tests=33)
    x = rng.random(300) * 0.1
    closed = game.extension()
    expected = closed.gradient(x), closed.value(x), closed.shapley(), closed.hessian(x)
    every = rng.random((20, 300)) < 0.1
    worths = game.worths(every)
    for room in (
        (neighbor_extension, "HELD", 3000),
        (neighbor_extension, "PAIRS", 10**5),
        (neighbor_search, "KEPT", 100),
        (neighbor_search, "DISTANCES", 700),
    ):
        monkeypatch.setattr(*room)
    monkeypatch.setattr("fairfield.games.neighbors.game.FLAGS", 2000)
    tight = ff.NeighborGame(*game._inputs, k=5)
    closed = tight.extension()
    found = closed.gradient(x), closed.value(x), closed.shapley(), closed.hessian(x)
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-15)
    np.testing.assert_allclose(tight.worths(every), worths, atol=1e-15)


def test_worth_at_the_ends_needs_no_long_lists(rng):
    game = big_game(rng, n=6000)
    grand = game.worths(np.ones((1, 6000), dtype=bool))
    assert float(game.extension().value(np.zeros(6000))) == 0.0
    assert game.extension().value(np.ones(6000)) == pytest.approx(grand[0], abs=1e-14)
    assert game.worths(np.zeros((1, 6000), dtype=bool))[0] == 0.0
    assert len(game._lists.nearest(slice(0, 40), 1).rows) < 200


def test_shapley_is_efficient(rng):
    game = big_game(rng, n=5000, tests=30)
    grand = game.worths(np.ones((1, 5000), dtype=bool))[0]
    assert game.extension().shapley().sum() == pytest.approx(grand, abs=1e-13)


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
    search = neighbor_search.MetricSearch(X, X_test, metric)
    short, full = search(slice(0, 20), 100), search(slice(0, 20), 9000)
    assert 100 <= short.shape[1] < 9000
    np.testing.assert_array_equal(short, full[:, : short.shape[1]])
    distances = cdist(X_test, X, {"manhattan": "cityblock"}.get(metric, metric))
    np.testing.assert_array_equal(full, np.argsort(distances, axis=1, kind="stable"))


def sorted_rows(X, X_test):
    """An index of one's own: a function that sorts all rows."""

    def search(points, count):
        distances = cdist(points, X)
        rows = np.argsort(distances, axis=1, kind="stable")[:, :count]
        return np.take_along_axis(distances, rows, axis=1), rows

    return search


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


def test_players_and_labels():
    frame = pd.DataFrame({"size": [0.0, 1.0, 2.0]}, index=["ann", "bob", "eve"])
    game = ff.NeighborGame(frame, ["no", "yes", "yes"], frame.iloc[:1], ["yes"], k=1)
    assert game.players == ("ann", "bob", "eve")
    alike = frame.set_axis(["ann", "ann", "eve"])
    assert ff.NeighborGame(alike, [0, 1, 1], alike, [0, 1, 1], k=1).players == (0, 1, 2)
    assert game.worths(enumerate_coalitions(3)).tolist() == [0, 0, 1, 0, 1, 0, 1, 0]
    assert repr(game) == "NeighborGame: 3 rows, k=1, 1 test point"
    unseen = ff.NeighborGame(frame, ["no", "yes", "yes"], frame, ["maybe"] * 3, k=1)
    assert not unseen.worths(enumerate_coalitions(3)).any()
    shares = pd.DataFrame({"no": [0.9, 0.2, 0.3], "yes": [0.1, 0.8, 0.7]})
    soft = ff.NeighborGame(frame, shares, frame.iloc[:1], ["yes"], k=1)
    np.testing.assert_allclose(soft.worths(np.eye(3, dtype=bool)), [0.1, 0.8, 0.7])


def test_task_follows_the_labels():
    X = np.arange(4.0)[:, None]
    assert ff.NeighborGame(X, [0.0, 1.0, 1.0, 0.0], X, [0, 1, 0, 1]).task == "classification"
    assert ff.NeighborGame(X, [0.5, 1.0, 1.0, 0.0], X, [0, 1, 0, 1]).task == "regression"
    counts = ff.NeighborGame(X, [1, 2, 3, 4], X, [1, 2, 3, 4], task="regression", k=1)
    # Every answer is its own neighbour's: the gain is the variance of y.
    assert counts.worths(np.ones((1, 4), dtype=bool))[0] == pytest.approx(1.25)


def test_description_tells_games_apart(rng):
    game, (X, y, X_test, y_test) = small_game(rng, 6, 3, "labels")
    assert pickle.loads(pickle.dumps(game)).describe() == game.describe()
    others = [
        ff.NeighborGame(X + 1, y, X_test, y_test, k=3),
        ff.NeighborGame(X, y, X_test, y_test, k=4),
        ff.NeighborGame(X, y, X_test, y_test, k=3, metric="cosine"),
        ff.NeighborGame(X, y.astype(str).astype(object), X_test, y_test.astype(str), k=3),
    ]
    prints = {hashlib.sha256(str(g.describe()).encode()).hexdigest() for g in [game, *others]}
    assert len(prints) == 5


X3, Y3, T2, U2 = np.zeros((3, 2)), [0, 1, 1], np.zeros((2, 2)), [0, 1]
BAD = {
    "k=0 was given; it must be a whole number": {"k": 0},
    "k=1.5 was given; it must be a whole number": {"k": 1.5},
    r"X\[1, 0\] is nan": {"X": [[0, 0], [np.nan, 0], [0, 0]]},
    r"X_test\[0, 1\] is inf": {"X_test": [[0, np.inf], [0, 0]]},
    "X must be an array of numbers": {"X": [["a", "b"]] * 3},
    "X of shape": {"X": np.zeros(3)},
    "X has 2 columns and X_test has 3": {"X_test": np.zeros((2, 3))},
    "X has 3 rows and y has 2": {"y": [0, 1]},
    "X_test has 2 rows and y_test has 1": {"y_test": [0]},
    "X has no rows": {"X": np.zeros((0, 2))},
    "X_test has no rows": {"X_test": np.zeros((0, 2))},
    "X is one float": {"X": 1.0},
    "y holds nan in row 1": {"y": [0.0, np.nan, 1.0]},
    "their labels can never be equal": {"y": ["a", "b", "c"]},
    "one column of y per class": {"y": np.zeros((3, 1))},
    "y_test holds 7, but the columns of y are 0 to 1": {"y": np.zeros((3, 2)), "y_test": [0, 7]},
    "regression needs numbers": {"y": ["a", "b", "c"], "y_test": ["a", "b"], "task": "regression"},
    "task='ranking' is not known": {"task": "ranking"},
    "metric='crow' is not known": {"metric": "crow"},
}


@pytest.mark.parametrize("sentence", BAD)
def test_bad_input(sentence):
    given = {"X": X3, "y": Y3, "X_test": T2, "y_test": U2, **BAD[sentence]}
    with pytest.raises(ValueError, match=sentence):
        ff.NeighborGame(
            given.pop("X"), given.pop("y"), given.pop("X_test"), given.pop("y_test"), **given
        )


def test_bad_index_object():
    with pytest.raises(TypeError, match="neighbors= is a int; pass an object with kneighbors"):
        ff.NeighborGame(X3, Y3, T2, U2, neighbors=3)


def test_bad_points_and_sizes(rng):
    closed = big_game(rng, n=6000).extension()
    with pytest.raises(ValueError, match="for 6000 players"):
        closed.gradient(np.zeros(7))
    with pytest.raises(MemoryError, match=r"takes 2,880,000,000 bytes"):
        closed.hessian(np.zeros((10, 6000)))


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
