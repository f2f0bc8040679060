"""K-step values: Algorithm 1 of the paper."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose

import brute
import fairfield as ff

WORTHS = arrays(float, 2**4, elements=st.floats(-3, 3))


def alg1(table, x, temperature, steps):
    """Algorithm 1 of the paper, literally."""
    for _ in range(steps):
        x = 1 / (1 + np.exp(-brute.gradient(table, x) / temperature))
    return x


@given(WORTHS, st.floats(0, 1), st.integers(1, 5))
@settings(max_examples=40, deadline=None)
def test_k_step_values_are_algorithm_1(table, start, steps):
    found = ff.variational_values(table, steps, start=start, temperature=0.8)
    x = alg1(table, np.full(4, start), 0.8, steps)
    assert_allclose(found.marginals, x, atol=1e-12)
    assert_allclose(found.values, 0.8 * np.log(x / (1 - x)), atol=1e-8)
    assert found.trajectory.shape == (steps + 1, 4)
    assert_allclose(found.trajectory[0], start)
    assert_allclose(found.trajectory[-1], found.marginals)


@given(WORTHS)
@settings(max_examples=40, deadline=None)
def test_one_step_from_the_middle_is_banzhaf(table):
    found = ff.variational_values(table, 1, temperature=0.37)
    assert_allclose(found.values, brute.banzhaf(table), atol=1e-12)


@given(WORTHS, arrays(float, 4, elements=st.floats(0, 1)))
@settings(max_examples=40, deadline=None)
def test_one_step_from_anywhere_is_a_probabilistic_value(table, x):
    """φ_i = Σ_S p^i(S) [F(S+i) - F(S)] with p^i = q(·; x | x_i ← 0)."""
    found = ff.variational_values(table, 1, start=x, temperature=1.0)
    for i in range(4):
        at = x.copy()
        at[i] = 0
        p = brute.law(at)
        rows = np.array([row for row in range(16) if not row >> i & 1])
        assert_allclose(p[rows].sum(), 1)
        assert_allclose(found.values[i], p[rows] @ (table[rows | 1 << i] - table[rows]), atol=1e-12)


def test_step_differences_are_the_papers_convergence_table(rng):
    found = ff.variational_values(brute.flid(rng, 5), 4, temperature=1.0)
    moved = np.diff(found.trajectory, axis=0)
    assert_allclose(found.step_differences(), [d @ d / 5 for d in moved])
    assert_allclose(found.step_differences(squared=False), [np.linalg.norm(d) / 5 for d in moved])


def test_the_convergence_table_of_the_paper(reference):
    """‖Δx‖₂/n at iterations 0, 2, 3, 5 on breast cancer: the row as the paper prints it."""
    game = reference("paper_breast_cancer.npz")
    found = ff.variational_values(game["worths"], 6, temperature=0.1)
    steps = found.step_differences(squared=False)
    assert_allclose(steps[[0, 2, 3, 5]], [0.0023, 3.61e-6, 1.53e-7, 2.77e-10], rtol=0.06)


def test_a_whole_float_is_a_number_of_steps():
    found = ff.variational_values([0, 1, 1, 3], 2.0, temperature=1.0)
    assert found.criterion == "variational_values(2)"
    assert found.trajectory.shape == (3, 2)
