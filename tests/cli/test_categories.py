"""Columns of categories in files are those that the model was fitted to."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fairfield as ff
from command_line import refused

pd = pytest.importorskip("pandas")
pytest.importorskip("typer")
pytest.importorskip("numba")


@pytest.fixture(name="towns")
def table(rng):
    """Texts that look like numbers, and numbers that are categories, in another order than theirs."""
    X = pd.DataFrame({"age": rng.standard_normal(80)})
    X["post code"] = pd.Categorical(rng.choice(["01", "1", "7"], 80), categories=["7", "01", "1"])
    X["rooms"] = pd.Categorical(rng.choice([3, 1, 2], 80), categories=[3, 1, 2])
    y = (X.age > 0) ^ (X["post code"] == "01") ^ (X.rooms == 1)
    return X, y.astype(int)


def fitted(library, X, y):
    if library == "lightgbm":
        found = pytest.importorskip("lightgbm")
        model = found.LGBMClassifier(n_estimators=5, min_child_samples=3, verbose=-1).fit(X, y)
        model.booster_.save_model("m.txt")
        return model, "m.txt"
    model = pytest.importorskip("xgboost").XGBClassifier(n_estimators=5, enable_categorical=True)
    model.fit(X, y).save_model("m.json")
    return model, "m.json"


def test_categories_of_fitted_models_inside_of_others(towns):
    """A booster that was not read from a file, as pickles and skops hold it."""
    from sklearn.model_selection import GridSearchCV

    from fairfield.cli.categories import categories_of

    X, y = towns
    wanted = {"post_code": ["7", "01", "1"], "rooms": [3, 1, 2]}
    model = pytest.importorskip("lightgbm").LGBMClassifier(n_estimators=2, verbose=-1)
    search = GridSearchCV(model, {"n_estimators": [2]}, cv=2).fit(X, y)
    for fitted in (model.fit(X, y), pickle.loads(pickle.dumps(model)), search):
        assert categories_of(fitted) == wanted
    assert categories_of(model.fit(X[["age"]], y)) == {}


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_categories_of_boosters(run, towns, library):
    X, y = towns
    model, path = fitted(library, X, y)
    X.to_csv("rows.csv", index=False)
    result = run("features", path, "rows.csv", "--rows", "0:3", "--background", "rows.csv",
                 "--criterion", "shapley", "--csv", "v.csv")  # fmt: skip
    assert result.exit_code == 0, result.output
    want = ff.explain(model, X[:3], X, "shapley").values
    assert np.abs(want).min(axis=0).max() > 0.01
    found = pd.read_csv("v.csv")["shapley"].to_numpy().reshape(3, 3)
    assert_allclose(found, want, rtol=1e-5, atol=1e-7)
    X.astype({"post code": str}).assign(**{"post code": "001"}).to_csv("strange.csv", index=False)
    refused(
        run("features", path, "strange.csv"),
        "column 'post code' of strange.csv holds '001', and the model was fitted to",
    )


def test_types_of_skops_are_trusted_by_name(run, people, tmp_path):
    skops = pytest.importorskip("skops.io")
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    rows = pd.read_csv(people)
    found = pytest.importorskip("xgboost").XGBRegressor(n_estimators=2)
    model = make_pipeline(StandardScaler(), found).fit(rows[["age", "pay"]], rows["age"])
    skops.dump(model, tmp_path / "m.skops")
    wanted = ["--trust", "xgboost.core.Booster", "--trust", "xgboost.sklearn.XGBRegressor"]
    refused(run("features", tmp_path / "m.skops", people), f"pass {' '.join(wanted)}")
    result = run("features", tmp_path / "m.skops", people, *wanted, "--criterion", "shapley")
    assert "10 rows of 2 features" in result.output
    strange = [*wanted, "--trust", "os.system"]
    refused(run("features", tmp_path / "m.skops", people, *strange), "holds no type os.system")
    refused(run("features", people, people, "--trust", "a.B"), "is not a model")


def test_a_refused_closed_form_is_told_without_names_of_classes(run, people, tmp_path):
    joblib = pytest.importorskip("joblib")
    from sklearn.decomposition import PCA
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    rows = pd.read_csv(people)
    model = make_pipeline(PCA(1), LogisticRegression()).fit(rows[["age", "pay"]], rows["label"])
    joblib.dump(model, tmp_path / "m.joblib")
    result = run("features", tmp_path / "m.joblib", people, "--trust-pickle")
    assert "the probability of class yes is explained by calling the model" in result.stderr
    assert "refused: column 'pca0'" in result.stderr
    assert "Game" not in result.stderr
