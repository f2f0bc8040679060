"""Labels compare by what they are, not by how they are stored."""

import numpy as np
import pandas as pd
import pytest

from fairfield.core.labels import is_text, plain_labels, positions

NUMBERS = [
    [3, 1, 3],
    [3.0, 1.0, 3.0],
    np.array([3, 1, 3], dtype=object),
    np.array([3, 1, 3], dtype=np.int8),
    pd.Series([3, 1, 3], dtype="Int64"),
    pd.Series([3, 1, 3], dtype="category"),
    pd.Categorical([3, 1, 3], categories=[3, 1, 2], ordered=True),
]
TEXTS = [
    ["b", "a", "b"],
    np.array(["b", "a", "b"], dtype=object),
    np.array(["b", "a", "b"], dtype=np.dtypes.StringDType()),
    pd.Series(["b", "a", "b"]),
    pd.Series(["b", "a", "b"], dtype="string"),
    pd.Series(["b", "a", "b"], dtype="category"),
]


@pytest.mark.parametrize("given", NUMBERS, ids=lambda given: str(getattr(given, "dtype", "list")))
def test_numbers_are_equal_however_they_are_stored(given):
    found = plain_labels(given)
    assert not is_text(found)
    assert found.tolist() == [3, 1, 3]
    assert positions(given, [1, 2, 3]).tolist() == [2, 0, 2]
    assert positions([3, 1, "3"], given).tolist() == [2, 1, -1]


@pytest.mark.parametrize("given", TEXTS, ids=lambda given: str(getattr(given, "dtype", "list")))
def test_texts_are_equal_however_they_are_stored(given):
    found = plain_labels(given)
    assert is_text(found)
    assert found.dtype.kind != "O"
    assert found.tolist() == ["b", "a", "b"]
    assert positions(given, ["a", "b"]).tolist() == [1, 0, 1]


@pytest.mark.parametrize("given", [[True, False], pd.Series([True, False], dtype="boolean")])
def test_booleans_are_numbers(given):
    assert plain_labels(np.asarray(given, dtype=object)).dtype == bool
    assert positions(given, [0, 1]).tolist() == [1, 0]


def test_a_text_is_no_number():
    assert positions(["1", 1, True, None], np.array(["1", "2"])).tolist() == [0, -1, -1, -1]
    assert positions(np.array(["1"]), [1]).tolist() == [-1]
    assert positions([1, "a"], ["a", 1]).tolist() == [1, 0]
    assert plain_labels(np.array([1, "a"], dtype=object)).tolist() == ["1", "a"]


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT])
def test_a_missing_label_is_refused(missing):
    with pytest.raises(ValueError, match=r"y_test holds .* in row 2; leave that row out"):
        plain_labels(pd.Series(["a", "b", missing], dtype=object), "y_test")


def test_labels_of_several_outputs_keep_their_shape():
    assert plain_labels(np.array([[1, 0], [0, 1]], dtype=object)).tolist() == [[1, 0], [0, 1]]
