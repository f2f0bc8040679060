"""Bad input: one sentence on the error stream, exit code 2, no traceback."""

import json
import pickle
import signal
import subprocess
import sys
import time

import pytest

import fairfield as ff

pytest.importorskip("pandas")
pytest.importorskip("typer")

DATA = ["data", "{file}", "--target", "label"]
GAME = ["game", "{file}"]
ENSEMBLE = ["ensemble", "{file}", "--target", "label"]
ROWS = "\n".join(f"{i},{i % 2}" for i in range(8))

BAD_TABLES = {
    "missing file": (DATA, None, "there is no file"),
    "empty": (DATA, b"", "is empty; a line of column names"),
    "only a head": (DATA, b"x,label\n", "has a head but no rows"),
    "too many cells": (DATA, b"x,label\n1,0\n2,1,7\n", "line 3 has 3 cells, its head has 2"),
    "too few cells": (DATA, b"x,label\n1,0\n2\n", "line 3 has 1 cells, its head has 2"),
    "open quote": (DATA, b'x,label\n"1,0\n2,1\n', "malformed: line"),
    "missing target": (DATA, b"x,y\n1,0\n2,1\n", "there is no column 'label'"),
    "semicolons": (DATA, b"x;label\n1;0\n", "separated by ';', so pass --delimiter ';'"),
    "tabs": (DATA, b"x\tlabel\n1\t0\n", "so pass --delimiter '\\t'"),
    "commas after all": (
        [*DATA, "--delimiter", ";"],
        b"x,label\n1,0\n",
        "separated by ',', so pass --delimiter ','",
    ),
    "one class": (DATA, b"x,label\n1,a\n2,a\n3,a\n4,a\n", "has one class, 'a'"),
    "not UTF-8": (
        DATA,
        "x,label\n1,é\n".encode("latin-1"),
        "byte 0xe9 in line 2; save it as UTF-8",
    ),
    "binary": (DATA, b"x,label\n\0\0,1\n", "is no text file"),
    "equal names": (DATA, b"x,x,label\n1,2,0\n", "two columns named 'x'"),
    "nameless": (DATA, b",label\n1,0\n", "column 1 of"),
    "empty target": (DATA, b"x,label\n1,0\n2,\n", "is empty in line 3 of"),
    "empty cells": (DATA, ("x,label\n" + ROWS + "\n,1\n").encode(), "column 'x' has 1 empty cells"),
    "nothing to learn from": (DATA, b"label\n1\n0\n", "no column besides 'label'"),
    "few rows": (DATA, b"x,label\n1,0\n2,1\n", "too few to hold some out"),
    "unknown group": (
        [*DATA, "--groups", "vendor"],
        b"x,label\n1,0\n2,1\n",
        "there is no column 'vendor'",
    ),
    "two ways to play": (
        [*DATA, "--groups", "x", "--clusters", "2"],
        b"x,label\n1,0\n",
        "give one of them",
    ),
    "unknown model": (
        [*DATA, "--model", "oracle"],
        f"x,label\n{ROWS}\n".encode(),
        "there is no model 'oracle'",
    ),
    "model not found": (
        [*DATA, "--model", "no.such:thing"],
        f"x,label\n{ROWS}\n".encode(),
        "could not be found",
    ),
    "too many clusters": (
        [*DATA, "--clusters", "99"],
        f"x,label\n{ROWS}\n".encode(),
        "k=99 groups of 6 rows",
    ),
    "unknown scorer": ([*DATA, "--scoring", "luck"], f"x,label\n{ROWS}\n".encode(), "luck"),
    "no worths": (GAME, b"x,label\n1,0\n", "there is no column 'coalition'"),
    "worth is text": (GAME, b"coalition,worth\n,0\na,many\n", "the worth in line 3 of"),
    "worth is text after a gap": (
        [*GAME, "--delimiter", ";"],
        b'coalition;worth\n\n"";0\na;many\n',
        "the worth in line 4 of",
    ),
    "empty group": ([*DATA, "--groups", "x"], b"x,label\n1,0\n,1\n", "is empty in line 3 of"),
    "worth is NaN": (GAME, b"coalition,worth\n,0\na,nan\n", "every worth must be a finite number"),
    "lacking coalitions": (
        GAME,
        b"coalition,worth\n,0\na,1\na+b,3\n",
        "have no worth, {b} among them",
    ),
    "coalition twice": (GAME, b"coalition,worth\n,0\na,1\na,2\n", "line 4 of"),
    "unknown criterion": (
        [*GAME, "--criterion", "karma"],
        b"coalition,worth\n,0\na,1\n",
        "there is no criterion 'karma'",
    ),
    "temperature is text": (
        [*GAME, "--temperature", "hot"],
        b"coalition,worth\n,0\na,1\n",
        "--temperature hot is no number above 0",
    ),
    "temperature below 0": (
        [*GAME, "--temperature=-1"],
        b"coalition,worth\n,0\na,1\n",
        "--temperature -1 is no number above 0; give one, such as 0.1, or a multiple of the game's "
        "own scale, such as 0.5x",
    ),
    "tolerance of 0": (
        [*GAME, "--tolerance", "0"],
        b"coalition,worth\n,0\na,1\n",
        "--tolerance 0 is no number above 0; give one, in the units of the worths",
    ),
    "no time": ([*GAME, "--seconds=-1"], b"coalition,worth\n,0\na,1\n", "--seconds -1 is no"),
    "no worths allowed": ([*GAME, "--budget", "0"], b"coalition,worth\n,0\na,1\n", "--budget 0"),
    "too many rows": (
        [*DATA, "--clusters", "0"],
        ("x,label\n" + "\n".join(f"{i},{i % 2}" for i in range(80))).encode(),
        "use --criterion leave-one-out (n + 2 fits) or --model knn, or give a --budget of worths",
    ),
    "address without cluster": (
        [*GAME, "--address", "here"],
        b"coalition,worth\n,0\na,1\n",
        "--address goes with",
    ),
    "CSV of another kind": ([*GAME, "--csv", "v.html"], None, "--csv cannot write to 'v.html'"),
    "JSON of no kind": ([*GAME, "--json", "v"], None, "end the name in .json"),
    "report of no kind": (
        [*GAME, "--report", "x.pdf"],
        b"coalition,worth\n,0\na,1\n",
        "end the name in .html",
    ),
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


@pytest.mark.parametrize("case", BAD_TABLES)
def test_bad_tables(run, tmp_path, case):
    command, content, sentence = BAD_TABLES[case]
    path = tmp_path / "table.csv"
    if content is not None:
        path.write_bytes(content)
    refused(run(*[each.format(file=path) for each in command]), sentence)


def test_numbers_are_averaged_for_two_where_that_is_said(run, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b,label\n1.2,-0.1,1\n0.3,0.2,0\n0.9,1.5,1\n")
    refused(run("ensemble", path, "--target", "label"), "average numbers by --vote mean")
    assert run("ensemble", path, "--target", "label", "--vote", "mean").exit_code == 0


def refused(result, sentence):
    assert result.exit_code == 2, result.output
    assert result.stderr.startswith("error: ")
    assert sentence in result.stderr
    assert result.stderr.rstrip("\n").count("\n") == 0
    assert "Traceback" not in result.output


def test_a_parquet_file_that_is_none(run, tmp_path):
    path = tmp_path / "t.parquet"
    path.write_text("no")
    refused(run("data", path, "--target", "y"), "is not a Parquet file that can be read")
    refused(run("data", tmp_path, "--target", "y"), "is a folder")
    pd = pytest.importorskip("pandas")
    pd.DataFrame({"x": [1, 2], "y": ["a", None]}).to_parquet(path)
    refused(run("data", path, "--target", "y"), "is empty in row 1 of")


class Opened:
    """A pickle that leaves a trace when it is opened."""

    def __reduce__(self):
        return open, ("opened", "w")


def test_models_that_cannot_be_read(run, tmp_path, people):
    def attempt(name, content, *more):
        path = tmp_path / name
        path.write_bytes(content)
        return run("features", path, people, *more)

    refused(attempt("model.bin", b"nonsense"), "is not a model that can be read")
    refused(attempt("model.json", b"{}"), "is not a model that can be read")
    refused(attempt("model.txt", b"tree\nversion=v4\nnonsense"), "is not a model that can be read")
    refused(attempt("model.skops", b"PK nonsense"), "is not a model that can be read")
    refused(attempt("model.onnx", b"nonsense"), "is not a model that can be read")
    refused(run("features", tmp_path / "none.json", people), "there is no file")
    danger = pickle.dumps(Opened())
    refused(attempt("model.pkl", danger), "opening one runs any code")
    refused(attempt("model.pkl", danger), "with skops (pip install 'fairfield[models]')")
    assert not (tmp_path / "opened").exists()
    refused(attempt("model.pkl", danger[:-4], "--trust-pickle"), "is not a model that can be read")


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


def test_a_store_of_another_game(run, tmp_path, people):
    assert (
        run("data", people, "--target", "label", "--groups", "vendor", "--store", "w.db").exit_code
        == 0
    )
    refused(
        run("data", people, "--target", "town", "--groups", "vendor", "--store", "w.db"),
        "another game, with other parameters, data (X, y, X_test, y_test), groups; use another",
    )
    refused(run("store", "show", tmp_path / "none.db"), "there is no store")
    refused(run("store", "check", people), "not a store of fairfield")


# Slow enough to be stopped on a busy machine, until there is a file named hurry.
SLOW = """
import os
import time
from sklearn.dummy import DummyClassifier

class Slow(DummyClassifier):
    def fit(self, X, y):
        if not os.path.exists("hurry"):
            time.sleep(0.1)
        return super().fit(X, y)
"""


def test_ctrl_c_keeps_the_store_and_says_how_to_resume(tmp_path, people):
    """A real SIGINT to a real process."""
    (tmp_path / "slow.py").write_text(SLOW)
    store = tmp_path / "worths.db"
    command = [
        sys.executable, "-m", "fairfield", "data", str(people), "--target", "label",
        "--clusters", "8", "--model", "slow:Slow", "--store", "worths.db",
    ]  # fmt: skip
    started = subprocess.Popen(
        command,
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        # Tests that run in the background of a shell inherit a SIGINT that is ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and (not store.exists() or kept(store) < 20):
        time.sleep(0.05)
    started.send_signal(signal.SIGINT)
    _, told = started.communicate(timeout=60)
    assert started.returncode == 130
    count = kept(store)
    assert 20 <= count < 256
    assert (
        f"stopped; worths.db keeps {count} worths. Run the same command with --store worths.db"
        in told
    )
    assert "Traceback" not in told
    (tmp_path / "hurry").touch()
    again = subprocess.run(
        [*command, "--json", "v.json"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    evaluations = json.loads((tmp_path / "v.json").read_text())["about"]["evaluations"]
    # Of a model that is not scikit-learn's own, four kept worths are tried again.
    assert evaluations == 256 - count + 4
    assert again.returncode == 0


def test_ctrl_c_without_a_store_says_how_to_keep_worths(run, tmp_path, people):
    (tmp_path / "interrupted.py").write_text(
        "from sklearn.dummy import DummyClassifier\n"
        "class Stop(DummyClassifier):\n"
        "    def fit(self, X, y):\n"
        "        raise KeyboardInterrupt\n"
    )
    command = [
        "data",
        people,
        "--target",
        "label",
        "--clusters",
        "3",
        "--model",
        "interrupted:Stop",
    ]
    result = run(*command)
    assert result.exit_code == 130
    assert "nothing was kept. With --store FILE worths are kept" in result.stderr
    result = run(*command, "--store", "w.db")
    assert result.exit_code == 130
    assert "w.db" in result.stderr


def kept(store):
    try:
        return ff.describe_store(store).worths
    except ff.StoreError:
        return 0


def test_without_the_extra_it_says_what_to_install(tmp_path):
    code = "import sys; sys.modules['typer'] = None; from fairfield.cli import main; main()"
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert answer.returncode == 2
    assert "pip install 'fairfield[cli]'" in answer.stderr
    assert "Traceback" not in answer.stderr


@pytest.mark.parametrize(
    "wrong",
    [["--criterion", "karma"], ["--temperature", "hot"], ["--report", "x.pdf"], ["--csv", "v.txt"]],
)
def test_wrong_wishes_are_told_before_any_work(run, tmp_path, people, wrong):
    (tmp_path / "fits.py").write_text(
        "from sklearn.dummy import DummyClassifier\n"
        "class Fits(DummyClassifier):\n"
        "    def fit(self, X, y):\n"
        "        open('fitted', 'w').close()\n"
        "        return super().fit(X, y)\n"
    )
    command = ["data", people, "--target", "label", "--clusters", "3", "--model", "fits:Fits"]
    assert run(*command, *wrong).exit_code == 2
    assert not (tmp_path / "fitted").exists()
    assert run(*command).exit_code == 0
    assert (tmp_path / "fitted").exists()
