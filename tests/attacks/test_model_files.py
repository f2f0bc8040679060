"""Model files that crash their libraries are refused, and types are trusted by name."""

import json
import re

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from command_line import refused
from fairfield.cli.messages import InputError
from fairfield.cli.model_files import read_model
from fairfield.cli.model_trial import complaint
from fairfield.games.trees.nodes import Tree, join


def tree(left, right):
    size = len(left)
    return Tree(
        left, right, np.zeros(size), np.zeros(size), np.zeros(size), np.ones(size), [1] * size
    )


@pytest.mark.parametrize(
    ("left", "right"),
    [([1, 0, -1], [2, 2, -1]), ([1, -1, -1], [9, -1, -1]), ([1, -1, -1], [1, -1, -1])],
)
def test_children_that_make_no_tree_are_refused(left, right):
    sound = tree(np.array([1, -1, -1]), np.array([2, -1, -1]))
    join([sound, sound])
    with pytest.raises(ValueError, match="children of its nodes do not make trees"):
        join([sound, tree(np.array(left), np.array(right))])


def test_a_file_that_crashes_its_library_is_refused(run, tmp_path):
    xgboost = pytest.importorskip("xgboost")
    path, X = tmp_path / "m.json", np.random.default_rng(0).normal(size=(60, 2))
    xgboost.XGBRegressor(n_estimators=1, max_depth=2).fit(X, X.sum(axis=1)).save_model(path)
    model = json.loads(path.read_text())
    first = model["learner"]["gradient_booster"]["model"]["trees"][0]
    first["left_children"][1] = first["right_children"][1] = 0
    path.write_text(json.dumps(model))
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n3,4\n")
    refused(run("features", path, tmp_path / "rows.csv"), "is not a model that can be read (")


def test_a_file_nested_too_deeply_is_refused(tmp_path):
    """Its library crashed, and the command line with it."""
    pytest.importorskip("xgboost")
    path = tmp_path / "m.json"
    path.write_text('{"learner":' * 100_000 + "1" + "}" * 100_000)
    assert complaint(path) is not None


def test_a_trial_that_takes_too_much_memory_is_ended(tmp_path, monkeypatch):
    alone = (
        "from fairfield.cli import model_files, model_trial\n"
        "model_files.load = lambda path: bytearray(9 * 2**30)\n"
        "model_trial.trial('m.json')\n"
    )
    monkeypatch.setattr("fairfield.cli.model_trial._TRIAL", alone)
    assert complaint(tmp_path / "m.json") == "MemoryError"


def test_a_trial_that_takes_too_long_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr("fairfield.cli.model_trial.SECONDS", 0.01)
    assert complaint(tmp_path / "m.json") == "reading it took more than 0.01 seconds"


def test_a_model_that_turns_in_a_circle_is_ended_though_nobody_waits(tmp_path, monkeypatch):
    """LightGBM follows children that are their own parents for ever, where no sizes are given."""
    lightgbm = pytest.importorskip("lightgbm")
    path, X = tmp_path / "m.txt", np.random.default_rng(0).normal(size=(60, 2))
    fitted = lightgbm.train({"num_leaves": 4, "verbose": -1}, lightgbm.Dataset(X, X.sum(axis=1)), 1)
    text = re.sub(r"tree_sizes=.*\n", "", fitted.model_to_string())
    path.write_text(re.sub(r"(left|right)_child=.*", r"\1_child=0 0 0", text))
    alone = "from fairfield.cli import model_trial as m; m.SECONDS = 1; m.trial(__import__('sys').argv[1])"
    monkeypatch.setattr("fairfield.cli.model_trial._TRIAL", alone)
    assert complaint(path) == "reading it took more than 120 seconds"


class Sum(BaseEstimator):
    """A type that skops does not know."""

    def predict(self, X):
        return np.asarray(X).sum(axis=1)


def test_types_of_a_skops_file_are_trusted_by_name(run, tmp_path):
    skops = pytest.importorskip("skops.io")
    skops.dump(Sum(), tmp_path / "m.skops")
    (unknown,) = skops.get_untrusted_types(file=tmp_path / "m.skops")
    for trusted in ((), ["other.Sum"]):
        with pytest.raises(
            InputError, match=r"if you trust what they do, pass --trust |holds no type other\.Sum"
        ):
            read_model(tmp_path / "m.skops", trusted=trusted)
    assert isinstance(read_model(tmp_path / "m.skops", trusted=[unknown]), Sum)
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n3,4\n")
    command = ["features", tmp_path / "m.skops", tmp_path / "rows.csv"]
    refused(run(*command), f"pass --trust {unknown}")
    assert run(*command, "--trust", unknown).exit_code == 0
