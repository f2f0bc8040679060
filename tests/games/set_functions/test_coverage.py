"""Coverage games."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

import fairfield as ff


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (lambda: ff.CoverageGame([[0.5, 1.5]], [1.0]), "outside"),
        (lambda: ff.CoverageGame([[0.5, 0.5]], [1.0, 2.0]), "one row per element"),
        (lambda: ff.CoverageGame(csr_array([[0.5, np.nan]]), [1.0]), "outside"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(build: object, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        build()  # type: ignore[operator]
