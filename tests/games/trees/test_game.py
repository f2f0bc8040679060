"""Tree games: players, groups, what identifies them, what is refused."""

import pickle
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import coo_array, csc_array, csr_matrix
from sklearn.base import clone
from sklearn.ensemble import (
    RandomForestRegressor,
)

import fairfield as ff
from fairfield.games.trees import game as trees
from fairfield.games.trees.game import TreeGame
from fairfield.games.trees.products import terms
from games.trees.models import (
    BACKGROUND,
    COLUMNS,
    ROWS,
    X,
    Y,
    assert_is_its_table,
    fitted,
    mixed_means,
)


def test_players_and_data():
    model, _, _, _ = fitted("forest")
    frame = pd.DataFrame(X, columns=list("abcdef"))
    game = TreeGame(model, frame.iloc[:3], frame.iloc[10:20])
    assert game.players == tuple("abcdef")
    assert game.batch == (3,)
    np.testing.assert_array_equal(game.info.data, X[:3])
    one = TreeGame(model, frame.iloc[0], frame.iloc[10:20])
    assert (one.players, one.batch) == (tuple("abcdef"), ())
    np.testing.assert_array_equal(one.info.data, X[0])
    # The model knows no names, so one of the two orders is wrong.
    with pytest.raises(ValueError, match="background are not those of the rows"):
        TreeGame(model, frame.iloc[:3], frame.loc[10:19, list("fedcba")])
    named = clone(model).fit(frame, frame["a"])
    mixed = TreeGame(named, frame.iloc[:3], frame.loc[10:19, list("fedcba")])
    plain = TreeGame(named, frame.iloc[:3], frame.iloc[10:20])
    np.testing.assert_array_equal(mixed.extension().shapley(), plain.extension().shapley())
    assert TreeGame(model, X[:3]).players == tuple(range(COLUMNS))
    assert TreeGame(model, X[:3], frame.iloc[10:20]).players == tuple("abcdef")
    assert repr(game) == "TreeGame: 3 rows of 6 features, for the prediction"


def test_a_game_is_known_by_what_it_is_made_of():
    model, _, _, _ = fitted("forest")
    game = TreeGame(model, X[:3], X[10:20])
    assert game.describe() == TreeGame(model, X[:3], X[10:20]).describe()
    assert game.describe() != TreeGame(model, X[:3], X[10:21]).describe()
    assert game.describe() != TreeGame(model, X[:3]).describe()
    again = pickle.loads(pickle.dumps(game))
    np.testing.assert_array_equal(again.extension().shapley(), game.extension().shapley())


@pytest.mark.parametrize("background", [X[BACKGROUND], None], ids=["interventional", "dependent"])
def test_groups_play_as_one(background, rng):
    model, _, own, _ = fitted("boosting")
    by_name = TreeGame(model, X[ROWS], background, groups={"pair": [2, 0], "last": [5]})
    assert by_name.players == ("pair", "last", 1, 3, 4)
    assert by_name.info.data is None
    by_label = TreeGame(model, X[ROWS], background, groups=["p", 1, "p", 3, 4, "l"])
    assert by_label.players == ("p", 1, 3, 4, "l")
    assert_is_its_table(by_name, rng)
    a, b = by_name.extension().shapley(), by_label.extension().shapley()
    np.testing.assert_allclose(a, b[:, [0, 4, 1, 2, 3]], atol=1e-12)
    if background is not None:
        inside = np.array([[True, False, True, False, False, False]])
        means = mixed_means(lambda rows: own(model, rows), X[ROWS], background, inside)
        np.testing.assert_allclose(by_name.worths(np.eye(5, dtype=bool)[:1]), means, atol=1e-12)


def test_groups_are_checked():
    model, _, _, _ = fitted("forest")
    frame = pd.DataFrame(X, columns=list("abcdef"))
    assert TreeGame(model, frame, groups={"g": "a"}).players == ("g", *"bcdef")
    for groups, complaint in (
        ({"g": ["a", "z"]}, "groups name a column 'z'; the columns are {a, b"),
        ({"g": ["a"], "h": ["b", "a"]}, "column 'a' is in two groups"),
        ([1, 2], "groups have 2 labels for 6 columns"),
    ):
        with pytest.raises(ValueError, match=complaint):
            TreeGame(model, frame, groups=groups)


def test_outputs_are_picked_by_label_or_position():
    model, _, _, _ = fitted("forest of classes")
    by_label, by_position = (TreeGame(model, X[ROWS], output=o) for o in ("b", 1))
    assert by_label.describe() == by_position.describe()
    with pytest.raises(ValueError, match=r"has 3 classes, {a, b, c}; pass output="):
        TreeGame(model, X)
    with pytest.raises(ValueError, match="output='z' is no class"):
        TreeGame(model, X, output="z")
    boosted, _, _, _ = fitted("boosting of two classes")
    with pytest.raises(ValueError, match=r"is its log-odds; leave out.*FeatureGame"):
        TreeGame(boosted, X, output="probability")


def test_columns_are_checked():
    model, _, _, _ = fitted("forest")
    frame = pd.DataFrame(X, columns=list("abcdef"))
    for rows, background, complaint in (
        (X[:, :4], None, r"rows of shape \(300, 4\) were given.*6 columns"),
        (X[:0], None, "at least one row of 6 columns"),
        (X, X[:, :5], r"background of shape \(300, 5\)"),
        (X[None], None, r"rows of shape \(1, 300, 6\)"),
        (X[:, 0], None, r"rows of shape \(1, 300\)"),
        (frame, frame.rename(columns={"e": "g"}), "of background are not those of the rows: {g for e}"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=complaint):
            TreeGame(model, rows, background)
    named = RandomForestRegressor(2).fit(frame, Y)
    with pytest.raises(
        ValueError, match=r"of rows are not those of the RandomForestRegressor: {b for a"
    ):
        TreeGame(named, frame[list("bacdef")])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert TreeGame(named, X[ROWS], X[BACKGROUND]).batch == (4,)


def test_a_model_read_wrongly_is_refused(monkeypatch):
    model, _, _, _ = fitted("forest")
    read = trees.read_model

    def misread(*given):
        found = read(*given)
        found.intercept += 0.01
        return found

    monkeypatch.setattr(trees, "read_model", misread)
    with pytest.raises(ValueError, match="was not read as it is: its output for row"):
        TreeGame(model, X)


def test_without_numba_one_sentence(monkeypatch):
    model, _, _, _ = fitted("forest")
    monkeypatch.setitem(sys.modules, "numba", None)
    with pytest.raises(ImportError, match=r"needs numba: pip install 'fairfield\[trees\]'"):
        TreeGame(model, X)


def test_other_rows_use_what_was_read(monkeypatch):
    model = fitted("boosting")[0]
    game = TreeGame(model, X[:4], X[BACKGROUND])
    wanted = ff.shapley(TreeGame(model, X[4:9], X[BACKGROUND])).values
    ff.shapley(game)
    monkeypatch.setattr(trees, "read_model", None)
    other = game.explaining(X[4:9])
    np.testing.assert_allclose(ff.shapley(other).values, wanted, atol=1e-12)
    assert other.forest is game.forest
    assert (game.batch, other.batch) == ((4,), (5,))
    assert game.explaining(X[4]).batch == ()
    assert game.describe() != other.describe()
    with pytest.raises(ValueError, match="needs at least one row of 6 columns"):
        game.explaining(X[:2, :3])


def test_other_rows_have_the_same_columns():
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = fitted("boosting")[0]
    game = TreeGame(model, frame[:3], frame[100:110])
    with pytest.raises(ValueError, match="other columns than those explained before"):
        game.explaining(frame[:2][list("bacdef")])
    np.testing.assert_allclose(
        ff.shapley(game.explaining(frame[3:5])).values,
        ff.shapley(TreeGame(model, X[3:5], X[100:110])).values,
    )


def hollow(seed=3, rows=300):
    """A sparse matrix, some of its entries 0, and which entries it has."""
    rng = np.random.default_rng(seed)
    dense = X[:rows] * (rng.random((rows, COLUMNS)) < 0.6)
    there = (dense != 0) | (rng.random(dense.shape) < 0.1)
    at = np.nonzero(there)
    return csr_matrix((dense[at], at), shape=dense.shape), there


@pytest.mark.parametrize(
    "name",
    ["xgboost", "xgboost with a sign for missing", "lightgbm", "lightgbm where zero is missing",
     "forest", "isolation forest of some columns"],
)  # fmt: skip
@pytest.mark.parametrize("form", [csr_matrix, csc_array, coo_array])
def test_sparse_rows_are_read_as_the_model_reads_them(name, form, rng):
    model, _, own, _ = fitted(name)
    given, there = hollow()
    model.fit(given, Y)
    rows, background = given[ROWS], given[BACKGROUND]
    absent = np.nan if name.startswith("xgboost") else 0.0
    dense = np.where(there, given.toarray(), absent)
    game = TreeGame(model, form(rows), form(background))
    everyone, nobody = np.ones((1, COLUMNS), bool), np.zeros((1, COLUMNS), bool)
    near = 1e-6 if name.startswith("xgboost") else 1e-12
    np.testing.assert_allclose(game.worths(everyone)[:, 0], own(model, rows), atol=near)
    mean = np.mean(own(model, background))
    np.testing.assert_allclose(game.worths(nobody)[:, 0], mean, atol=near)
    np.testing.assert_array_equal(game.info.data, dense[ROWS])
    same = TreeGame(model, dense[ROWS], dense[BACKGROUND])
    np.testing.assert_array_equal(game.extension().shapley(), same.extension().shapley())
    coalitions = rng.random((8, COLUMNS)) < 0.5
    means = mixed_means(lambda r: own(model, r), dense[ROWS], dense[BACKGROUND], coalitions)
    np.testing.assert_allclose(game.worths(coalitions), means, atol=near)
    one = TreeGame(model, form(given[[2]]), form(background))
    np.testing.assert_allclose(
        one.extension().shapley()[0], same.extension().shapley()[2], atol=1e-14
    )


def test_the_very_rows_given_are_compared(monkeypatch):
    """A reader that mistakes absent entries is refused, not believed."""
    model, _, _, _ = fitted("xgboost")
    given, _ = hollow()
    model.fit(given, Y)
    monkeypatch.setattr(trees, "absent_entries", lambda model: 0.0)
    with pytest.raises(ValueError, match="was not read as it is"):
        TreeGame(model, given)
    with pytest.raises(ValueError, match="was not read as it is"):
        TreeGame(model, X[ROWS], given)


@pytest.mark.parametrize("name", ["forest", "histogram", "xgboost", "lightgbm", "catboost"])
def test_a_game_goes_to_other_processes_without_its_model(name):
    model, output, _, _ = fitted(name)
    game = TreeGame(model, X[:4], X[BACKGROUND], output=output)
    wanted = ff.shapley(game).values
    sent = pickle.loads(pickle.dumps(game))
    np.testing.assert_array_equal(ff.shapley(sent).values, wanted)
    assert sent.describe() == game.describe()
    with pytest.raises(ValueError, match="came from another process without its model"):
        sent.explaining(X[:2])


def test_only_a_background_limits_the_features_of_a_path(monkeypatch):
    monkeypatch.setattr(terms, "MOST", 2)
    model = fitted("boosting")[0]
    with pytest.raises(
        ValueError, match=r"at most 2 can be followed with a background;.*no background"
    ):
        TreeGame(model, X[:2], X)
    assert TreeGame(model, X[:2]).batch == (2,)


def test_a_background_that_is_a_function_is_told():
    with pytest.raises(TypeError, match="the background is a function, and trees need its rows"):
        TreeGame(fitted("boosting")[0], X[:2], lambda row, kept, rng: X)


def test_rows_in_another_form_than_the_first_are_told():
    model, frame = fitted("boosting")[0], pd.DataFrame(X, columns=list("abcdef"))
    for first, other, complaint in (
        (frame, X, r"an array, without names of columns; give a frame with {a, b, c, d, e, f} in"),
        (X, frame, r"are a frame; give an array, as the first ones were"),
    ):
        with pytest.raises(ValueError, match=complaint):
            TreeGame(model, first[:3], first[100:110]).explaining(other[:2])
