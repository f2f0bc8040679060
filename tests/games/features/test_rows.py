"""Tables of every kind reach the model as they were given."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import brute
import fairfield as ff
from fairfield.explanations import game_of
from fairfield.games.features.rows import Tabular

pd = pytest.importorskip("pandas")


@pytest.fixture
def frame(rng):
    return pd.DataFrame(
        {
            "age": rng.integers(20, 25, 30),
            "height": rng.standard_normal(30),
            "job": pd.Categorical(rng.choice(["clerk", "baker", "smith"], 30)),
            "town": pd.Series(rng.choice(["Rome", "Oslo"], 30), dtype=object),
            "member": rng.random(30) < 0.5,
            "since": pd.to_datetime(rng.choice(["2020-01-01", "2021-05-05"], 30)),
        }
    )


def read(table):
    """A model that insists on the dtypes it was promised."""
    assert list(table.columns) == ["age", "height", "job", "town", "member", "since"]
    assert table["age"].dtype == np.int64
    assert list(table["job"].cat.categories) == ["baker", "clerk", "smith"]
    assert table["town"].dtype == object
    assert table["member"].dtype == bool
    years = table["since"].dt.year.to_numpy() - 2020
    towns = (table["town"] == "Oslo").to_numpy()
    return (
        table["age"] * table["height"] + table["job"].cat.codes * years + towns * table["member"]
    ).to_numpy()


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


def test_arrays_take_the_columns_of_the_frame(frame):
    numbers = frame[["age", "height"]].astype(float)

    def product(table):
        return (table["age"] * table["height"]).to_numpy()

    wanted = ff.FeatureGame(product, numbers[:3], numbers[9:]).table()
    assert_allclose(ff.FeatureGame(product, numbers[:3].to_numpy(), numbers[9:]).table(), wanted)
    assert_allclose(ff.FeatureGame(product, numbers[:3], numbers[9:].to_numpy()).table(), wanted)
    with pytest.raises(ValueError, match="have 3 and 2 columns"):
        ff.FeatureGame(product, np.ones((2, 3)), numbers)


def test_columns_are_matched_by_name(frame):
    wanted = ff.FeatureGame(read, frame[:3], frame[10:20]).table()
    shuffled = frame[10:20][["town", "age", "since", "job", "member", "height"]]
    assert_allclose(ff.FeatureGame(read, frame[:3], shuffled).table(), wanted)
    other = frame[10:20].rename(columns={"town": "city", "age": "years"})
    sentence = r"lacks \{age, town\} and has \{years, city\} besides"
    with pytest.raises(ValueError, match=sentence):
        ff.FeatureGame(read, frame[:3], other)
    with pytest.raises(ValueError, match=r"differ: the background has \{age\} besides; give"):
        ff.FeatureGame(read, frame[:3].drop(columns="age"), frame)
    with pytest.raises(ValueError, match=r"differ: the background has a column twice"):
        ff.FeatureGame(read, frame[["age"]], frame[["age", "age"]])
    twice = frame[["age", "height"]].set_axis(["a", "a"], axis=1)
    with pytest.raises(ValueError, match="two columns 'a'"):
        ff.FeatureGame(read, twice, twice)


def test_categories_unknown_to_the_background_are_named(frame):
    rows = frame[:2].assign(job=pd.Categorical(["miner", "clerk"]))
    with pytest.raises(ValueError, match="'job' holds 'miner', no category"):
        ff.FeatureGame(read, rows, frame)
    # Fewer categories are no trouble: the background's are meant.
    rows = frame[:1].assign(job=pd.Categorical(["clerk"]))
    assert np.isfinite(ff.FeatureGame(read, rows, frame).table()).all()
    with pytest.raises(ValueError, match="'member' has dtype bool in the rows and"):
        ff.FeatureGame(read, frame[:2], frame.assign(member=frame["since"]))


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


def first(table):
    """A model that answers with its first column, and tells the dtypes it was given."""
    first.seen = [str(dtype) for dtype in table.dtypes]
    return table.iloc[:, 0].to_numpy(dtype=float)


@pytest.mark.parametrize("dtype", ["int64", "int8", "uint8", "Int64", "float32", "Float64"])
@pytest.mark.parametrize("given", ["series", "array", "objects", "texts", "frame"])
def test_fractions_are_kept_beside_whole_numbers(dtype, given):
    X = pd.DataFrame({"a": [6, 7], "b": [1, 3]}).astype(dtype)
    mean = {
        "series": X.mean(),
        "array": np.array([6.5, 2.0]),
        "objects": np.array([6.5, 2], dtype=object),
        "texts": np.array(["6.5", "2"]),
        "frame": pd.DataFrame({"a": [6.5], "b": [2.0]}),
    }[given]
    assert_allclose(ff.FeatureGame(first, X, mean).table(), [[6.5, 6] * 2, [6.5, 7] * 2])
    assert first.seen[0].lower() in ("float64", "float32")
    if given != "frame":
        assert first.seen[1] == dtype  # the mean of b is whole
    # The same with the fraction among the explained rows.
    assert_allclose(np.ravel(ff.FeatureGame(first, mean, X).table()), 6.5)


@pytest.mark.parametrize("dtype", ["bool", "boolean"])
def test_halves_are_not_true(dtype):
    X = pd.DataFrame({"a": [True, False], "b": [1.5, 2.0]}).astype({"a": dtype})
    wanted = [[0.5, 1.0] * 2, [0.5, 0.0] * 2]
    for mean in (X.mean(), np.array([0.5, 1.5]), X.mean().to_frame().T, X.astype(float)):
        assert_allclose(ff.FeatureGame(first, X, mean).table(), wanted)
        assert first.seen[0].lower() == "float64"
    ff.FeatureGame(first, X, [1.0, 1.5]).table()
    assert first.seen == [dtype, "float64"]
    assert_allclose(ff.FeatureGame(first, X, X.astype({"a": int})).table(), wanted)
    X.iloc[1, 0] = pd.NA if dtype == "boolean" else False
    assert_allclose(ff.FeatureGame(first, X[:1], X[:1].mean()).table(), 1.0)


def test_numbers_too_large_for_their_column_are_kept():
    X = pd.DataFrame({"a": np.array([6, 7], dtype=np.uint8), "b": [2**53, 2**53 + 2]})
    game = ff.FeatureGame(first, X, np.array([300, 2**53 + 1]))
    assert_allclose(game.table()[:, 0], 300)
    assert first.seen == ["int64", "int64"]
    assert_allclose(ff.FeatureGame(first, X, [-1, 2**53]).table()[:, 0], -1)


def test_missing_values_are_kept_beside_whole_numbers():
    X = pd.DataFrame({"a": [6, 7], "b": [1, 3]})
    for gap in (np.nan, None):
        ff.FeatureGame(first, X, np.array([6.5, gap], dtype=object)).table()
        assert first.seen == ["float64", "float64"]


def test_categories_and_texts_beside_arrays(frame):
    X = frame[["age", "job"]]
    for row in (np.array([20.5, "smith"], dtype=object), np.array(["20.5", "smith"])):
        game = ff.FeatureGame(first, X, row)
        assert_allclose(game.table()[:, 0], 20.5)
        assert first.seen == ["float64", "category"]
    for row in (np.array([20, "miner"], dtype=object), pd.Series({"age": 20, "job": "miner"})):
        with pytest.raises(ValueError, match="'job' holds 'miner', no category of the other table"):
            ff.FeatureGame(first, X, row)
        with pytest.raises(ValueError, match="'job' holds 'miner', no category of the other table"):
            ff.FeatureGame(first, row, X)
    with pytest.raises(
        ValueError, match="'age' holds 'old', no number, and has dtype int64 in the"
    ):
        ff.FeatureGame(first, X, np.array([["20", "smith"], ["old", "smith"]]))
    numbered = pd.DataFrame({"a": [1, 2], "kind": pd.Categorical([1, 2])})
    with pytest.raises(ValueError, match=r"'kind' holds 1\.5, no category"):
        ff.FeatureGame(first, numbered, numbered.astype(float).mean())


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
