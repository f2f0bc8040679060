"""Following the index as the temperature falls, to where it splits or jumps."""

import numpy as np
from numpy.testing import assert_allclose

import brute
import fairfield as ff
from boltzmann import known_laws
from fairfield.mean_field.continuation import predicted
from fairfield.multilinear.table import TableExtension


def test_the_prediction_is_of_second_order(rng):
    """dθ/dβ = (I - βHD)⁻¹ g: halving the step quarters what is left."""
    table = brute.mixed(rng, 6)
    f = TableExtension.of(ff.TableGame(table))
    x = ff.variational_index(table, temperature=2.0).marginals
    left = []
    for step in (0.04, 0.02):
        colder = 2.0 - step
        ahead = predicted(f, x, np.asarray(2.0), np.asarray(colder))
        left.append(np.abs(ahead - ff.variational_index(table, temperature=colder).marginals).max())
    assert 3.5 < left[0] / left[1] < 4.6


def test_critical_temperatures_are_where_the_answer_splits():
    two = ff.annealing([0.0, 1.0, 1.0, 0.0], [2.0, 1.0, 0.6, 0.4, 0.2])
    assert_allclose(two.critical, [0.5], rtol=1e-6)
    assert "critical temperatures: 0.5" in repr(two)
    game, _ = known_laws.ferromagnet(50, coupling=8.0, field=0.0)
    split = ff.annealing(game, np.geomspace(5, 1, 9), criteria="variational_index")
    assert_allclose(split.critical, [8.0 / 4 * 49 / 50], rtol=1e-4)


def test_a_jump_is_critical_too():
    """All together or nobody: the branch on which nobody joins ends as players get cold feet."""
    game, _ = known_laws.ferromagnet(30, coupling=8.0, field=0.0)
    start = ff.annealing(game + _biased(30), np.geomspace(4, 0.5, 15), criteria="variational_index")
    path = start.marginals()
    jumps = np.abs(np.diff(path, axis=0)).max(axis=1)
    smooth = ff.annealing(ff.PairwiseGame(np.ones(4), np.zeros((4, 4))))
    assert smooth.critical == ()
    assert len(start.critical) >= (jumps > 0.5).sum()


def _biased(players):
    return ff.PairwiseGame(np.linspace(-0.5, 0.3, players), np.zeros((players, players)))
