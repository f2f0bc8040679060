"""Cardinality games."""

from __future__ import annotations

import pytest

import fairfield as ff


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (lambda: ff.CardinalityGame([1.0]), "at least one"),
        (lambda: ff.CardinalityGame([0, 1, 2], players=["a"]), "1 players were named"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(build: object, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        build()  # type: ignore[operator]
