"""Airport games share each piece of runway among its users."""

from __future__ import annotations

import numpy as np
import pytest

import fairfield as ff
from games.examples import closed_form

rng = np.random.default_rng(7)


def test_an_airport_shares_each_piece_of_runway_among_its_users() -> None:
    # Littlechild and Owen: 12 users share the first 12, three the next 18, one the last 9.
    costs = [12] * 9 + [30] * 2 + [39]
    shares = closed_form(ff.AirportGame(costs)).shapley()
    np.testing.assert_allclose(shares, [1.0] * 9 + [7.0] * 2 + [16.0])
    assert shares.sum() == pytest.approx(39)


def test_the_best_of_many_is_the_maximum() -> None:
    n = 5000
    x, costs = rng.random(n), rng.random(n)
    airport = closed_form(ff.AirportGame(costs))
    best = np.argmax(costs)
    x[best] = 1.0
    gradient = airport.gradient(x)
    assert airport.value(x) == pytest.approx(costs[best])
    assert np.count_nonzero(gradient) == 1
    x[best] = 0.0
    assert gradient[best] == pytest.approx(costs[best] - airport.value(x))


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (lambda: ff.AirportGame([1, -2]), "negative"),
        (lambda: ff.AirportGame(["a", "b"]), "array of numbers"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(build: object, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        build()  # type: ignore[operator]
