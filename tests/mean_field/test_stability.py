"""Eigenvalues at a fixed point: dense and by Lanczos."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import brute
from fairfield import TableGame
from fairfield.mean_field import stability
from fairfield.multilinear.table import TableExtension


@pytest.mark.parametrize("games", [(), (4,)])
def test_lanczos_finds_the_largest_eigenvalue(games, rng):
    tables = rng.standard_normal((*games, 2**9))
    f, x = TableExtension.of(TableGame(tables)), rng.uniform(0.1, 0.9, (*games, 9))
    temperature = np.full(games, 0.3)
    dense = stability.saddle_eigenvalue(f, x, temperature)
    wanted = [
        np.linalg.eigvalsh(
            np.sqrt(y * (1 - y))[:, None] * brute.hessian(t, y) * np.sqrt(y * (1 - y))
        )[-1]
        for t, y in zip(tables.reshape(-1, 512), x.reshape(-1, 9), strict=True)
    ]
    assert_allclose(dense.ravel(), np.array(wanted) / 0.3 - 1, atol=1e-10)
    lanczos = stability._largest_eigenvalue(f, x) / temperature - 1
    assert_allclose(lanczos, dense, atol=1e-3)
