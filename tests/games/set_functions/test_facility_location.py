"""Games of facility location and diversity."""

from __future__ import annotations

import array_api_strict as strict
import numpy as np
import pytest
from numpy.testing import assert_allclose

import fairfield as ff
from fairfield.core.coalitions import enumerate_coalitions

rng = np.random.default_rng(7)


def test_flid_worths_with_ties_negative_weights_and_nobody() -> None:
    gains, weights = rng.normal(size=6), rng.integers(-2, 2, (6, 3)).astype(float)
    game = ff.FLIDGame(gains, weights)
    for coalition in enumerate_coalitions(6):
        own = weights[coalition]
        best = own.max(axis=0) if coalition.any() else np.zeros(3)
        expected = gains[coalition].sum() + (best - own.sum(axis=0)).sum()
        assert game.worths(coalition[None])[0] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (lambda: ff.FLIDGame([1.0], [[1.0], [2.0]]), "one row per player"),
        (lambda: ff.FLIDGame([1.0, np.nan], np.ones((2, 1))), r"gains\[1\] is nan"),
        (lambda: ff.FacilityLocationGame([1.0, 2.0]), "2 axes"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(build: object, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        build()  # type: ignore[operator]


def test_the_description_covers_all_numbers_on_any_device() -> None:
    gains, weights, complements = rng.random(3), rng.random((3, 2)), rng.random((3, 2))
    game = ff.FLDCGame(gains, weights, complements)
    elsewhere = ff.FLDCGame(gains, strict.asarray(weights), strict.asarray(complements))
    assert game.describe() == elsewhere.describe()
    for changed in (
        ff.FLDCGame(gains + 1, weights, complements),
        ff.FLDCGame(gains, weights + 1, complements),
        ff.FLDCGame(gains, weights, complements + 1),
    ):
        assert changed.describe() != game.describe()


def test_fldc_is_flid_less_its_complement(rng):
    u, W, V = rng.normal(size=5), rng.random((5, 2)), rng.random((5, 3))
    both = ff.FLDCGame(u, W, V, players="abcde".__iter__())
    sum_of_two = ff.FLIDGame(u, W) - ff.FLIDGame(np.zeros(5), V)
    z = enumerate_coalitions(5)
    assert_allclose(both.worths(z), sum_of_two.worths(z))
    assert both.players == tuple("abcde")
    with pytest.raises(ValueError, match="one row per player"):
        ff.FLDCGame(u, W, V[:4])
