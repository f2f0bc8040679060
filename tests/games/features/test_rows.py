"""Tables of every kind reach the model as they were given."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import brute
import fairfield as ff
from fairfield.explanations import game_of
from fairfield.games.features.rows import Tabular, as_table
from games.features.models import read

pd = pytest.importorskip("pandas")


def test_frames_keep_their_dtypes(frame):
    game = ff.FeatureGame(read, frame[:3], frame[10:20])
    assert game.players == tuple(frame.columns)
    table = game.table()
    assert_allclose(table, game.worths(brute.coalitions(6)), atol=1e-12)
    assert_allclose(table[:, -1], read(frame[:3]))
    assert_allclose(table[:, 0], read(frame[10:20]).mean())
    # Heights differ in all rows, the other columns hold ties.
    assert game.model_rows() < 3 * 10 * 2**6
    assert game.info.data[0, 3] == frame["town"][0]
    found = ff.shapley(game)
    assert_allclose(found.values.sum(axis=1), found.grand - found.empty, atol=1e-12)


def test_one_row_of_a_frame_is_a_series(frame):
    game = ff.FeatureGame(read, frame.iloc[4], frame[10:20])
    assert game.batch == ()
    assert_allclose(game.table(), ff.FeatureGame(read, frame[4:5], frame[10:20]).table()[0])


def test_a_function_draws_frames(frame):
    def draw(row, kept, rng):
        assert row["job"].dtype == frame["job"].dtype
        return frame.sample(5, random_state=rng)

    found = ff.banzhaf(ff.FeatureGame(read, frame[:2], draw))
    assert_allclose(found.grand, read(frame[:2]))


def test_objects_and_texts_in_arrays(rng):
    words = np.array([["a", "x"], ["b", "y"], ["a", "y"]], dtype=object)
    for table in (words, words.astype(str)):
        kinds = []

        def predict(rows, kinds=kinds):
            kinds.append(rows.dtype)
            return (rows[:, 0] == "a") + 2.0 * (rows[:, 1] == "x")

        game = ff.FeatureGame(predict, table[0], table[1:])
        assert_allclose(game.table(), [0.5, 1.0, 2.5, 3.0])
        assert set(kinds) == {table.dtype}


def test_equal_is_equal_in_kind():
    """None is not NaN, 1 is not True, and lists are like no other."""
    values = np.empty((8, 1), dtype=object)
    values[:, 0] = [None, float("nan"), float("nan"), 1, True, 1, [1], [1]]
    codes = Tabular.of(values[:1], values[1:])
    found = np.concatenate([codes.row_codes, codes.background_codes]).ravel()
    assert found.tolist() == [0, 1, 1, 3, 4, 3, 6, 7]


def test_pipelines_see_frames(frame):
    from sklearn.compose import make_column_transformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    X = frame[["age", "height", "job", "town"]]
    y = (frame["height"] > 0).astype(int)
    encode = make_column_transformer((OneHotEncoder(), ["job", "town"]), remainder="passthrough")
    model = make_pipeline(encode, LogisticRegression()).fit(X, y)
    game = ff.FeatureGame(model, X[:4], X)
    assert_allclose(game.table()[:, -1], model.predict_proba(X[:4])[:, 1])
    assert_allclose(game.table(), game.worths(brute.coalitions(4)), atol=1e-12)


def test_sparse_rows_are_spread_out():
    from scipy.sparse import csr_array

    X = csr_array(np.eye(3))
    assert_allclose(ff.FeatureGame(lambda X: X @ [1, 2, 3], X, X).table()[:, -1], [1, 2, 3])


def test_numbers_beside_texts_stay_numbers():
    seen = []

    def model(table):
        seen.extend(table.ravel().tolist())
        return np.zeros(len(table))

    ff.FeatureGame(model, np.array([[1, 2]]), np.array([["a", "b"]])).table()
    assert set(seen) == {1, 2, "a", "b"}


@pytest.mark.parametrize("kind", ["linear", "tree"])
def test_closed_forms_keep_fractions(kind, rng):
    from sklearn.linear_model import LinearRegression
    from sklearn.tree import DecisionTreeRegressor

    X = pd.DataFrame({"a": rng.integers(0, 9, 40), "b": rng.random(40) < 0.5})
    model = (LinearRegression() if kind == "linear" else DecisionTreeRegressor(max_depth=4)).fit(
        X, X["a"] * (1.5 + X["b"])
    )
    mean = X.mean()
    wanted = model.predict(mean.to_frame().T)[0]
    game = game_of(model, X[:3], mean)
    assert type(game) is (ff.LinearGame if kind == "linear" else ff.TreeGame)
    assert_allclose(game.worths(np.zeros((1, 2), dtype=bool))[:, 0], wanted)
    assert_allclose(ff.explain(model, mean, X, "shapley").grand, wanted)
    assert_allclose(ff.explain(model, X[:3], mean, "shapley").empty, wanted)
    assert_allclose(ff.FeatureGame(model, X[:3], mean).table()[:, 0], wanted)


def test_absent_entries_become_what_they_mean():
    from scipy.sparse import coo_array, csr_matrix

    given = csr_matrix(([3, 0, 7], ([0, 0, 1], [0, 1, 2])), shape=(2, 3))
    single, table = as_table(given)
    assert (single, table.dtype.kind) == (False, "i")
    np.testing.assert_array_equal(table, given.toarray())
    # An entry that is there stays, though it be 0.
    np.testing.assert_array_equal(
        as_table(given, absent=np.nan)[1], [[3, 0, np.nan], [np.nan, np.nan, 7]]
    )
    twice = coo_array(([1.0, 2.0], ([0, 0], [1, 1])), shape=(1, 2))
    np.testing.assert_array_equal(as_table(twice, absent=np.nan)[1], [[np.nan, 3.0]])
    assert twice.nnz == 2  # what was given is left alone
    single, table = as_table(coo_array(np.array([0.0, 2.0])), absent=np.nan)
    assert single
    np.testing.assert_array_equal(table, [[np.nan, 2.0]])


def test_a_model_that_takes_absent_entries_for_something_else_is_refused():
    from scipy.sparse import csr_array, issparse

    class Odd:
        def fit(self, rows, y):
            return self

        def predict(self, rows):
            return np.full(len(rows), 1.0) if not issparse(rows) else np.zeros(rows.shape[0])

    given = csr_array(np.eye(3))
    with pytest.raises(
        ValueError, match=r"Odd.predict returns other numbers for the sparse.*up to 1,"
    ):
        ff.FeatureGame(Odd(), given, np.zeros(3))
    with pytest.raises(ValueError, match=r"Odd.predict returns other numbers"):
        ff.FeatureGame(Odd(), np.zeros(3), given)


def test_columns_in_another_order_are_refused_unless_the_model_knows_its_names():
    from sklearn.linear_model import LinearRegression
    from sklearn.tree import DecisionTreeRegressor

    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [10.0, 20.0, 40.0]})
    turned = frame[["b", "a"]]

    def weigh(table):
        return np.asarray(table) @ [1.0, 100.0]

    with pytest.raises(ValueError, match="the same columns in another order"):
        ff.FeatureGame(weigh, turned[:1], frame[1:])
    model = LinearRegression().fit(frame, [1.0, 0.0, 5.0])
    plain = ff.FeatureGame(model, frame[:1], frame[1:])
    other = ff.FeatureGame(model.predict, frame[:1], turned[1:])
    np.testing.assert_allclose(ff.shapley(other).values, ff.shapley(plain).values)
    with pytest.raises(ValueError, match="the same columns in another order"):
        ff.FeatureGame(model, turned[:1], frame[1:])
    trees = DecisionTreeRegressor().fit(frame.to_numpy(), [1.0, 0.0, 5.0])
    with pytest.raises(ValueError, match="not those of the rows"):
        ff.TreeGame(trees, turned[:1], frame[1:])
