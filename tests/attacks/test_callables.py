"""What user functions do to their arguments and outputs never shows in the numbers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fairfield as ff


@pytest.mark.parametrize("n_jobs", [1, None])
def test_an_output_buffer_that_is_used_again_gives_the_same_values(n_jobs):
    buffer = np.empty(1 << 12)

    def worth(S):
        found = buffer[: len(S)]
        np.dot(S, np.arange(1.0, 11.0), out=found)
        return found

    for options in ({}, {"budget": 200}):
        found = ff.shapley(worth, players=10, n_jobs=n_jobs, **options)
        assert_allclose(found.values, np.arange(1.0, 11.0), atol=1e-9)


def test_a_function_that_writes_into_its_argument_is_harmless():
    def worth(S):
        found = S @ np.arange(1.0, 7.0)
        S[:] = False
        return found

    assert_allclose(ff.shapley(worth, players=6).values, np.arange(1.0, 7.0))


def test_fractions_are_not_cut_off_by_whole_numbers():
    rows = np.array([[3, 10], [5, 20]])
    game = ff.FeatureGame(lambda X: X.sum(axis=1), rows, np.array([[1.5, 2.25]]))
    assert_allclose(game.worths(np.zeros((1, 2), dtype=bool))[:, 0], 3.75)
    flags = ff.FeatureGame(lambda X: X[:, 0] * 1.0, np.array([[True, False]]), [[0.5, 0.5]])
    assert_allclose(flags.worths(np.zeros((1, 2), dtype=bool))[:, 0], 0.5)
