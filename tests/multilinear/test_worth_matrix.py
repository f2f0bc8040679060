"""The table may be an array of any namespace; only its own operations touch it."""

import array_api_strict as strict
import numpy as np
import pytest
from numpy.testing import assert_allclose

import fairfield as ff


@pytest.fixture
def both(rng):
    worths = rng.standard_normal((2, 2**7))
    return worths, ff.TableGame(strict.asarray(worths), players=list("abcdefg"))


@pytest.mark.parametrize(
    "criterion",
    [
        ff.shapley,
        ff.banzhaf,
        ff.leave_one_out,
        ff.variational_index,
        ff.free_energy_value,
        lambda game, **options: ff.variational_values(game, 3, **options),
        lambda game, **options: ff.semivalue(game, ff.beta(2, 3), **options),
        lambda game, **options: ff.variational_index(game, solver="coordinate", **options),
    ],
)
def test_criteria_agree_with_numpy(criterion, both):
    worths, game = both
    found, wanted = criterion(game, temperature=0.7), criterion(worths, temperature=0.7)
    assert_allclose(found.values, wanted.values, rtol=1e-12, atol=1e-12)
    assert_allclose(found.decoupling_error, wanted.decoupling_error, rtol=1e-10)
    assert isinstance(found.values, np.ndarray)


def test_interactions_and_laws_agree_with_numpy(both):
    worths, game = both
    for name in ("shapley", "banzhaf", "variational_index"):
        found = ff.interactions(game, name, temperature=1.0).values
        assert_allclose(found, ff.interactions(worths, name, temperature=1.0).values, atol=1e-11)
    assert_allclose(ff.moebius(game), ff.moebius(worths))
    law, wanted = ff.Boltzmann(game, 0.5), ff.Boltzmann(worths, 0.5)
    assert_allclose(law.pair_marginals, wanted.pair_marginals, atol=1e-13)
    assert_allclose(law.marginalise(["a", "c"]).log_z, wanted.log_z)
    assert_allclose(law.condition(["b"], ["d"]).log_z, wanted.condition([1], [3]).log_z)
    assert (law.draw(50, seed=1) == wanted.draw(50, seed=1)).all()


def test_float32_tables_stay_float32(rng):
    worths = rng.standard_normal(2**6).astype(np.float32)
    game = ff.TableGame(strict.asarray(worths))
    assert game.worth_table.dtype == strict.float32
    assert_allclose(ff.shapley(game).values, ff.shapley(worths.astype(float)).values, atol=1e-12)


def test_a_bad_worth_is_found_on_any_device():
    with pytest.raises(ValueError, match=r"coalition \{0, 1\} is nan"):
        ff.TableGame(strict.asarray([0.0, 1.0, 2.0, np.nan]))
