"""What makes a game."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import brute
import fairfield as ff


def test_describe_tells_games_apart(rng):
    table = rng.standard_normal(8)
    assert ff.TableGame(table).describe() == ff.TableGame(table.copy()).describe()
    assert ff.TableGame(table).describe() != ff.TableGame(table + 1).describe()
    named = ff.FunctionGame(lambda S: S.sum(axis=1), 3, name="team").describe()
    assert named["function"] == "team"


class Squares(ff.Game):
    """Players and worths are all that a game needs."""

    players = ("ann", "bob", "eve")

    def worths(self, coalitions):
        return coalitions.sum(axis=1) ** 2


def test_players_and_worths_make_a_game(tmp_path):
    game = Squares()
    assert repr(game) == "Squares: 3 players"
    found = game.measure(brute.coalitions(3))
    assert_allclose(found.worths, [0, 1, 1, 4, 1, 4, 4, 9])
    assert (found.variances, found.failures.sentences()) == (None, [])
    for options in ({}, {"n_jobs": 2}, {"store": tmp_path / "worths.db"}):
        assert_allclose(ff.shapley(game, **options).values, 3)
    assert ff.compare(game).keys() == {"variational_index", "banzhaf", "shapley"}


class Fallible(Squares):
    """Pairs of players cannot be evaluated."""

    players = tuple(range(10))

    def worths(self, coalitions):
        return self.measure(coalitions).worths

    def measure(self, coalitions):
        pairs = coalitions.sum(axis=1) == 2
        failures = ff.Failures(int(pairs.sum()), "a pair: KeyError" if pairs.any() else "")
        return ff.Measured(np.where(pairs, 0.0, coalitions.sum(axis=1) ** 2), None, failures)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_failures_come_back_with_the_worths(n_jobs):
    game = Fallible()
    sentence = "45 worths could not be found and took the fallback, the first of a pair: KeyError"
    for _ in range(2):  # nothing is counted twice
        for criterion in (ff.shapley, ff.variational_index):
            assert criterion(game, n_jobs=n_jobs).stop.endswith(sentence)
    assert "took the fallback" not in ff.leave_one_out(game, n_jobs=n_jobs).stop
    estimate = ff.shapley(game, n_jobs=n_jobs, budget=500)
    assert "worths could not be found and took the fallback" in estimate.stop
    one, other = ff.Failures(), ff.Failures(1, "a pair: KeyError")
    assert (one + other + other) == ff.Failures(2, "a pair: KeyError")
    assert other.sentences() == [
        "one worth could not be found and took the fallback, that of a pair: KeyError"
    ]
