"""Pairwise games and cuts."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

import fairfield as ff


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (lambda: ff.PairwiseGame([1, 2], [[0, 1], [2, 0]]), "symmetric"),
        (lambda: ff.PairwiseGame([1, 2], [[1, 1], [1, 0]]), "diagonal"),
        (lambda: ff.PairwiseGame([1, 2, 3], [[0, 1], [1, 0]]), "same players"),
        (lambda: ff.PairwiseGame([1, 2], csr_array([[0, np.inf], [np.inf, 0]])), "finite"),
        (lambda: ff.CutGame(np.ones((2, 3))), "square"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(build: object, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        build()  # type: ignore[operator]
