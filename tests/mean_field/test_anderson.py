"""Anderson acceleration: equal players stay equal, and nobody else is averaged."""

import numpy as np

import brute
import fairfield as ff
from fairfield.mean_field.anderson import Equals


def test_symmetric_players_stay_equal_to_the_last_bit(rng):
    """Also beside saddles, where rounding alone would part them."""
    z = brute.coalitions(6)
    sizes = z[:, :3].sum(axis=1) + 4 * z[:, 3:] @ [1, 2, 4]
    tables = rng.standard_normal((100, 40))[:, sizes]
    found = ff.variational_index(tables, temperature=0.1)
    assert found.converged.all()
    assert (np.ptp(found.marginals[:, :3], axis=1) == 0).all()
    assert (np.ptp(found.values[:, :3], axis=1) == 0).all()
    assert any("saddle" in stop for stop in found.stops)


def test_only_players_equal_from_the_start_are_averaged():
    alike = Equals.of(np.zeros((2, 5)))
    first = np.array([[1.0, 1.0 + 1e-12, 2.0, -3.0, 2.0 - 1e-12], [0.1, 0.2, 0.3, 0.4, 0.5]])
    alike, level = alike.levelled(first)
    assert level[0, 0] == level[0, 1]
    assert level[0, 2] == level[0, 4]
    assert level[0, 3] == -3
    assert (level[1] == first[1]).all()
    # Groups split for good: 0 and 1 part here, and 0 meets 3 without joining it.
    second = np.array([[1.0, 1.1, 2.0, 1.0 + 1e-12, 2.0], [0.1, 0.1, 0.1, 0.1, 0.1]])
    alike, level = alike.levelled(second)
    assert (level == second).all()
    _, level = alike.levelled(first)
    assert level[0, 0] != level[0, 1]
    assert level[0, 2] == level[0, 4]


def test_players_of_unequal_start_or_prior_are_not_averaged(rng):
    table = np.array([0.0, 1.0, 1.0, 2.0 + 1e-9])
    found = ff.variational_index(table, temperature=1.0, prior=[0.3, 0.4])
    assert found.marginals[0] < found.marginals[1]


def test_many_nearly_equal_players_do_not_stall(rng):
    """Thousands of players, logits closer to each other than any tolerance."""

    class Sums(ff.Extension):
        """f(x) = -(a·x)²/2 + Σ b_i x_i + Σ a_i² x_i²/2, multilinear, for close a."""

        method, degree, players = "closed form", 2, 3000
        a = 1 + 1e-9 * np.arange(3000)
        b = 40 + 1e-9 * np.arange(3000)

        def value(self, x):
            x = np.asarray(x)
            return -((x @ self.a) ** 2) / 2 + x @ self.b + (x**2) @ self.a**2 / 2

        def gradient(self, x):
            x = np.asarray(x)
            return -(x @ self.a)[..., None] * self.a + self.b + x * self.a**2

    class Close(ff.Game):
        players = tuple(range(3000))

        def extension(self):
            return Sums()

    found = ff.variational_index(Close(), temperature=20.0)
    assert found.converged
    assert (np.diff(found.values) < 0).all()
