"""Nearest-neighbour games against their definition, and against the table of their worths."""

import hashlib
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.neighbors import NearestNeighbors

import fairfield as ff
from fairfield.core.coalitions import enumerate_coalitions
from games.neighbors.examples import small_game

# Test points of a class that no row has are worth 0 throughout.
pytestmark = pytest.mark.filterwarnings("ignore:.*a label that no training row has")
KINDS = ("labels", "soft labels", "answers", "ties")


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


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "k"), [(1, 1), (1, 4), (6, 1), (7, 3), (7, 7), (5, 9)])
def test_worths_are_their_definition(rng, n, k, kind):
    game, data = small_game(rng, n, k, kind)
    coalitions = enumerate_coalitions(n)
    expected = [worth(np.flatnonzero(row), *data, k) for row in coalitions]
    np.testing.assert_allclose(game.worths(coalitions), expected, atol=1e-13)


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


@pytest.mark.parametrize(
    "stored",
    [
        lambda y: y.astype(object),
        lambda y: y.astype(float),
        lambda y: pd.Series(y, dtype="category"),
        lambda y: pd.Series(y, dtype="Int64"),
        lambda y: pd.Series(y.astype(object)),
    ],
)
def test_whole_labels_are_equal_however_they_are_stored(stored, rng):
    game, (X, y, X_test, y_test) = small_game(rng, 8, 3, "labels")
    wanted = game.worths(enumerate_coalitions(8))
    for labels in ((stored(y), y_test), (y, stored(y_test)), (stored(y), stored(y_test))):
        other = ff.NeighborGame(X, labels[0], X_test, labels[1], k=3)
        assert other.task == "classification"
        np.testing.assert_array_equal(other.worths(enumerate_coalitions(8)), wanted)
    objects = ff.NeighborGame(X, y.astype(object), X_test, y_test.astype(object), k=3)
    assert objects.describe() == game.describe()


def test_other_labels_are_equal_however_they_are_stored(rng):
    X, every = rng.normal(size=(6, 2)), enumerate_coalitions(6)
    texts = np.array(["no", "yes", "no", "no", "yes", "yes"])
    wanted = ff.NeighborGame(X, texts, X, texts, k=2).worths(every)
    for y in (texts.astype(object), pd.Series(texts, dtype="category"), texts == "yes"):
        np.testing.assert_array_equal(ff.NeighborGame(X, y, X, y, k=2).worths(every), wanted)
    answers = rng.normal(size=6)
    wanted = ff.NeighborGame(X, answers, X, answers, k=2)
    objects = ff.NeighborGame(X, answers.astype(object), X, answers.astype(object), k=2)
    assert objects.task == wanted.task == "regression"
    np.testing.assert_array_equal(objects.worths(every), wanted.worths(every))
    with pytest.raises(ValueError, match="y holds None in row 1; leave that row out"):
        ff.NeighborGame(X, np.array(["a", None, *"abab"], dtype=object), X, texts)


def test_task_follows_the_labels():
    X = np.arange(4.0)[:, None]
    assert ff.NeighborGame(X, [0.0, 1.0, 1.0, 0.0], X, [0, 1, 0, 1]).task == "classification"
    assert ff.NeighborGame(X, [0.5, 1.0, 1.0, 0.0], X, [0, 1, 0, 1]).task == "regression"
    counts = ff.NeighborGame(X, [1, 2, 3, 4], X, [1, 2, 3, 4], task="regression", k=1)
    # Every answer is its own neighbour's: the gain is the variance of y.
    assert counts.worths(np.ones((1, 4), dtype=bool))[0] == pytest.approx(1.25)


def indexed(*data):
    """The same rows under two indexes."""
    for p in (1, 2):
        yield ff.NeighborGame(*data, neighbors=NearestNeighbors(p=p).fit(data[0]))


def test_description_tells_games_apart(rng):
    game, (X, y, X_test, y_test) = small_game(rng, 6, 3, "labels")
    assert pickle.loads(pickle.dumps(game)).describe() == game.describe()
    others = [
        ff.NeighborGame(X + 1, y, X_test, y_test, k=3),
        ff.NeighborGame(X, y, X_test, y_test, k=4),
        ff.NeighborGame(X, y, X_test, y_test, k=3, metric="cosine"),
        ff.NeighborGame(X, y.astype(str).astype(object), X_test, y_test.astype(str), k=3),
    ]
    assert len({g.describe()["metric"] for g in indexed(X, y, X_test, y_test)}) == 2
    shares = pd.DataFrame(rng.dirichlet(np.ones(2), 6), columns=["no", "yes"])
    said = ["no", "yes", "no", "no", "yes", "yes"]
    soft = [
        ff.NeighborGame(X, shares.set_axis(names, axis=1), X_test, said)
        for names in (["no", "yes"], ["yes", "no"])
    ]
    assert soft[0].describe() != soft[1].describe()
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
