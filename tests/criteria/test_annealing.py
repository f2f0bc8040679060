"""The criteria as the temperature falls."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import brute
import fairfield as ff


def test_annealing_runs_from_banzhaf_to_zero_or_one(rng):
    table = brute.supermodular(rng, 5)
    path = ff.annealing(table, temperatures=[0.01, 100.0, 1.0])
    assert_allclose(path.temperatures, [100.0, 1.0, 0.01])
    assert path.values().shape == (3, 5)
    assert_allclose(path.values()[0], brute.banzhaf(table), atol=0.05)
    assert_allclose(path.marginals()[-1], np.round(path.marginals()[-1]), atol=1e-3)
    assert (path.decoupling_errors() >= 0).all()
    assert (path.decoupling_errors() <= path.decoupling_errors("shapley") + 1e-9).all()
    assert "temperature" in repr(path)
    default = ff.annealing(table)
    assert len(default.temperatures) == 21
    assert (np.diff(default.temperatures) < 0).all()
    pytest.importorskip("pandas")
    assert path.to_frame().shape == (15, 3)


def test_annealing_follows_one_answer_down(rng):
    """Each temperature starts from the answer above it, not from ½ again."""
    table = brute.mixed(np.random.default_rng(22), 4)
    path = ff.annealing(table, temperatures=[3.0, 1.0, 0.5, 0.2, 0.1], criteria="variational_index")
    fresh = ff.variational_index(table, temperature=0.1)
    assert np.abs(path.marginals()[-1] - fresh.marginals).max() > 0.5
    followed = ff.variational_index(table, temperature=0.1, start=path.marginals()[-2])
    assert_allclose(path.marginals()[-1], followed.marginals, atol=1e-9)
