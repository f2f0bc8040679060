"""The order of pairs in one line."""

import numpy as np

from fairfield.games.trees.pairs import pair_place, square


def test_each_pair_has_its_place_in_both_halves_of_the_matrix():
    values = np.arange(20.0).reshape(2, 10)
    matrix = square(values, 5)
    for i in range(5):
        for j in range(i):
            place = pair_place(i, j)
            np.testing.assert_array_equal(matrix[:, i, j], values[:, place])
    np.testing.assert_array_equal(matrix, matrix.swapaxes(1, 2))
    assert not np.trace(matrix, axis1=1, axis2=2).any()
