"""Labels apart, short numbers, and what cannot be drawn."""

import numpy as np

from fairfield.plots.canvas import apart, number, signed


def test_labels_stand_apart_between_their_bounds(rng):
    heights = rng.random(9)
    moved = apart(heights, 0.2, 0.0, 2.0)
    assert np.diff(np.sort(moved)).min() >= 0.2 - 1e-12
    assert moved.min() >= 0
    assert moved.max() <= 2.0 + 1e-12
    assert (np.argsort(moved) == np.argsort(heights)).all()


def test_numbers_are_short():
    assert [signed(v, 1.0) for v in (0.5, -0.25, 0.0)] == ["+0.50", "−0.25", "0"]
    assert [number(v) for v in (3.14159265, "x", True, 7, None)] == [
        "3.142",
        "x",
        "True",
        "7",
        "None",
    ]
