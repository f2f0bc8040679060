"""A surrogate of boosted trees, where they are installed."""

from dataclasses import replace

import numpy as np

import fairfield as ff
from estimation.games import PLAYERS, SIGNS, sampled
from fairfield.estimation.surrogates import registry
from fairfield.estimation.surrogates import trees as boosting


def test_without_scikit_learn_there_are_no_trees(monkeypatch):
    from importlib import util

    monkeypatch.setattr(util, "find_spec", lambda name: None if name == "sklearn" else object())
    assert not boosting.trees_are_installed()
    table = (SIGNS @ np.arange(PLAYERS) > 0.4) * 1.0
    registry.surrogates()
    trees = replace(registry._registered["trees"], fit=None)  # would fail if it were called
    monkeypatch.setitem(registry._registered, "trees", trees)
    found = sampled(ff.shapley, table, budget=300)
    assert "trees" not in found.method
