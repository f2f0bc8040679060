"""Polynomials in few interactions."""

import numpy as np
from numpy.testing import assert_allclose

from fairfield.estimation.surrogates.sparse import sparse_fit


def test_a_game_of_few_interactions_is_found_exactly(rng):
    """A program of if-statements: products of up to four of 60 players, in and out."""
    inside = rng.random((600, 60)) < 0.5
    everyone = rng.random((500, 60)) < 0.5

    def worth(S):
        return (
            3.0 * (S[:, 0] & S[:, 1])
            + S[:, 2]
            - 2.0 * (S[:, 3] & ~S[:, 4] & S[:, 5])
            + 1.5 * (S[:, 6] & S[:, 7] & S[:, 8] & ~S[:, 9])
        )

    found = sparse_fit(inside, worth(inside))
    assert found.exact
    assert_allclose(found.polynomial.predict(everyone), worth(everyone), atol=1e-9)
    assert found.polynomial.support[0] == ()
    assert found.polynomial.degree == 4


def test_what_is_left_out_is_not_known_beforehand(rng):
    """Of a game of noise nothing is found, and residuals of left-out worths show that."""
    inside = rng.random((200, 10)) < 0.5
    noise = rng.standard_normal(200)
    found = sparse_fit(inside, noise, groups=np.arange(200) // 2)
    assert not found.exact
    assert 0.9 < np.mean(found.outside**2) / np.var(noise) < 1.3


def test_a_rival_that_predicts_far_better_ends_the_search(rng):
    inside = rng.random((100, 8)) < 0.5
    assert sparse_fit(inside, rng.standard_normal(100), rival=0.01) is None
    assert sparse_fit(inside[:8], rng.standard_normal(8), groups=np.arange(8) // 2) is None


def test_worths_that_are_all_equal_are_a_constant():
    found = sparse_fit(np.eye(12, dtype=bool), np.full(12, 7.0))
    assert found.exact
    assert_allclose(found.polynomial.predict(~np.eye(12, dtype=bool)), 7.0)
