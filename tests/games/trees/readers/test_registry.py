"""Readers register themselves; a new one is one function."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor, RandomTreesEmbedding
from sklearn.linear_model import LinearRegression

import fairfield as ff
from fairfield.explanations import game_of
from fairfield.games.outputs import choose_outputs
from fairfield.games.trees.model import TreeModel, in_single
from fairfield.games.trees.nodes import Tree
from fairfield.games.trees.readers import registry


class Stump:
    """A model of some library of its own: one split."""

    __module__ = "woodwork.models"

    def __init__(self, column, threshold, below, above):
        self.column, self.threshold, self.leaves = column, threshold, (below, above)

    def predict(self, rows):
        return np.where(rows[:, self.column] <= self.threshold, *self.leaves)


def read_stump(model, output):
    below, above = model.leaves
    tree = Tree(
        left=[1, -1, -1],
        right=[2, -1, -1],
        feature=[model.column, 0, 0],
        threshold=[model.threshold, 0.0, 0.0],
        missing_left=[True, False, False],
        value=[0.0, below, above],
        cover=[2.0, 1.0, 1.0],
    )
    chosen = choose_outputs("Stump", output, "prediction", columns=1)
    return TreeModel(model, chosen, [tree], 0.0, 3, None, in_single, model.predict)


def test_a_new_reader_is_one_function(rng, monkeypatch):
    X, model = rng.standard_normal((9, 3)), Stump(1, 0.25, -1.0, 2.0)
    assert registry.reader_of(model) is None
    monkeypatch.setattr(registry, "READERS", [*registry.READERS])
    with pytest.raises(TypeError, match="Stump is not a tree model"):
        ff.TreeGame(model, X[:2], X)
    assert registry.reads("woodwork", "Stump", models="stumps")(read_stump) is read_stump
    assert registry.reader_of(model).models == "stumps"
    game = game_of(model, X[:2], X)
    assert isinstance(game, ff.TreeGame)
    wanted = ff.shapley(ff.FeatureGame(model.predict, X[:2], X)).values
    np.testing.assert_allclose(ff.shapley(game).values, wanted, atol=1e-12)


def test_a_class_has_one_reader(monkeypatch):
    monkeypatch.setattr(registry, "READERS", [])
    registry.reads("woodwork", "Stump", "Hedge", models="stumps")(read_stump)
    registry.reads("driftwood", "Stump", models="other stumps")(read_stump)
    sentence = "there is a reader of woodwork's Hedge already, read_stump; leave out one of the two"
    with pytest.raises(ValueError, match=sentence):
        registry.reads("woodwork", "Bush", "Hedge", models="bushes")(lambda model, output: None)
    assert [reader.models for reader in registry.READERS] == ["stumps", "other stumps"]


def test_the_same_reader_may_be_registered_again(monkeypatch):
    """As where a cell of a notebook is run a second time."""
    monkeypatch.setattr(registry, "READERS", [])
    for models in ("stumps", "stumps, once more"):
        registry.reads("woodwork", "Stump", "Hedge", models=models)(read_stump)
    assert [reader.models for reader in registry.READERS] == ["stumps, once more"]


def test_every_file_of_the_folder_is_imported():
    code = (
        "import sys\nfrom fairfield.games.trees.readers import registry\n"
        "assert registry.reader_of(3) is None\n"
        "print(sorted({r.read.__module__.rpartition('.')[2] for r in registry.READERS}))\n"
        "assert not {'catboost', 'sklearn', 'xgboost', 'lightgbm', 'numba', 'pandas'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['catboost', 'lightgbm', 'sklearn', 'sksurv', 'xgboost']\n"


def test_models_are_recognised_by_library_and_base():
    assert registry.reader_of(GradientBoostingRegressor()).models.startswith("gradient boosting")
    assert registry.reader_of(RandomForestRegressor()).models.startswith("decision trees")
    assert registry.reader_of(type("Mine", (RandomForestRegressor,), {})()) is not None
    for other in (LinearRegression(), RandomTreesEmbedding(), type("Booster", (), {})(), None):
        assert registry.reader_of(other) is None
    for library in ("xgboost", "lightgbm"):
        module = pytest.importorskip(library)
        base = {"xgboost": "XGBModel", "lightgbm": "LGBMModel"}[library]
        assert registry.reader_of(getattr(module, base)()).library == library


def test_what_can_be_read_is_listed():
    sentence = (
        "LinearRegression is not a tree model that can be read, as .*LightGBM.*decision trees and "
        "forests of scikit-learn.*XGBoost are; FeatureGame"
    )
    with pytest.raises(TypeError, match=sentence):
        registry.read_model(LinearRegression())
