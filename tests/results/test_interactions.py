"""Interactions as a table, a matrix and a list."""

import numpy as np
import pytest

import fairfield as ff
from fairfield.results.words import Words


def interactions(values, stderr=None):
    pairs = [("a", "b"), ("a", "c"), ("b", "c")]
    words = Words("feature", "row", "prediction")
    found = np.asarray(values, dtype=float)
    return ff.Interactions("shapley", ("a", "b", "c"), pairs, found, "exact table", "a game",
                           stderr=stderr, words=words)  # fmt: skip


def test_the_strongest_come_first():
    found = interactions([1, -3, 2], stderr=np.array([0.1, 0.2, 0.3]))
    assert found.top(2) == [(("a", "c"), -3.0), (("b", "c"), 2.0)]
    lines = repr(found).splitlines()
    assert lines[0].split() == ["coalition", "interaction", "±"]
    assert lines[1].split() == ["{a,", "c}", "-3", "0.392"]
    assert lines[-1] == "shapley interactions of a game, exact table"


def test_a_batch_has_no_single_list():
    batch = interactions([[1, 2, 3], [4, 5, 6]])
    assert repr(batch).splitlines()[0].split() == ["coalitions", "rows"]
    assert batch.matrix().shape == (2, 3, 3)
    with pytest.raises(ValueError, match="take values\\[i\\] of one row"):
        batch.top()
