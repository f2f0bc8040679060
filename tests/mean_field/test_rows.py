"""Records of arrays, row by row."""

from dataclasses import dataclass

import numpy as np
from numpy.testing import assert_array_equal

from fairfield.mean_field.rows import Rows


@dataclass(frozen=True)
class Record(Rows):
    number: np.ndarray
    point: np.ndarray
    name: np.ndarray


def record(first, count):
    number = np.arange(first, first + count)
    return Record(number, number[:, None] * [1.0, 10.0], np.array([f"row {i}" for i in number]))


def test_rows_are_taken_chosen_and_joined():
    few, other = record(0, 3), record(100, 3)
    assert_array_equal(few.take([2, 0]).point, [[2, 20], [0, 0]])
    mixed = few.where(np.array([True, False, True]), other)
    assert_array_equal(mixed.number, [0, 101, 2])
    assert_array_equal(mixed.point[:, 1], [0, 1010, 20])
    assert mixed.name.tolist() == ["row 0", "row 101", "row 2"]
    both = Record.joined([few, record(3, 2)])
    assert_array_equal(both.number, range(5))
    assert both.point.shape == (5, 2)
