"""Frames with the same columns in the same dtypes, or a sentence why that cannot be."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fairfield as ff
from fairfield.games.features.frames import in_dtypes, row_as_frame
from games.features.models import read

pd = pytest.importorskip("pandas")


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
    # Whether a function takes columns by names or by places cannot be told.
    shuffled = frame[10:20][["town", "age", "since", "job", "member", "height"]]
    with pytest.raises(ValueError, match="the same columns in another order"):
        ff.FeatureGame(read, frame[:3], shuffled)
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


def first(table):
    """A model that answers with its first column, and tells the dtypes it was given."""
    first.seen = [str(dtype) for dtype in table.dtypes]
    return table.iloc[:, 0].to_numpy(dtype=float)


@pytest.mark.parametrize(
    "number", [3.0, 2.5, -1.0, 300.0, 0.1, 2.0**60, 2.0**63, 1e300, np.inf, np.nan]
)
@pytest.mark.parametrize("name", [None, 7, "row"])
def test_a_row_of_numbers_is_as_if_its_cells_were_looked_at_one_by_one(number, name):
    dtypes = ["float64", "int64", "int8", "float32", "bool", "int32"]
    row = pd.Series([0.5, *[number] * 5], index=[f"c{j}" for j in range(6)], name=name)
    for chosen in (dtypes, ["float64"] * 6, dtypes[:2] * 3, dtypes[::3] * 3):
        like = pd.DataFrame(np.ones((2, 6)), columns=row.index).astype(
            dict(zip(row.index, chosen, strict=True))
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of casts that are given up
            wanted = in_dtypes(row.to_frame().T, dict(like.dtypes))
            pd.testing.assert_frame_equal(row_as_frame(row, like), wanted)
            other = row_as_frame(row.rename({"c0": "z"}), like)
            assert list(other.columns) == ["z", *row.index[1:]]


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


def people(library):
    """Numbers, texts and a missing value in a frame of another library, and in pandas."""
    own = pd.DataFrame({"age": [1.0, 2.0, None, 4.0], "town": ["A", "B", "A", "C"]})
    if library == "polars":
        return pytest.importorskip("polars").from_pandas(own), own
    return pytest.importorskip("pyarrow").Table.from_pandas(own), own


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_frames_of_other_libraries(library):
    frame, own = people(library)

    def count(rows):
        assert type(rows) is type(frame)
        rows = rows.to_pandas()
        return (rows.town == "A") + 0.1 * rows.age.fillna(7)

    found = ff.explain(count, frame[:2], frame, "shapley")
    want = ff.explain(
        lambda rows: (rows.town == "A") + 0.1 * rows.age.fillna(7), own[:2], own, "shapley"
    )
    assert_allclose(found.values, want.values)
    assert found.players == ("age", "town")
    assert found.game.endswith("for the output of count")  # a function of its own name
    if library == "polars":
        lazy = ff.explain(count, frame[:2].lazy(), frame.lazy(), "shapley")
        assert_allclose(lazy.values, want.values)
    assert found.data.tolist() == want.data.tolist()


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_models_see_pandas_for_other_frames(library):
    from sklearn.ensemble import GradientBoostingRegressor
    from sklearn.linear_model import LinearRegression
    from sklearn.neighbors import KNeighborsRegressor

    frame, own = people(library)
    frame, own = frame.select(["age"])[:2], own[["age"]][:2]
    for model in (
        GradientBoostingRegressor(n_estimators=2),
        LinearRegression(),
        KNeighborsRegressor(1),
    ):
        model.fit(own, own.age**2)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = ff.explain(model, frame, frame, "shapley")
        assert found.players == ("age",)
        assert_allclose(found.grand, model.predict(own))


def test_pipelines_that_take_polars_only():
    pl = pytest.importorskip("polars")
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    frame = pl.DataFrame({"a": [0.0, 1.0, 2.0, 3.0], "b": [1.0, 0.0, 1.0, 0.0]})
    double = FunctionTransformer(lambda rows: rows.with_columns(pl.col("a") * 2).to_numpy())
    model = make_pipeline(double, LogisticRegression()).fit(frame, [0, 0, 1, 1])
    plain = ff.explain(
        lambda rows: model.predict_proba(pl.from_pandas(rows))[:, 1],
        frame[:2].to_pandas(),
        frame.to_pandas(),
        "shapley",
    )
    with pytest.warns(UserWarning, match="LinearGame refused: its transformers raise Attribute"):
        found = ff.explain(model, frame[:2], frame, "shapley")
    assert_allclose(found.values, plain.values, rtol=0, atol=1e-12)
