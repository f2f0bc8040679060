"""From residuals of pairs to values and their errors."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from estimation.games import SIGNS, sample_of
from fairfield.estimation.corrections import known_moments, least_squares
from fairfield.estimation.surrogates.sample import no_surrogate


@pytest.mark.parametrize("efficient", [False, True])
@pytest.mark.parametrize("correction", [least_squares, known_moments])
def test_efficient_values_share_out_what_there_is(correction, efficient, rng):
    table = rng.normal(size=2**9)
    sample = sample_of(table, "shapley", 60)
    ends = table[[0, -1]][None]
    answer = correction(sample, efficient).of(no_surrogate(sample), ends)
    assert answer.method.endswith("of 60 pairs of coalitions")
    assert_allclose(answer.spread[0], np.trace(answer.covariance[0]))
    if efficient:
        assert_allclose(answer.values.sum(), table[-1] - table[0])
        assert_allclose(answer.covariance[0].sum(), 0.0, atol=1e-12)


def test_least_squares_of_a_linear_game_leave_nothing(rng):
    slopes = rng.normal(size=9)
    table = (SIGNS + 0.5) @ slopes
    sample = sample_of(table, "banzhaf", 40)
    answer = least_squares(sample, False).of(no_surrogate(sample), table[[0, -1]][None])
    assert_allclose(answer.values[0], slopes, atol=1e-12)
    assert answer.spread[0] < 1e-20


def test_residuals_are_those_of_a_fit_without_the_pair(rng):
    """HC3 of least squares: the residual of a pair by the fit to all others."""
    table = rng.normal(size=2**9)
    sample = sample_of(table, "banzhaf", 40)
    found = least_squares(sample, False).residuals(sample.odd)[0]
    for pair in (0, 17, 39):
        kept = np.arange(40) != pair
        slopes = np.linalg.lstsq(sample.signs[kept], sample.odd[0, kept])[0]
        assert_allclose(found[pair], sample.odd[0, pair] - sample.signs[pair] @ slopes)
    assert_allclose(known_moments(sample, False).residuals(sample.odd), sample.odd)
