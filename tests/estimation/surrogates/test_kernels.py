"""A kernel surrogate: sections with values in closed form."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import brute
from estimation.games import DIAGONALS
from fairfield.estimation.surrogates import kernels


@pytest.mark.parametrize("law", DIAGONALS)
@pytest.mark.parametrize("kernel", kernels.KERNELS)
def test_sections_of_a_kernel_have_their_values_in_closed_form(kernel, law):
    players = 5
    signs = brute.coalitions(players) - 0.5
    sections = kernels._gram(signs, signs, kernel)
    values = kernels._values(signs, np.eye(len(signs)), kernel, DIAGONALS[law](players))
    for section, value in zip(sections, values, strict=True):
        assert_allclose(value, getattr(brute, law)(section), atol=1e-12)


def test_a_kernel_predicts_in_blocks_what_it_predicts_at_once(rng, monkeypatch):
    monkeypatch.setattr(kernels, "AT_ONCE", 7)
    signs, alpha = np.where(rng.random((50, 6)) < 0.5, 0.5, -0.5), rng.standard_normal((2, 20))
    kernel = kernels.KERNELS[2]
    found = kernels._predict(alpha, signs[:20], signs[20:], kernel)
    assert_allclose(found, alpha @ kernels._gram(signs[:20], signs[20:], kernel), rtol=1e-12)
