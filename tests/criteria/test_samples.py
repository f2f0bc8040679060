"""The sample bound of the paper."""

import numpy as np
import pytest

import fairfield as ff


def test_the_sample_bound_holds_with_both_tails():
    assert ff.samples_needed(0.1, 0.05) == int(np.ceil(200 * np.log(2 / 0.05)))
    assert ff.samples_needed(0.1, 0.05, players=10) > ff.samples_needed(0.1, 0.05)
    with pytest.raises(ValueError, match="epsilon"):
        ff.samples_needed(0, 0.1)
