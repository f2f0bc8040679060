"""Pairwise games and cuts."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

import fairfield as ff
from games.examples import assert_same_game


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


def test_pairs_and_cuts_on_any_device(xp, rng):
    linear, arcs = rng.standard_normal(7), np.abs(rng.standard_normal((7, 7)))
    quadratic = np.triu(arcs, 1) + np.triu(arcs, 1).T
    assert_same_game(
        ff.PairwiseGame(linear, quadratic), ff.PairwiseGame(linear, xp.asarray(quadratic)), rng
    )
    assert_same_game(ff.CutGame(arcs), ff.CutGame(xp.asarray(arcs)), rng)
    with pytest.raises(ValueError, match="must be symmetric"):
        ff.PairwiseGame(linear, xp.asarray(arcs))
