"""The paper's feature study: its data, its parts, and its first row where the data is at hand."""

import os
import types
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import fairfield as ff
from paper import adult as data
from paper import study as paper
from paper.experiments import features
from paper.readings import NORM, READINGS, factor
from paper.rows import draw_row, draw_statistics
from paper.run import Run
from paper.verdicts import features as judge

pd = pytest.importorskip("pandas")

HEADER = (
    "age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,sex,"
    "capital-gain,capital-loss,hours-per-week,native-country,income\n"
)
LINES = [
    "39,State-gov,77516,Bachelors,13,Never-married,Adm-clerical,Not-in-family,White,Male,2174,0,40,United-States,<=50K",
    "50,?,83311,Bachelors,13,Married-civ-spouse,?,Husband,White,Male,0,0,13,Cuba,>50K",
    "28,Private,1,HS-grad,9,Divorced,Sales,Wife,Black,Female,0,0,40,?,<=50K",
]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "adult").mkdir()
    (tmp_path / "adult" / "adult_train.csv").write_text(HEADER + "\n".join(LINES) + "\n")
    return tmp_path


def test_rows_are_encoded_as_in_the_paper(folder, monkeypatch):
    X, y = data.load_adult(folder)
    assert list(X.columns) == list(data.COLUMNS.values())
    assert y.tolist() == [False, True, False]
    assert X["Workclass"].tolist() == [2, 0, 1]  # "?" first, then by name
    assert X["Relationship"].tolist() == [0, 4, 5]
    assert X["Country"].tolist() == [2, 1, 0]
    assert X["Age"].tolist() == [39, 50, 28]
    monkeypatch.setenv("FAIRFIELD_DATA", str(folder / "adult"))
    assert data.load_adult()[0].equals(X)
    assert data.load_adult(folder / "adult" / "adult_train.csv")[0].equals(X)


def test_missing_data_is_reported(tmp_path, monkeypatch):
    monkeypatch.delenv("FAIRFIELD_DATA", raising=False)
    with pytest.raises(FileNotFoundError, match="set FAIRFIELD_DATA"):
        data.load_adult(download=False)
    with pytest.raises(FileNotFoundError, match=r"no adult_train\.csv\.gz in"):
        data.load_adult(tmp_path)
    (tmp_path / "adult_train.csv").write_text("age,income\n1,>50K\n")
    with pytest.raises(ValueError, match="lacks the columns"):
        data.load_adult(tmp_path)


@pytest.mark.parametrize("training_first", [True, False])
def test_openml_gives_the_same_rows(folder, monkeypatch, training_first):
    wanted = data.load_adult(folder)
    frame = pd.read_csv(folder / "adult" / "adult_train.csv", na_values="?")
    frame = frame.rename(columns={"income": "class"})
    for name in frame.columns:
        if frame[name].dtype.kind not in "if":
            frame[name] = frame[name].astype("category")
    test = frame.iloc[[2, 1]]
    both = pd.concat([frame, test] if training_first else [test, frame], ignore_index=True)
    import sklearn.datasets

    monkeypatch.delenv("FAIRFIELD_DATA", raising=False)
    monkeypatch.setattr(data, "TRAINING_ROWS", 3)
    monkeypatch.setattr(
        sklearn.datasets, "fetch_openml", lambda *a, **k: types.SimpleNamespace(frame=both.copy())
    )
    X, y = data.load_adult()
    assert_array_equal(X.to_numpy(), wanted[0].to_numpy())
    assert_array_equal(y, wanted[1])
    monkeypatch.setattr(data, "TRAINING_ROWS", 1)
    if not training_first:
        with pytest.raises(ValueError, match="not in the known order"):
            data.load_adult()


def test_a_study_in_numbers(rng, tmp_path, monkeypatch):
    from sklearn.utils import resample

    X = pd.DataFrame(rng.integers(0, 4, (150, 4)).astype(float), columns=list("abcd"))
    y = (X["a"] + X["b"] * X["c"] > 4).to_numpy()
    model, rows = data.fit("logistic", X, y), paper.sample_rows(y, 20)
    monkeypatch.setattr(paper, "BLOCK", 12)  # two units of work
    run = Run(tmp_path, progress=False)
    found = paper.study("logistic", model, X, y, rows, run, "some")[0.5]
    assert len(list(run.stores.glob("some-*.npz"))) == 2
    assert found.accuracy > 0.7
    background = resample(X.to_numpy(), n_samples=100, random_state=0)
    game = ff.FeatureGame(model, X.to_numpy()[rows], background, output="label", y=y[rows])
    table = ff.TableGame(game.table())
    compared = ff.compare(table, criteria=list(found.values), temperature=0.5)
    for name, v in compared.items():
        assert_allclose(found.values[name], v.values, atol=1e-9)
        assert_allclose(found.errors[name], v.decoupling_error, atol=1e-9)
        order = np.argsort(-v.values[3])
        left = np.ones((1, 4), dtype=bool)
        left[0, order[:2]] = False
        assert_allclose(found.right[name][3, 2], table.worths(left)[3, 0], atol=1e-12)
        assert_allclose(found.right[name][:, [0, -1]], np.stack([v.grand, v.empty], axis=1))
        order = np.argsort(-v.values[3][::-1])
        left = np.ones((1, 4), dtype=bool)
        left[0, order[:2]] = False
        assert_allclose(found.mirrored[name][3, 2], table.worths(left)[3, 0], atol=1e-12)
    assert_allclose(sum(found.fastest().values()), 1)
    assert_allclose(sum(found.fastest(mirrored=True).values()), 1)
    assert found.lowest_error()["variational_index"] == 1
    ranking = found.ranking("shapley", True)
    shapley = found.values["shapley"][found.labels]
    assert_allclose([mean for _, mean in ranking], np.sort(shapley.mean(axis=0))[::-1])
    assert found.place("shapley", ranking[1][0]) == 2
    sizes = np.abs(found.values["shapley"])
    assert_array_equal(found.places("shapley", "b"), (sizes > sizes[:, [1]]).sum(axis=1) + 1)
    moved = np.diff(ff.variational_values(table, 11, temperature=0.5).trajectory, axis=0)
    squared, late, plain = (found.convergence(reading)[:, 3] for reading in READINGS)
    assert_allclose(squared[2], (moved[2, 3] ** 2).sum() / 4, rtol=1e-6)
    assert_allclose(late[1], (moved[2, 3] ** 2).sum() / 4)
    assert_allclose(plain[1], np.linalg.norm(moved[2, 3]) / 4)
    pytest.importorskip("matplotlib")
    assert len(draw_row([found, found], [2, 3]).axes) == 8
    assert len(draw_statistics(found).axes) == 2
    with pytest.raises(ValueError, match="no model 'forest'"):
        data.fit("forest", X, y)


@pytest.fixture(scope="module")
def adult():
    """Adult, where FAIRFIELD_DATA or a folder beside the project has it."""
    beside = Path(__file__).resolve().parents[3] / "shared" / "data"
    path = os.environ.get("FAIRFIELD_DATA") or (beside if beside.exists() else None)
    if path is None:
        pytest.skip("Adult is not at hand: set FAIRFIELD_DATA")
    pytest.importorskip("xgboost")
    X, y = data.load_adult(path)
    return X, y, data.fit("xgboost", X, y)


def test_the_papers_model_is_the_same(adult):
    X, y, model = adult
    assert len(X) == data.TRAINING_ROWS
    assert (model.predict(X.to_numpy()) == y).mean() == paper.PAPER_ACCURACY["xgboost"]


def test_the_notebooks_game_from_its_model(adult, reference):
    """The authors' worths, reached through their model, rows and label."""
    X, y, model = adult
    stored = reference("paper_adult_row1.npz")
    assert_array_equal(X.columns, stored["columns"])
    assert_array_equal(X.to_numpy()[1], stored["x"])
    game = ff.FeatureGame(model, X.to_numpy()[1], stored["background"], output="label", y=y[[1]])
    assert_allclose(game.table(), stored["worths"], atol=1e-6)


def test_rows_of_the_paper_are_found(adult, tmp_path):
    """The notebook's errors, the line of Table 1, and the rows of Fig. 3."""
    X, y, model = adult
    rows = [0, 1, *features.FIGURE_ROWS]
    found = paper.study("xgboost", model, X, y, rows, Run(tmp_path, progress=False))
    errors = [found[0.1].errors[name][1] for name in found[0.1].errors]
    assert_allclose(errors, judge.NOTEBOOK, atol=2e-6)
    line = found[0.5].convergence(NORM)[:, 0]
    assert factor(line, paper.PAPER_CONVERGENCE["xgboost"]) < judge.SAME
    assert features._fits(found) == {0.1: [], 0.5: list(features.FIGURE_ROWS)}
