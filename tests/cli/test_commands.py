"""Every command does what the library does, and writes what it says."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fairfield as ff

pd = pytest.importorskip("pandas")
pytest.importorskip("typer")

WORTHS = "coalition,worth\n,0\nann,1\nbob,2\nann+bob,5\n"


@pytest.fixture
def worths(tmp_path):
    path = tmp_path / "worths.csv"
    path.write_text(WORTHS)
    return path


def read(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_a_game_from_its_worths(run, worths):
    result = run("game", worths, "--csv", "values.csv", "--json", "all.json", "--temperature", "1")
    assert result.exit_code == 0
    assert "Shapley" in result.stdout
    lines = {line["player"]: line for line in read("values.csv")}
    found = ff.compare([0, 1, 2, 5], temperature=1.0)
    for name, v in found.items():
        assert_allclose([float(lines[p][name]) for p in ("ann", "bob")], v.values)
    held = json.loads(Path("all.json").read_text(encoding="utf-8"))
    assert held["about"]["temperature"] == [1.0]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["--criterion", "shapley"], ["shapley"]),
        (
            ["--criterion", "leave-one-out,free_energy_value"],
            ["leave_one_out", "free_energy_value"],
        ),
        (
            ["--criterion", "banzhaf", "--criterion", "all"],
            ["banzhaf", "variational_index", "shapley"],
        ),
        ([], ["variational_index", "banzhaf", "shapley"]),
    ],
)
def test_criteria_by_name(run, worths, given, expected):
    assert run("game", worths, "--json", "all.json", *given).exit_code == 0
    held = json.loads(Path("all.json").read_text(encoding="utf-8"))
    assert [each["name"] for each in held["criteria"]] == expected


def test_temperatures_are_numbers_or_multiples(run, worths):
    run("game", worths, "--json", "all.json", "--temperature", "0.5x")
    held = json.loads(Path("all.json").read_text(encoding="utf-8"))
    expected = ff.variational_index([0, 1, 2, 5], temperature=ff.relative(0.5)).temperature
    assert held["about"]["temperature"] == [expected]


@pytest.mark.parametrize("mark", ["+", ";", "|", " "])
def test_players_of_a_coalition_are_told_apart(run, tmp_path, mark):
    path = tmp_path / "w.csv"
    path.write_text(WORTHS.replace("+", mark))
    assert run("game", path, "--csv", "v.csv").exit_code == 0
    assert [line["player"] for line in read("v.csv")] == ["ann", "bob"]


def test_quiet_says_nothing(run, worths):
    result = run("game", worths, "--quiet", "--csv", "values.csv")
    assert result.output == ""
    assert read("values.csv")


def test_a_report_with_all_its_parts(run, people):
    pytest.importorskip("plotly")
    run("data", people, "--target", "label", "--groups", "vendor", "--report", "page.html")
    page = Path("page.html").read_text(encoding="utf-8")
    _, _, rest = page.partition('<script type="application/json" id="data">')
    held = json.loads(rest.partition("</script>")[0])
    assert held["players"] == ["x", "y", "z"]
    assert len(held["temperatures"]["stops"]) == 21
    assert held["interactions"]["players"] == ["x", "y", "z"]
    assert len(held["curves"]) == 3


def test_data_is_the_data_game(run, people):
    from sklearn.model_selection import train_test_split

    from fairfield.cli.learners import learner

    result = run(
        "data",
        people,
        "--target",
        "label",
        "--groups",
        "vendor",
        "--csv",
        "v.csv",
        "--criterion",
        "shapley",
    )
    assert result.exit_code == 0, result.output
    table = pd.read_csv(people)
    X, y = table[["age", "pay", "town"]], table["label"].to_numpy()
    rows, held = train_test_split(np.arange(60), test_size=0.25, random_state=0, stratify=y)
    rows, held = np.sort(rows), np.sort(held)
    game = ff.DataGame(
        learner("logistic", X, True), X.iloc[rows], y[rows], X.iloc[held], y[held],
        groups=table["vendor"].to_numpy()[rows],
    )  # fmt: skip
    found = ff.shapley(game)
    assert_allclose([float(line["shapley"]) for line in read("v.csv")], found.values)


@pytest.mark.parametrize("model", ["forest", "boosting", "knn", "mlp", "own:Mine"])
def test_data_by_every_model_and_in_parquet(run, people, tmp_path, model):
    pytest.importorskip("pyarrow")
    (tmp_path / "own.py").write_text(
        "from sklearn.dummy import DummyClassifier\nMine = DummyClassifier\n"
    )
    table = pd.read_csv(people)
    table.to_parquet(tmp_path / "p.parquet")
    small = table.iloc[:16]
    small.to_parquet(tmp_path / "small.parquet")
    result = run(
        "data", tmp_path / "small.parquet", "--test", tmp_path / "p.parquet", "--target", "label",
        "--clusters", "2", "--model", model, "--csv", "v.csv",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert [line["player"] for line in read("v.csv")] == ["group 00", "group 01"]


def test_numbers_are_predicted_by_regression(run, people):
    result = run("data", people, "--target", "pay", "--clusters", "3", "--csv", "v.csv")
    assert result.exit_code == 0, result.output
    assert len(read("v.csv")) == 3


def test_many_rows_under_neighbours_are_a_closed_form(run, people):
    result = run(
        "data", people, "--target", "label", "--model", "knn", "--clusters", "0", "--csv", "v.csv"
    )
    assert result.exit_code == 0, result.output
    assert "closed form" in result.stdout
    assert len(read("v.csv")) == 45


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


def test_a_store_is_kept_shown_checked_and_used(run, people):
    arguments = ["data", people, "--target", "label", "--groups", "vendor", "--store", "w.db"]
    assert run(*arguments).exit_code == 0
    assert ff.describe_store("w.db").worths == 8
    again = run(*arguments, "--json", "v.json")
    assert again.exit_code == 0
    assert json.loads(Path("v.json").read_text(encoding="utf-8"))["about"]["evaluations"] == 0
    shown = run("store", "show", "w.db")
    assert "DataGame" in shown.stdout
    assert "8 of 8" in shown.stdout
    assert len(shown.stdout.splitlines()) == 5
    assert "fallback" in run("store", "show", "w.db", "--full").stdout
    whole = json.loads(run("store", "show", "w.db", "--json").stdout)
    assert whole["description"]["fallback"] == "constant"
    assert run("store", "check", "w.db").stdout == "w.db is whole: 8 worths\n"


def test_curves_of_a_report_fit_nothing_again(run, people, monkeypatch):
    measured, fits = ff.DataGame.measure, []

    def counted(game, coalitions):
        fits.append(len(coalitions))
        return measured(game, coalitions)

    monkeypatch.setattr(ff.DataGame, "measure", counted)
    result = run("data", people, "--target", "label", "--groups", "vendor", "--report", "r.html")
    assert result.exit_code == 0, result.output
    assert sum(fits) == 8


def test_jobs_and_backends_give_the_same_values(run, people):
    arguments = [
        "data",
        people,
        "--target",
        "label",
        "--groups",
        "vendor",
        "--criterion",
        "shapley",
        "--quiet",
    ]
    for name, more in {"one": [], "two": ["--jobs", "2", "--backend", "loky"]}.items():
        assert run(*arguments, "--csv", f"{name}.csv", *more).exit_code == 0
    assert Path("one.csv").read_text() == Path("two.csv").read_text()


@pytest.mark.parametrize(
    "command",
    [
        [],
        ["data"],
        ["features"],
        ["ensemble"],
        ["game"],
        ["learn"],
        ["demo"],
        ["store"],
        ["store", "show"],
    ],
    ids=" ".join,
)
def test_help_is_there_with_an_example(run, command):
    result = run(*command, "--help")
    assert result.exit_code == 0
    if command != ["store"]:
        assert "Example" in result.output
        assert f"fairfield {' '.join(command or ['data'])}" in result.output


def test_the_version_is_printed(run):
    assert run("--version").stdout.strip() == ff.__version__


@pytest.mark.parametrize(
    ("more", "columns"),
    [
        (["--budget", "60", "--criterion", "shapley"], 1),
        (["--tolerance", "0.3", "--criterion", "banzhaf"], 1),
        (["--seconds", "0.1", "--criterion", "shapley,banzhaf"], 2),
    ],
    ids=str,
)
def test_estimates_have_error_bars(run, people, more, columns):
    result = run("data", people, "--target", "label", "--clusters", "9", *more)
    assert result.exit_code == 0, result.output
    head = next(line for line in result.stdout.splitlines() if line.startswith("player"))
    assert head.count("±") == columns
    assert "± is half the width of a 95 % interval" in result.stdout


def test_the_terminal_is_told_what_not_to_trust(run, people):
    asked = ["data", people, "--target", "label", "--clusters", "9", "--criterion", "shapley"]
    result = run(*asked, "--budget", "30")
    assert result.exit_code == 0, result.output
    said = " ".join(result.stdout.split())
    assert "Shapley: used the budget of 30 coalitions; " in said
    assert "not to be trusted" in said
    assert "Shapley:" not in run(*asked).stdout


@pytest.fixture
def wide(tmp_path, rng):
    """A model of 30 columns without a closed form, and rows of its table."""
    joblib = pytest.importorskip("joblib")
    from sklearn.neighbors import KNeighborsRegressor

    table = pd.DataFrame(rng.normal(size=(20, 30)), columns=[f"c{i}" for i in range(30)])
    joblib.dump(KNeighborsRegressor(2).fit(table, table["c0"]), tmp_path / "m.joblib")
    table.to_csv(tmp_path / "wide.csv", index=False)
    return ["features", tmp_path / "m.joblib", tmp_path / "wide.csv", "--trust-pickle",
            "--background", "3", "--criterion", "shapley"]  # fmt: skip


def test_means_of_estimates_have_error_bars(run, wide):
    result = run(*wide, "--rows", "0:8", "--budget", "80", "--json", "v.json")
    assert result.exit_code == 0, result.output
    assert "±" in result.stdout
    errors = json.loads(Path("v.json").read_text(encoding="utf-8"))["criteria"][0]["stderr"]
    assert_allclose(errors[0], np.mean(errors[1:], axis=0))


def test_the_terminal_is_not_told_what_a_page_leaves_out(run, wide, monkeypatch):
    from fairfield.report import layout

    monkeypatch.setattr(layout, "MOST_NUMBERS", 60)
    result = run(*wide, "--rows", "0:8", "--budget", "80", "--json", "v.json")
    assert "mean of 8 rows" in result.stdout
    assert "can be picked" not in result.stdout
    assert len(json.loads(Path("v.json").read_text(encoding="utf-8"))["rows"]) == 9


def test_too_many_players_are_a_sentence(run, wide):
    result = run(*wide, "--rows", "0")
    assert result.exit_code == 2
    assert "or give a --budget of worths to evaluate" in result.stderr


def test_a_store_that_is_not_used_is_told(run, people, tmp_path):
    (tmp_path / "w.csv").write_text("coalition,worth\n,0\na,1\nb,1\na+b,5\n")
    neighbours = ["data", people, "--target", "label", "--model", "knn", "--clusters", "0"]
    for command, why in (
        (neighbours, "has a closed form, which needs no worths; none were kept"),
        (["game", tmp_path / "w.csv"], "has all its worths already; none were kept"),
    ):
        result = run(*command, "--store", "kept.db", "--quiet", "--report", "page.html")
        assert result.exit_code == 0, result.output
        assert result.stderr.startswith("warning: --store 'kept.db' is left as it was: ")
        assert why in result.stderr
        assert result.stderr.count("\n") == 1
        assert not Path("kept.db").exists()


def test_rows_are_named_by_their_place_in_the_file(run, people):
    command = ["data", people, "--target", "label", "--model", "knn", "--clusters", "0", "--quiet"]
    assert run(*command, "--csv", "v.csv").exit_code == 0
    names = [int(line["player"]) for line in read("v.csv")]
    assert len(names) == 45
    assert max(names) > 45


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("fairfield da", "data"),
        ("fairfield data --tol", "--tolerance"),
        ("fairfield data --backend r", "ray"),
        ("fairfield game --criterion sh", "shapley"),
        ("fairfield data --model kn", "knn"),
    ],
)
def test_the_shell_completes(typed, offered):
    from typer.testing import CliRunner

    from fairfield.cli.app import app

    about = {
        "_FAIRFIELD_COMPLETE": "complete_bash",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(typed.count(" ")),
    }
    result = CliRunner().invoke(app, [], prog_name="fairfield", env=about)
    assert result.stdout.split() == [offered]


def test_completion_is_shown_and_installed(tmp_path, monkeypatch):
    """In a home of its own, for the shell it is asked for."""
    from typer.testing import CliRunner

    from fairfield.cli.app import app

    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SHELL", "/bin/bash")
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    shown = CliRunner().invoke(app, ["--show-completion", "bash"], prog_name="fairfield")
    assert "complete -o default -F _fairfield_completion fairfield" in shown.stdout
    installed = CliRunner().invoke(app, ["--install-completion", "bash"], prog_name="fairfield")
    assert installed.exit_code == 0, installed.output
    assert "_fairfield_completion" in (tmp_path / ".bash_completions" / "fairfield.sh").read_text()


def test_separators_delimiters_votes_and_scores_are_as_told(run, tmp_path, rng):
    (tmp_path / "w.csv").write_text("coalition\tworth\n\t0\na+\t1\nb\t2\na+/b\t5\n")
    told = ["--separator", "/", "--delimiter", "\\t", "--csv", "v.csv", "--criterion", "shapley"]
    assert run("game", tmp_path / "w.csv", *told).exit_code == 0
    assert [(line["player"], float(line["shapley"])) for line in read("v.csv")] == [("a+", 2), ("b", 3)]  # fmt: skip

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
