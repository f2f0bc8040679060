"""A surrogate of boosted trees, where they are installed."""

from dataclasses import replace

import numpy as np
from numpy.testing import assert_allclose

import brute
import fairfield as ff
from conftest import needs
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


def test_trees_that_know_a_coalition_speak_of_it():
    """Draws of a cold law repeat: what folds leave of known coalitions is not what is left."""
    needs("sklearn", "ml")
    from fairfield.estimation.surrogates.trees import tree_control

    rng = np.random.default_rng(0)
    inside = brute.coalitions(7).astype(float)
    worths = rng.normal(size=2**7)
    often, once = (
        tree_control(inside, worths, np.full(2**7, times), seed=0) for times in (2.0, 1.0)
    )
    known = np.array([often.at(row)[0] for row in inside])
    assert_allclose(often.left, worths - known, atol=1e-9)
    assert np.mean(once.left**2) > 2 * np.mean(often.left**2)
