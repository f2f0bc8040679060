"""``fairfield features``: what each feature adds to a prediction."""

import pytest

from command_line import refused

pytest.importorskip("pandas")
pytest.importorskip("typer")


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (["--rows", "a"], "'a' is neither a number nor a range"),
        (["--rows", "99"], "there is no row 99; the rows are 0 to 59"),
        (["--rows", "5:5"], "picks no row"),
        (["--background", "0"], "draws no rows"),
        (["--background", "none.csv"], "there is no file none.csv"),
        (["--target", "nobody"], "there is no column 'nobody'"),
        (["--output", "7"], "--output 7"),
    ],
)
def test_features_that_cannot_be_asked_for(run, tmp_path, people, more, sentence):
    joblib = pytest.importorskip("joblib")
    pd = pytest.importorskip("pandas")
    from sklearn.linear_model import LogisticRegression

    table = pd.read_csv(people)
    model = LogisticRegression().fit(table[["age", "pay"]], table["label"])
    joblib.dump(model, tmp_path / "m.joblib")
    refused(run("features", tmp_path / "m.joblib", people, "--trust-pickle", *more), sentence)


def test_a_column_the_model_needs(run, tmp_path, people):
    joblib = pytest.importorskip("joblib")
    pd = pytest.importorskip("pandas")
    from sklearn.linear_model import LogisticRegression

    table = pd.read_csv(people).rename(columns={"pay": "wealth"})
    model = LogisticRegression().fit(table[["age", "wealth"]], table["label"])
    joblib.dump(model, tmp_path / "m.joblib")
    refused(
        run("features", tmp_path / "m.joblib", people, "--trust-pickle"),
        "needs the column 'wealth'",
    )


def test_all_classes_at_once(run, tmp_path, people):
    joblib = pytest.importorskip("joblib")
    pd = pytest.importorskip("pandas")
    from sklearn.linear_model import LogisticRegression

    table = pd.read_csv(people)
    model = LogisticRegression().fit(table[["age", "pay"]], table["vendor"])
    joblib.dump(model, tmp_path / "m.joblib")
    files = ["--csv", "v.csv", "--report", "v.html", "--json", "v.json"]
    shown = run("features", tmp_path / "m.joblib", people, "--trust-pickle", "--output", "all",
                "--criterion", "shapley", *files)  # fmt: skip
    assert shown.exit_code == 0
    for words in ("margin of 3 classes", "Shapley, x", "Shapley, z", "mean of 10 rows"):
        assert words in shown.output
    found = pd.read_csv(tmp_path / "v.csv")
    assert list(found.columns[:3]) == ["row", "output", "feature"]
    assert len(found) == 10 * 3 * 2
    assert found["output"].unique().tolist() == ["x", "y", "z"]
