"""All worths, in an order that allows an estimate at any time."""

import time

import numpy as np
import pytest

import fairfield as ff


def slow(S):
    time.sleep(0.01 * len(S))
    return np.sqrt(S.sum(axis=1))


def test_time_ends_small_local_games_with_an_estimate():
    v = ff.shapley(slow, players=8, seconds=0.8)
    assert v.stop.startswith("stopped after 0.8 seconds")
    assert v.evaluations < 256
    assert v.values == pytest.approx(np.sqrt(8) / 8, abs=5 * v.stderr.max() + 1e-9)


@pytest.mark.parametrize("criterion", ["shapley", "banzhaf", "variational_index"])
def test_values_are_exact_where_time_allows(criterion):
    def worths(S):
        return np.sqrt(S @ np.arange(5.0))

    value = getattr(ff, criterion)
    found, exact = value(worths, players=5, seconds=100), value(worths, players=5)
    assert found.values == pytest.approx(exact.values, abs=1e-12)
    assert found.stop == exact.stop
    assert found.evaluations == 32
