"""Arguments are checked where they are given, and the sentence says what was seen."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from fairfield.core.checks import (
    flat_points,
    names,
    nonnegative,
    number,
    numbers,
    numbers_anywhere,
    whole,
)


@pytest.mark.parametrize("given", [3, 3.0, np.int8(3), np.float32(3), np.float64(3)])
def test_whole_numbers_of_every_type_are_taken(given):
    found = whole("budget", given)
    assert found == 3
    assert type(found) is int


@pytest.mark.parametrize(
    "given", [True, False, np.True_, 2.5, np.float32(2.5), np.nan, np.inf, "3", None, 0, [3]]
)
def test_what_is_no_whole_number_is_refused(given):
    with pytest.raises(ValueError, match=r"budget=.* was given; it must be a whole number, 1 or"):
        whole("budget", given)


def test_the_least_is_named_where_there_is_one():
    assert whole("seed", 0, 0) == 0
    assert whole("n_jobs", -1, None) == -1
    with pytest.raises(ValueError, match=r"seed=-1 was given; .* number, 0 or more$"):
        whole("seed", -1, 0)
    with pytest.raises(ValueError, match=r"n_jobs=1.5 was given; it must be a whole number$"):
        whole("n_jobs", 1.5, None)


@pytest.mark.parametrize(
    ("given", "axes", "sentence"),
    [
        ([1.0, np.inf], 1, r"weights\[1\] is inf; every one must be a finite number"),
        ([[1.0, 2.0], [np.nan, 0.0]], 2, r"weights\[1, 0\] is nan"),
        ([[1.0]], 1, r"weights of shape \(1, 1\) were given; they must have 1 axis"),
        ([], 1, "at least one entry"),
        (["a"], 1, "weights must be an array of numbers"),
        ([[1.0], [1.0, 2.0]], 2, "weights must be an array of numbers"),
    ],
)
def test_arrays_that_are_no_finite_numbers_are_refused(given, axes, sentence):
    with pytest.raises(ValueError, match=sentence):
        numbers(given, "weights", axes)


def test_numbers_below_zero_and_single_ones():
    assert_array_equal(nonnegative([0, 2], "claims"), [0.0, 2.0])
    with pytest.raises(ValueError, match=r"claims hold -1\.0; none may be negative"):
        nonnegative([0, -1], "claims")
    assert number(3, "quota") == 3.0
    with pytest.raises(ValueError, match=r"quota is \[3\]; it must be a finite number"):
        number([3], "quota")


def test_arrays_of_other_libraries_stay_where_they_are(xp):
    found = numbers_anywhere(xp.asarray([1, 2]), "worths")
    assert found.dtype == xp.float64
    assert not isinstance(found, np.ndarray)
    with pytest.raises(ValueError, match=r"worths\[1\] is nan"):
        numbers_anywhere(xp.asarray([1.0, float("nan")]), "worths")


def test_players_are_named_all_or_by_their_places():
    assert names(None, 3) == (0, 1, 2)
    assert names(["a", "b"], 2) == ("a", "b")
    with pytest.raises(ValueError, match="1 players were named for a game of 2; name them all"):
        names(["a"], 2)


def test_points_become_rows():
    rows, lead = flat_points(np.zeros((4, 5, 3)), 3)
    assert rows.shape == (20, 3)
    assert lead == (4, 5)
    with pytest.raises(ValueError, match=r"a point of shape \(2,\) was given for 3 players"):
        flat_points([0.5, 0.5], 3)
