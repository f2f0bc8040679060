"""``fairfield ensemble``: what each model of an ensemble is worth."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fairfield as ff
from command_line import read, refused

pd = pytest.importorskip("pandas")
pytest.importorskip("typer")


def test_ensembles_of_labels_probabilities_and_numbers(run, tmp_path, rng):
    truth = rng.integers(0, 2, 40)
    votes = np.where(rng.random((3, 40)) < 0.8, truth, 1 - truth)
    names = ["a", "b", "c"]

    def table(columns, target):
        pd.DataFrame({**dict(zip(names, columns, strict=True)), "truth": target}).to_csv(
            tmp_path / "p.csv", index=False
        )
        result = run(
            "ensemble",
            tmp_path / "p.csv",
            "--target",
            "truth",
            "--criterion",
            "shapley",
            "--csv",
            "v.csv",
        )
        assert result.exit_code == 0, result.output
        return [float(line["shapley"]) for line in read("v.csv")]

    hard = ff.shapley(ff.EnsembleGame(votes, None, truth, vote="hard"))
    assert_allclose(table(votes, truth), hard.values, atol=1e-12)
    words = np.array(["no", "yes"])
    assert_allclose(table(words[votes], words[truth]), hard.values, atol=1e-12)
    chances = np.round(np.clip(votes + rng.normal(0, 0.3, votes.shape), 0, 1), 3)
    soft = ff.shapley(ff.EnsembleGame(chances, None, truth, vote="soft"))
    assert_allclose(table(chances, truth), soft.values, atol=1e-12)
    amounts = np.round(rng.normal(0, 1, 40), 3)
    guesses = np.round(amounts + rng.normal(0, 0.5, (3, 40)), 3)
    mean = ff.shapley(ff.EnsembleGame(guesses, None, amounts, vote="mean"))
    assert_allclose(table(guesses, amounts), mean.values, atol=1e-9)


def test_numbers_are_averaged_for_two_where_that_is_said(run, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b,label\n1.2,-0.1,1\n0.3,0.2,0\n0.9,1.5,1\n")
    refused(run("ensemble", path, "--target", "label"), "average numbers by --vote mean")
    assert run("ensemble", path, "--target", "label", "--vote", "mean").exit_code == 0


def test_votes_scores_and_delimiters_are_as_given(run, tmp_path, rng):
    truth = rng.integers(0, 2, 30)
    chances = np.round(rng.random((3, 30)), 3)
    columns = dict(zip("abc", chances, strict=True))
    pd.DataFrame({**columns, "truth": truth}).to_csv(tmp_path / "p.csv", index=False, sep=";")
    command = ["ensemble", tmp_path / "p.csv", "--target", "truth", "--delimiter", ";",
               "--criterion", "shapley", "--csv", "v.csv"]  # fmt: skip
    for vote, scoring in (("soft", "accuracy"), ("mean", "r2")):
        assert run(*command, "--vote", vote, "--scoring", scoring).exit_code == 0
        found = ff.shapley(ff.EnsembleGame(chances, None, truth, vote=vote, scoring=scoring))
        assert_allclose([float(line["shapley"]) for line in read("v.csv")], found.values, atol=1e-9)


ENSEMBLE = ["ensemble", "{file}", "--target", "label"]

REFUSED = {
    "model is silent": (ENSEMBLE, b"a,b,label\n1,,1\n0,1,0\n", "every model must answer"),
    "one class of votes": (ENSEMBLE, b"a,b,label\n1,0,1\n0,1,1\n", "has one class, 1; two"),
    "one class of shares": (ENSEMBLE, b"a,b,label\n.1,.5,1\n.2,1,1\n", "has one class, 1; two"),
    "votes for nobody": (
        ENSEMBLE,
        b"a,town,label\nyes,Rome,yes\nno,Oslo,no\n",
        "column 'town' of",
    ),
    "numbers for classes": (
        ENSEMBLE,
        b"a,age,label\n1,31,1\n0,45,0\n",
        "column 'age' of",
    ),
    "no models": (ENSEMBLE, b"label\n1\n0\n", "a column per model is needed"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_columns_that_are_no_predictions_are_refused(run, tmp_path, case):
    command, content, sentence = REFUSED[case]
    path = tmp_path / "table.csv"
    if content is not None:
        path.write_bytes(content)
    refused(run(*[each.format(file=path) for each in command]), sentence)


def test_whole_numbers_are_averaged_where_the_task_says_so(run, tmp_path, rng):
    truth = rng.integers(1, 6, 40)
    guesses = np.clip(truth + rng.integers(-1, 2, (3, 40)), 1, 5)
    table = pd.DataFrame({**dict(zip("abc", guesses, strict=True)), "truth": truth})
    table.to_csv(tmp_path / "p.csv", index=False)
    command = ["ensemble", tmp_path / "p.csv", "--target", "truth", "--criterion", "shapley",
               "--csv", "v.csv"]  # fmt: skip
    for task, vote in (("auto", "hard"), ("classification", "hard"), ("regression", "mean")):
        assert run(*command, "--task", task).exit_code == 0
        found = ff.shapley(ff.EnsembleGame(guesses, None, truth, vote=vote))
        assert_allclose([float(line["shapley"]) for line in read("v.csv")], found.values, atol=1e-9)
    refused(run(*command, "--task", "regression", "--vote", "hard"), "does not go with --task")
    refused(run(*command, "--task", "classification", "--vote", "mean"), "does not go with --task")
    table.assign(truth=np.where(truth > 2, "yes", "no")).to_csv(tmp_path / "p.csv", index=False)
    refused(run(*command, "--task", "regression"), "is not numbers, which --task regression needs")
