"""Coalitions drawn as lists of members have the frequencies asked for."""

import numpy as np

from fairfield.learning.members import Members


def test_noise_is_drawn_in_parts_and_counted(monkeypatch, rng):
    monkeypatch.setattr("fairfield.learning.members.UNPACKED", 50)
    probabilities = np.array([0.0, 1.0, 0.3, 0.6, 0.5])
    noise = Members.drawn(probabilities, 4000, rng)
    inside = np.concatenate([some.matrix() for some in noise.blocks()])
    assert noise.total == 4000
    assert len(inside) == len(np.unique(inside, axis=0)) == 8
    shares = noise.counts @ inside / 4000
    assert np.all(
        np.abs(shares - probabilities) <= 5 * np.sqrt(probabilities * (1 - probabilities) / 4000)
    )
