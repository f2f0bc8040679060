"""Groups of rows, near or at random."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import ConvergenceWarning

import fairfield as ff


def test_random_groups_are_equal_and_clusters_near(rng):
    random = ff.cluster(np.zeros((426, 2)), 16, how="random", seed=3)
    assert sorted(np.bincount(random)) == [26] * 6 + [27] * 10
    assert_array_equal(random, ff.cluster(np.zeros((426, 2)), 16, how="random", seed=3))
    assert (random != ff.cluster(np.zeros((426, 2)), 16, how="random", seed=4)).any()
    centres = rng.permutation(np.repeat([0.0, 10.0, 20.0], 15))
    near = ff.cluster(centres[:, None] + 0.1 * rng.standard_normal((45, 1)), 3)
    assert len(set(zip(near.tolist(), centres.tolist(), strict=True))) == 3
    uneven = np.concatenate([np.zeros(20), np.arange(1.0, 14)])[:, None]
    assert sorted(np.bincount(ff.cluster(uneven, 5))) == [6, 6, 7, 7, 7]
    with pytest.warns(ConvergenceWarning, match="distinct clusters"):
        assert sorted(ff.cluster(np.zeros((4, 1)), 3).tolist()) == [0, 0, 1, 2]
    for k, how in ((0, "random"), (5, "random"), (2, "ward")):
        with pytest.raises(ValueError, match=r"groups of 4 rows|choose 'kmeans'"):
            ff.cluster(np.zeros((4, 1)), k, how=how)
