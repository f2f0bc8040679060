"""Folds that are left out in turn."""

import numpy as np

from fairfield.estimation.surrogates.folds import FOLDS, folds


def test_groups_share_a_fold_and_folds_are_even():
    """Also where the numbers of groups have gaps, since some coalitions were held back."""
    groups = np.repeat(3 * np.arange(12), 2)
    found = folds(groups, 0)
    assert (found[::2] == found[1::2]).all()
    assert set(np.bincount(found, minlength=FOLDS)) <= {4, 6}
