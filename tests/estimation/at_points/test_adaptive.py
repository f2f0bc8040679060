"""Draws that follow the worths: their limit, their batches, the temperature they fix."""

import re

import numpy as np

import brute
import fairfield as ff
from estimation.games import Batch, errors, hidden


def test_a_relative_temperature_is_fixed_by_the_first_batch(rng):
    table = brute.flid(rng, 12)
    found = ff.variational_index(hidden(table), players=12, budget=1200)
    assert "temperature fixed after the first batch" in found.method
    own = ff.variational_index(table).temperature
    assert abs(found.temperature / own - 1) < 0.3
    exact = ff.variational_index(table, temperature=found.temperature)
    assert (errors(found, exact.values) <= 5).all()
    options = {"players": 12, "budget": 1200, "temperature": ff.relative(10)}
    shot = ff.variational_index(hidden(table), sampler="one-shot", **options)
    exact = ff.variational_index(table, temperature=shot.temperature)
    assert (errors(shot, exact.values) <= 5).all()


def test_an_estimated_temperature_says_its_error(rng):
    """The index at it has errors of its own, which do not count that runs differ by it."""
    table = brute.flid(rng, 10)
    own = ff.variational_index(table).temperature
    for seed in range(3):
        found = ff.variational_index(hidden(table), players=10, budget=200, seed=seed)
        share = re.search(r"estimated, with a standard error of ([\d.]+)%", found.stop)[1]
        assert abs(found.temperature / own - 1) <= 5 * float(share) / 100
    options = {"players": 10, "budget": 200, "temperature": found.temperature}
    assert "estimated" not in ff.variational_index(hidden(table), **options).stop
    assert "was estimated" in ff.variational_values(hidden(table), 2, players=10, budget=200).stop


def test_batches_have_their_own_points(rng):
    tables = np.stack([brute.flid(rng, 11), brute.mixed(rng, 11), brute.flid(rng, 11)])
    exact = ff.variational_index(ff.TableGame(tables), temperature=2.0)
    found = ff.variational_index(Batch(tables), temperature=2.0, budget=1500)
    assert found.values.shape == (3, 11)
    assert found.covariance.shape == (3, 11, 11)
    assert (errors(found, exact.values) <= 5).all()
    walked = ff.variational_values(Batch(tables), 2, temperature=2.0, budget=1500)
    exact = ff.variational_values(ff.TableGame(tables), 2, temperature=2.0)
    assert walked.trajectory.shape == (3, 3, 11)
    assert (errors(walked, exact.values) <= 5).all()


def test_the_limit_of_draws_is_named(monkeypatch):
    monkeypatch.setattr("fairfield.estimation.at_points.adaptive.MOST_DRAWS", 2000)
    found = ff.variational_index(
        lambda S: 3.0 * S.sum(axis=1), players=12, temperature=1.0, budget=4000, progress=False
    )
    assert found.evaluations < 4000
    assert "the draws reached their limit of 2,000" in found.stop
