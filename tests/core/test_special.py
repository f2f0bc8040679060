"""SciPy's functions, imported when they are called."""

import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose

from fairfield.core.special import (
    beta_nodes,
    brentq,
    expit,
    log_beta,
    log_binomials,
    log_sum_exp,
)


def test_expit_is_accurate_in_both_tails():
    logits = np.array([-1e300, -745.0, -50.0, 0.0, 50.0, 1e300])
    assert_allclose(expit(logits), 1 / (1 + np.exp(np.minimum(-logits, 700.0))), atol=1e-304)
    assert_allclose(expit(-50.0), np.exp(-50.0), rtol=1e-15)
    assert isinstance(expit(0.0), np.ndarray)


def test_binomials_of_every_size():
    assert_allclose(np.exp(log_binomials(6)), [1, 6, 15, 20, 15, 6, 1], rtol=1e-13)


def test_a_root_is_found():
    assert_allclose(brentq(lambda x: x**3 - 2, 0.0, 2.0, xtol=1e-14), 2 ** (1 / 3), rtol=1e-12)


def test_scipy_waits_for_the_first_call():
    code = "import sys, fairfield.core.special; print('scipy' in sys.modules)"
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "False"


def test_a_log_sum_neither_overflows_nor_vanishes():
    logs = np.array([[1000.0, 1000.0], [-1000.0, -1001.0]])
    wanted = [1000 + np.log(2), -1000 + np.log1p(np.exp(-1))]
    assert_allclose(log_sum_exp(logs), wanted, rtol=1e-15)


def test_beta_functions():
    assert_allclose(np.exp(log_beta([1, 2], 3)), [1 / 3, 1 / 12], rtol=1e-14)


@pytest.mark.parametrize("a", [1e-300, 1e-3, 0.5, 1.0, 7.0, 1100.0, 1e300])
@pytest.mark.parametrize("b", [1e-300, 0.5, 1.0, 3.0, 1100.0, 1e300])
def test_quadrature_against_a_beta_distribution(a, b):
    at, weights = beta_nodes(4, a, b)
    for power in range(8):
        k = np.arange(power)
        assert_allclose(weights @ at**power, np.prod((a + k) / (a + b + k)), rtol=1e-12, atol=1e-14)
