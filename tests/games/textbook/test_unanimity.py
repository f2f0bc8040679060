"""Unanimity games share equally among the carrier."""

from __future__ import annotations

import numpy as np
import pytest

import fairfield as ff
from games.examples import closed_form


def test_unanimity_shares_equally_among_the_carrier() -> None:
    game = ff.UnanimityGame({"b", "d"}, players=["a", "b", "c", "d"])
    closed = closed_form(game)
    np.testing.assert_allclose(closed.shapley(), [0, 0.5, 0, 0.5])
    np.testing.assert_allclose(closed.gradient([0.5, 0.25, 0.5, 0.75]), [0, 0.75, 0, 0.25])


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (lambda: ff.UnanimityGame([], players=3), "carrier is empty"),
        (lambda: ff.UnanimityGame([5], players=3), "no player 5"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(build: object, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        build()  # type: ignore[operator]
