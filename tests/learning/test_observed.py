"""Coalitions come in many forms, and mean the same in all of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import coo_array, csc_matrix, csr_array

from fairfield.learning import Observed, observe

NAMES = ("bread", "milk", "tea")
MATRIX = np.array([[1, 0, 1], [0, 1, 0], [1, 0, 1], [0, 0, 0]])
LISTS = [["tea", "bread"], ["milk"], ("bread", "tea"), frozenset()]


def as_dict(seen):
    rows = [tuple(row) for row in seen.coalitions.astype(int).tolist()]
    return dict(zip(rows, seen.counts.tolist(), strict=True))


@pytest.mark.parametrize("form", [np.array, csr_array, coo_array, csc_matrix])
@pytest.mark.parametrize("kind", [bool, int, float, np.uint8])
def test_matrices(form, kind):
    seen = observe(form(MATRIX.astype(kind)), players=NAMES)
    assert seen.players == NAMES
    assert as_dict(seen) == {(1, 0, 1): 2, (0, 1, 0): 1, (0, 0, 0): 1}


def test_lists_name_players():
    assert as_dict(observe(LISTS)) == as_dict(observe(MATRIX))
    assert observe(LISTS).players == NAMES
    assert observe(LISTS, players=["tea", "milk", "bread", "salt"]).players[-1] == "salt"
    assert observe([[0, 2], [np.int64(2)]], players=4).coalitions.shape == (2, 4)
    assert observe([[7, 2], [10]]).players == (2, 7, 10)


def test_data_frames_keep_their_names():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(MATRIX, columns=NAMES)
    assert observe(frame).players == NAMES
    turned = observe(frame, players=["tea", "salt", "bread", "milk"])
    assert as_dict(turned) == {(1, 0, 1, 0): 2, (0, 0, 0, 1): 1, (0, 0, 0, 0): 1}
    with pytest.raises(ValueError, match="player 'milk' was observed, who is not among"):
        observe(frame, players=["tea", "bread", "salt"])
    mixed = frame.astype({"milk": bool})
    for each in (frame, mixed, frame.astype(bool), frame.astype("boolean")):
        assert as_dict(observe(each)) == as_dict(observe(MATRIX))
    with pytest.raises(ValueError, match="cells are missing in row 0 or below"):
        observe(frame.astype("boolean").mask(frame == 0))


@given(arrays(bool, st.tuples(st.integers(1, 30), st.integers(1, 20))))
def test_counts_lose_nothing(matrix):
    seen = observe(matrix)
    assert seen.total == len(matrix)
    np.testing.assert_allclose(seen.frequencies, matrix.mean(axis=0), atol=1e-12)
    assert len({row.tobytes() for row in seen.coalitions}) == len(seen.counts)
    np.testing.assert_array_equal(seen.varying, matrix.any(axis=0) & ~matrix.all(axis=0))


@given(arrays(bool, st.tuples(st.integers(2, 30), st.integers(1, 4))), st.floats(0.05, 0.95))
def test_a_split_shares_the_observations_out(matrix, share):
    seen = observe(matrix)
    first, second = seen.split(share, seed=3)
    assert first.total >= 1
    assert second.total == min(max(round(share * len(matrix)), 1), len(matrix) - 1)
    left = as_dict(seen)
    for part in (first, second):
        for row, count in as_dict(part).items():
            left[row] -= count
    assert set(left.values()) == {0}


@pytest.mark.parametrize(
    ("given", "players", "message"),
    [
        (np.zeros((0, 3)), None, "nothing to learn from"),
        ([], None, "nothing to learn from"),
        ([[], []], None, "all coalitions are empty"),
        (np.zeros((3, 0)), None, "no players"),
        (np.zeros(3), None, "rows of a matrix"),
        (np.array([[0, 2]]), None, r"row 0 has .*2.* for player 1.*0 and 1"),
        (np.array([[0.0, np.nan]]), None, "for player 1"),
        (csr_array(np.array([[0, 0], [3, 0]])), None, "row 1 has"),
        (np.array([["yes", "no"]]), None, "0 and 1"),
        ([["tea", "tea"]], None, "names 'tea' twice"),
        ([[0, 1, 1]], None, "must be a NumPy array"),
        (["tea", "milk"], None, "list of players"),
        ("tea", None, "list of lists"),
        (7, None, "list of lists"),
        ([["tea", float("nan")]], None, "names nan"),
        ([["tea"]], ["milk"], "coalition 0 names 'tea', who is not among"),
        (np.zeros((2, 2)), ["a"], "1 players were named"),
        (np.zeros((2, 2)), ["a", "a"], "named twice"),
    ],
)
def test_what_is_no_coalition_is_refused(given, players, message):
    with pytest.raises(ValueError, match=message):
        observe(given, players)


def test_many_observations_are_shown_to_the_last():
    seen = observe([["a"], ["b"]])
    many = Observed(seen.coalitions, np.array([1e6, 234567.0]), seen.players)
    assert repr(many) == "1234567 observed coalitions of 2 players, 2 distinct"


def test_one_observation_cannot_be_split():
    with pytest.raises(ValueError, match="cannot be split"):
        observe([["a"]]).split(0.5)
    with pytest.raises(ValueError, match="between 0 and 1"):
        observe([["a"], ["b"]]).split(1.0)
