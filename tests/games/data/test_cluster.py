"""Groups of rows, near, at random, by time or vendor, and of columns."""

import numpy as np
import pandas as pd
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


def test_rows_are_cut_by_time_and_kept_by_vendor(rng):
    days = rng.permutation(23)
    frame = pd.DataFrame({"day": days, "size": rng.standard_normal(23)})
    periods = ff.cluster(frame, 4, how="time", by="day")
    assert sorted(np.bincount(periods)) == [5, 6, 6, 6]
    assert (np.diff(periods[np.argsort(days)]) >= 0).all()
    vendors = rng.choice(list("abcdefgh"), 23)
    groups = ff.cluster(frame, 3, how="vendor", by=vendors)
    assert all(len({*groups[vendors == each]}) == 1 for each in vendors)
    assert {*groups} == {0, 1, 2}


def test_columns_that_move_together_are_one_group(rng):
    first, second = rng.standard_normal((2, 50))
    noise = 0.1 * rng.standard_normal((50, 5))
    X = np.column_stack([first, second, -first, second, first]) + noise
    assert ff.cluster(X, 2, how="column").tolist() == [0, 1, 0, 1, 0]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"how": "vendor"}, "needs by="),
        ({"how": "vendor", "by": ["a"] * 4}, "k=2 groups of 1 vendors"),
        ({"how": "time", "by": "when"}, "by='when' is no column of X"),
        ({"how": "time", "by": [1, 2]}, "give one entry for each of 4 rows"),
    ],
)
def test_groups_that_cannot_be_made_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        ff.cluster(np.zeros((4, 3)), 2, **options)
