"""What every closed form inherits: the general way to derivatives, sweeps and sums."""

from itertools import combinations
from math import factorial

import numpy as np
import pytest
from numpy.testing import assert_allclose

import brute
import fairfield as ff
from fairfield.core.coalitions import enumerate_coalitions
from fairfield.core.extension import legendre_of_means, taylor


class Square(ff.Game):
    """F(S) = (Σ a)²."""

    def __init__(self, skills):
        self.skills = np.asarray(skills, dtype=float)
        self.players = tuple(range(len(self.skills)))

    def worths(self, coalitions):
        return (coalitions @ self.skills) ** 2

    def extension(self):
        return SquareExtension(self.skills)


class SquareExtension(ff.Extension):
    method, degree = "closed form: square", 2

    def __init__(self, skills):
        self.skills, self.players = skills, len(skills)

    def centred(self, x):
        x, a = np.asarray(x), self.skills
        joint = x @ a
        return joint**2 + (x * (1 - x)) @ a**2, 2 * joint[..., None] * a + a**2 * (1 - 2 * x)


@pytest.fixture
def game():
    return Square([3.0, 1.0, -2.0, 0.5])


@pytest.fixture
def table(game):
    return game.worths(enumerate_coalitions(4))


def test_derivatives_come_from_values(game, table, rng):
    x = rng.random(4)
    for chosen in ([1], [0, 2], [0, 1, 3]):
        wanted = brute.derivative(table, chosen, x)
        assert_allclose(game.extension().derivative(chosen, x), wanted, atol=1e-12)


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_derivatives_of_all_coalitions_along_the_diagonal(size, table, rng):
    """Those of a sum of closed forms, one of degree 4, in the order of combinations."""
    joint = Square([3.0, 1.0, -2.0, 0.5]) + ff.UnanimityGame([0, 1, 2, 3], 4)
    table = table + (np.arange(16) == 15)
    at, shares = rng.random(3), rng.standard_normal(3)
    wanted = [
        sum(
            w * brute.derivative(table, each, np.full(4, t))
            for t, w in zip(at, shares, strict=True)
        )
        for each in combinations(range(4), size)
    ]
    found = joint.extension().derivatives_along_diagonal(at, shares, size)
    assert_allclose(found, wanted, atol=1e-11)


def test_coalitions_beyond_the_degree_do_not_interact(game):
    found = game.extension().derivatives_along_diagonal(np.array([0.3]), np.ones(1), 3)
    assert found.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("degree", [0, 1, 4, 25])
def test_coefficients_of_taylors_series_are_read_at_points(degree, rng):
    polynomial = np.polynomial.Legendre(rng.standard_normal(degree + 1), [0, 1])
    for about in (0.0, 0.5, 1.0):
        for order in range(4):
            at, shares = taylor(degree, about, order)
            wanted = polynomial.deriv(order)(about) / factorial(order)
            assert_allclose(shares @ polynomial(at), wanted, rtol=1e-10, atol=1e-10)


def test_every_criterion_reads_it(game, table):
    for criterion in (
        ff.shapley,
        ff.banzhaf,
        ff.leave_one_out,
        lambda g, **k: ff.semivalue(g, ff.beta(4, 2), **k),
        lambda g, **k: ff.variational_values(g, 3, **k),
        lambda g, **k: ff.variational_index(g, solver="coordinate", **k),
        lambda g, **k: ff.variational_index(g, solver="synchronous", **k),
        ff.free_energy_value,
    ):
        found, wanted = criterion(game, temperature=50.0), criterion(table, temperature=50.0)
        assert_allclose(found.values, wanted.values, atol=1e-8)
        assert_allclose(found.elbo, wanted.elbo, atol=1e-8)
        assert (found.empty, found.grand) == pytest.approx((wanted.empty, wanted.grand))


def test_the_method_says_which_was_used(game):
    assert ff.shapley(game).method == "closed form: square"
    assert ff.shapley(game).evaluations == 0
    assert ff.free_energy_value(game).method == "exact table"
    with pytest.raises(ValueError, match="is read with beta"):
        ff.semivalue(game, [0.125] * 4)


def test_sums_of_closed_forms_are_closed_forms(game, table, rng):
    joint = 2 * game - game * 0.5
    assert joint.extension() is not None
    for criterion in (ff.shapley, ff.banzhaf):
        assert_allclose(criterion(joint).values, criterion(1.5 * table).values, atol=1e-12)
    x = rng.random((3, 4))
    assert_allclose(joint.extension().value(x), [1.5 * brute.value(table, y) for y in x])
    mixed = game + ff.TableGame(table)
    assert mixed.extension() is None
    assert_allclose(ff.shapley(mixed).values, 2 * brute.shapley(table), atol=1e-12)


def test_an_extension_that_answers_nothing_is_refused():
    with pytest.raises(TypeError, match="must implement centred"):

        class Empty(ff.Extension):
            pass


@pytest.mark.parametrize("degree", [0, 3, 70, 200, 1500])
def test_few_points_integrate_means_over_a_binomial(degree):
    """Each term of Bernstein's basis has the mean 1/(degree + 1)."""
    from scipy.stats import binom

    at, shares = legendre_of_means(degree)
    means = shares @ binom.pmf(np.arange(degree + 1), degree, at[:, None])
    assert np.abs(means - 1 / (degree + 1)).sum() < 1e-12
    assert len(at) <= degree // 2 + 1
    assert degree < 200 or len(at) < degree / 3
