"""Parameters of models have one text, and one alone."""

import numpy as np
from sklearn.model_selection import PredefinedSplit

from fairfield.core.fingerprint import is_complete, text_of


def test_long_parameters_are_described_in_full():
    one, other = np.zeros(3000), np.zeros(3000)
    other[1500] = 1
    for wrap in (lambda a: [(a, a)], lambda a: {"a": a}, lambda a: PredefinedSplit(a)):
        assert text_of(wrap(one)) == text_of(wrap(one.copy())) != text_of(wrap(other))
        assert is_complete(wrap(one))
    assert text_of({"b", "a"}) == text_of({"a", "b"})
    assert text_of(np.dtype(float)) == "dtype('float64')"
