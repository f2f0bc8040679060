"""Eigenvalues at a fixed point, dense and by Lanczos, and its errors."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import brute
import fairfield as ff
from fairfield import TableGame
from fairfield.mean_field import stability
from fairfield.multilinear.table import TableExtension
from noisy import noisy


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


@pytest.mark.parametrize("prior", [None, [0.3, 0.5, 0.9, 0.6]])
def test_the_index_moves_as_its_errors_say(prior, rng):
    """dx*/dF by differences of solved indices, worth by worth."""
    n, step, variances = 4, 1e-5, rng.random(16)
    table = rng.standard_normal(16)
    moved = table + step * np.vstack([np.eye(16), -np.eye(16)])

    def solved(worths, **rest):
        return ff.variational_index(
            ff.TableGame(worths, **rest), temperature=0.7, prior=prior, decoupling=False
        )

    ends = solved(moved).values
    slopes = (ends[:16] - ends[16:]).T / (2 * step)
    assert slopes.shape == (n, 16)
    found = solved(table, variances=variances)
    assert_allclose(found.stderr, np.sqrt(slopes**2 @ variances), rtol=1e-6)


def test_at_a_critical_temperature_the_error_is_infinite():
    extension = noisy([0.0, 1.0, 1.0, 0.0], np.ones(4))
    error = stability.index_covariance(extension, np.full(2, 0.5), np.array(0.5))
    assert np.isinf(error).all()
