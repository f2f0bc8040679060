"""K variational steps under a budget."""

import pytest

import brute
import fairfield as ff
from estimation.games import errors, hidden


@pytest.fixture(params=brute.FAMILIES)
def table(request, rng):
    return brute.FAMILIES[request.param](rng, 12)


def test_values_of_k_steps_are_within_their_errors(table):
    exact = ff.variational_values(table, 3, temperature=2.0)
    found = ff.variational_values(hidden(table), 3, players=12, temperature=2.0, budget=1500)
    assert found.trajectory.shape == (4, 12)
    assert found.steps == 3
    assert (errors(found, exact.values) <= 5).all()
    once = ff.variational_values(hidden(table), 1, players=12, temperature=2.0, budget=1500)
    assert (errors(once, ff.banzhaf(table).values) <= 5).all()
