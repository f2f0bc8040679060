"""Glove games reward the short side."""

from __future__ import annotations

import numpy as np
import pytest

import fairfield as ff
from games.examples import closed_form


def test_gloves_reward_the_short_side() -> None:
    np.testing.assert_allclose(closed_form(ff.GlovesGame(1, 2)).shapley(), [2 / 3, 1 / 6, 1 / 6])
    np.testing.assert_allclose(closed_form(ff.GlovesGame(3, 3)).shapley(), [0.5] * 6)
    many = closed_form(ff.GlovesGame(100, 101)).shapley()
    # Shapley and Shubik: with a hundred and one against a hundred the short side gains.
    assert many[0] > 0.5 > many[-1]
    assert many.sum() == pytest.approx(100)


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (lambda: ff.GlovesGame(0, 3), "left=0"),
        (lambda: ff.GlovesGame(1, 2.5), "right=2.5"),  # type: ignore[arg-type]
    ],
)
def test_bad_input_is_refused_in_one_sentence(build: object, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        build()  # type: ignore[operator]
